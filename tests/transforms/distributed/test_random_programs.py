"""Random programs x random distributions: as written, erased after distribution, and on virtual ranks, all the same."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dcpy.base.errors import TransformationRefused
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import parse_sdfg, print_sdfg
from tests.support.ranks import check, distributed, localized

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], x: f64[N], y: f64[M], s: f64[], k: i64[N]) symbols(N: size, M: size)"
#: nodes of a program; a number stands for a name that is not used twice
STATEMENTS = (
    "map i#=0:N, j#=0:M {{ tasklet (a <- {A}[i#, j#], b <- {x}[i#]) -> (o -> {B}[i#, j#]) {{ o = a - b }} }}",
    "map i#=0:N, j#=0:M {{ tasklet (a <- {A}[i#, j#], b <- y[j#]) -> (o -> {B}[i#, j#]) {{ o = a + 0.5*b }} }}",
    "map i#=1:N-1, j#=0:M {{ tasklet (a <- {A}[i#-1, j#], b <- {A}[i#+1, j#]) -> (o -> {B}[i#, j#]) {{ o = a - b }} }}",
    "map i#=0:N-1, j#=1:M {{ tasklet (a <- {A}[i#+1, j#-1]) -> (o -> {B}[i#, j#]) {{ o = 0.5*a }} }}",
    "map i#=0:N:2 {{ tasklet (a <- {x}[i#]) -> (o -> {x}[i#]) {{ o = a + 1.0 }} }}",
    "map i#=0:N {{ tasklet (a <- {A}[i#, 0]) -> (o -> x[i#]) {{ o = a }} }}",
    "map j#=0:M {{ tasklet (a <- {A}[N-1, j#]) -> (o -> y[j#]) {{ o = a }} }}",
    "map i#=0:N, j#=0:M {{ tasklet (a <- {A}[i#, j#]) -> (o -> x[i#] (add)) {{ o = a }} }}",
    "map i#=0:N, j#=0:M {{ tasklet (a <- {A}[i#, j#]) -> (o -> y[j#] (max)) {{ o = a }} }}",
    "map i#=0:N {{ tasklet (a <- x[i#]) -> (o -> s[] (add)) {{ o = a }} }}",
    "map i#=0:N {{ loop j#=0:M {{ tasklet (a <- {A}[i#, j#], b <- x[i#]) -> (o -> x[i#]) {{ o = 0.5*b + a }} }} }}",
    "map i#=0:N {{ let q# = wrap(k[i#], N, 0) tasklet (a <- {x}[q#]) -> (o -> {B}[i#, 0]) {{ o = a }} }}",
    "map i#=0:N {{ if x[i#] > 0.0 {{ tasklet () -> (o -> {B}[i#, M-1]) {{ o = 2.0 }} }} }}",
    "data w#: f64[N, M] transient map i#=0:N, j#=0:M {{ tasklet (a <- {A}[i#, j#]) -> (o -> w#[i#, j#]) {{ o = a }} }} "
    "copy w#[0:N, 0:M] -> {B}[0:N, 0:M]",
    "copy {A}[0:N, 0:M] -> {B}[0:N, 0:M]",
    "copy {A}[0:N, M-1] -> x[0:N]",
    "copy {A}[0:N-1, 0:M] -> {B}[1:N, 0:M]",
    "tasklet (a <- {A}[0, M-1], b <- s) -> (o -> s) {{ o = 0.5*a + b }}",
    "tasklet (a <- s) -> (o -> {A}[N-1, 0]) {{ o = a }}",
    "reduce (x <- {A}[0:N, 0:M]) -> (out -> x[0:N]) {{axes = (1,)}}",
    "blas.gemv (a <- {A}[0:N, 0:M], x <- y[0:M]) -> (y -> x[0:N]) {{alpha = 0.5}}",
    "blas.gemv (a <- {A}[0:N, 0:M], x <- x[0:N]) -> (y -> y[0:M]) {{alpha = 0.5, trans_a = true}}",
    "data c#: f64[N, N] transient blas.gemm (a <- A[0:N, 0:M], b <- B[0:N, 0:M]) -> (c -> c#[0:N, 0:N]) "
    "{{alpha = 0.5, trans_b = true}} copy c#[0, 0:N] -> x[0:N]",
)
SPREADS = ("whole", "block {}", "cyclic {}", "cyclic {} by 2", "block {} by (N + M + 1) offset 1")


def program(draw: random.Random) -> Sdfg:
    """A few statements in a row, some of them in a loop."""
    lines, declared = [], []
    for number in range(draw.randint(1, 4)):
        a, b = draw.choice(("AB", "BA"))
        text = draw.choice(STATEMENTS).format(A=a, B=b, x=draw.choice("xx")).replace("#", f"_{number}")
        while text.startswith("data "):
            words = text.split(" transient ", 1)
            declared.append(words[0] + " transient")
            text = words[1]
        inside = f"loop t_{number} = 0:2 {{ {text} }}" if draw.random() < 0.3 else text
        lines.append(inside)
    return parse_sdfg(f"{HEAD} {{ {' '.join(declared)} {' '.join(lines)} }}")


def plan_for(draw: random.Random, sdfg: Sdfg, dims: int) -> dict[str, str]:
    """Distributions of some of the arrays."""
    plan = {}
    for region in sdfg.body.walk_regions():
        for name, desc in region.containers.items():
            if desc.shape and draw.random() < 0.75:
                axes = draw.sample(range(dims), min(dims, len(desc.shape)))
                axes += [None] * (len(desc.shape) - len(axes))
                draw.shuffle(axes)
                parts = ["whole" if at is None else draw.choice(SPREADS).format(at) for at in axes]
                unused = [at for at in range(dims) if all(f" {at}" not in part for part in parts)]
                rest = f" root {unused[0]}" if unused and draw.random() < 0.2 else ""
                plan[name] = f"g({', '.join(parts)}){rest}"
    return plan


def try_one(seed: int) -> str:
    """One program, distributed in one way, on a few grids. Says what was refused."""
    draw = random.Random(seed)
    sdfg = program(draw)
    dims = draw.choice((1, 2))
    plan = plan_for(draw, sdfg, dims)
    names = ("Px", "Py")[:dims]
    try:
        made = distributed(sdfg, plan, {"g": names})
        local = localized(made)
    except TransformationRefused as refused:
        return refused.message
    for sizes in draw.sample(((1, 1), (1, 3), (2, 2), (3, 1), (5, 1), (2, 3), (7, 1)), 2):
        grid = sizes if dims == 2 else (sizes[0] * sizes[1],)
        ranks = int(np.prod(grid))
        n, m = draw.choice((1, 2, 3, ranks, ranks + 1, 6)), draw.choice((1, 2, 5))
        random_numbers = np.random.default_rng(seed)
        arguments = {name: random_numbers.integers(-8, 8, shape) / 2.0
                     for name, shape in (("A", (n, m)), ("B", (n, m)), ("x", n), ("y", m), ("s", ()))}  # fmt: skip
        arguments["k"] = random_numbers.integers(-n, n, n)
        symbols = {"N": n, "M": m, **dict(zip(names, grid, strict=True))}
        more = draw.choice((0, 0, 1))
        try:
            check(sdfg, made, {k: np.asarray(v) for k, v in arguments.items()}, symbols, ranks + more, local=local,
                  strict=draw.random() < 0.3)  # fmt: skip
        except Exception as error:
            error.add_note(f"seed {seed}, {symbols}, {ranks + more} ranks, {plan}")
            error.add_note(f"{print_sdfg(sdfg)}\n{print_sdfg(made)}")
            raise
    return ""


REFUSED = (
    "cannot be localized", "is not on the rank", "cannot be dealt out", "cannot be distributed", "depends on it",
)  # fmt: skip


def campaign(count: int, first: int) -> list[str]:
    refused = [why for seed in range(first, first + count) if (why := try_one(seed))]
    assert all(any(known in why for known in REFUSED) for why in refused), refused
    return refused


def test_random_programs_on_random_distributions():
    refused = campaign(20, 0)
    assert len(refused) < 3, refused


@pytest.mark.heavy
def test_many_random_programs_on_random_distributions():
    refused = campaign(1500, 1000)
    assert len(refused) < 75, refused
