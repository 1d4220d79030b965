"""place-temporaries: what is computed from distributed arrays lives where they do."""

from __future__ import annotations

import re

import numpy as np

from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.distributed.pipeline import TEMPORARIES
from dcpy.transforms.pass_manager import run_pipeline
from tests.support.ranks import check, distributed

BY = "((N + P - 1) // P)"
HEAD = f"sdfg @f(x: f64[N] on g(block 0 by {BY}), y: f64[N]) symbols(N: size, P: size{{least = 1}}) grids(g[P])"


def placed(body, head=HEAD):
    sdfg = parse_sdfg(f"{head} {{ {body} }}")
    run_pipeline(sdfg, TEMPORARIES, check=True)
    return sdfg


def over(read, write, size="N"):
    """A map that writes one array from another; its parameter, here i, has a name of its own."""
    read, write, param = (re.sub(r"\bi\b", f"i_{write[0]}", text) for text in (read, write, "i"))
    return f"map {param} = 0:{size} {{ tasklet (v <- {read}) -> (o -> {write}) {{ o = 2.0 * v }} }}"


def where(sdfg, name):
    return str(sdfg.desc(name).distribution)


def test_a_temporary_follows_what_it_is_computed_from():
    sdfg = placed(f"data t: f64[N] transient {over('x[i]', 't[i]')} {over('t[i]', 'y[i]')}")
    assert where(sdfg, "t") == f"g(block 0 by {BY})"
    assert where(sdfg, "y") == "None"  # an argument is where its caller has it


def test_a_part_is_aligned_with_the_whole():
    sdfg = placed(f"data t: f64[N - 1] transient {over('x[i + 1]', 't[i]', 'N - 1')} {over('t[i]', 'y[i]', 'N - 1')}")
    assert where(sdfg, "t") == f"g(block 0 by {BY} offset 1)"


def test_a_chain_follows_its_beginning():
    body = f"data t: f64[N] transient data s: f64[N] transient {over('x[i]', 't[i]')} {over('t[i]', 's[i]')}"
    sdfg = placed(f"{body} {over('s[i]', 'y[i]')}")
    assert where(sdfg, "s") == where(sdfg, "t") == f"g(block 0 by {BY})"


def test_what_is_turned_round_stays():
    sdfg = placed(f"data t: f64[N] transient {over('x[N - 1 - i]', 't[i]')} {over('t[i]', 'y[i]')}")
    assert where(sdfg, "t") == "None"


def test_a_product_has_the_rows_of_its_left_operand():
    head = (
        f"sdfg @f(A: f64[N, M] on g(block 0 by {BY}, whole), B: f64[M, M], C: f64[N, M])"
        " symbols(N: size, M: size, P: size{least = 1}) grids(g[P])"
    )
    product = "blas.matmul (a <- A[0:N, 0:M], b <- B[0:M, 0:M]) -> (c -> t[0:N, 0:M])"
    sdfg = parse_sdfg(f"{head} {{ data t: f64[N, M] transient state {{ {product} copy t[0:N, 0:M] -> C[0:N, 0:M] }} }}")
    run_pipeline(sdfg, TEMPORARIES, check=True)
    assert where(sdfg, "t") == f"g(block 0 by {BY}, whole)"


def test_results_are_those_of_one_rank():
    """On virtual ranks, with and without."""
    body = f"data t: f64[N] transient {over('x[i]', 't[i]')} {over('t[i]', 'y[i]')}"
    plain = parse_sdfg(f"sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) {{ {body} }}")
    x = np.random.default_rng(0).random(7)
    for temporaries in (False, True):
        made = copy_sdfg(plain)
        plan = {"x": "g(block 0)"}
        if temporaries:
            plan["t"] = "g(block 0)"
        whole = distributed(made, plan, {"g": ["P"]})
        arguments = {"x": x, "y": np.zeros(7)}
        check(plain, whole, arguments, {"N": 7, "P": 3}, 3)
    assert "t: f64[N] transient on g" in print_sdfg(whole)
