"""SkewedJam: shape, value, refusal, and what the compiled programs compute."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.ir.data import Scalar
from dcpy.ir.region import Loop
from dcpy.transforms.loops.skewed_jam import SkewedJam
from tests.support.expect import expect, parse
from tests.support.oracles import check_same

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size)"


def element(reads, i="i", j="j", value="0.5*a + 0.25*b"):
    inputs = ", ".join(f"{name} <- {place}" for name, place in zip("ab", reads, strict=True))
    return f"state {{ tasklet ({inputs}) -> (o -> A[{i}, {j}]) {{ o = {value} }} }}"


def nest(reads=("A[i - 1, j + 1]", "A[i, j - 1]"), outer="i = 1:N", inner="j = 1:M - 1", before="", value="a + 0.5*b"):
    return parse(f"{HEAD} {{ loop {outer} {{ {before} loop {inner} {{ {element(reads, value=value)} }} }} }}")


def at(row, j):
    above, mine = (f"i + {number}" if number else "i" for number in (row - 1, row))
    return element((f"A[{above}, {j} + 1]", f"A[{mine}, {j} - 1]"), mine, j, "a + 0.5*b")


def test_rows_run_together_two_elements_apart():
    rest = element(("A[i_1 - 1, j_1 + 1]", "A[i_1, j_1 - 1]"), "i_1", "j_1", "a + 0.5*b")
    expect(SkewedJam(), on=nest()).becomes(f"""
        {HEAD} {{
          loop i = 1:1 + max(0, N - 1) // 4 * 4:4 {{
            loop j_2 = 1:min(7, M - 1) {{ {at(0, "j_2")} }}
            loop j_3 = 1:min(5, M - 1) {{ {at(1, "j_3")} }}
            loop j_4 = 1:min(3, M - 1) {{ {at(2, "j_4")} }}
            loop j = 7:M - 1 {{ {at(0, "j")} {at(1, "j - 2")} {at(2, "j - 4")} {at(3, "j - 6")} }}
            loop j_5 = max(5, M - 3):M - 1 {{ {at(1, "j_5")} }}
            loop j_6 = max(3, M - 5):M - 1 {{ {at(2, "j_6")} }}
            loop j_7 = max(1, M - 7):M - 1 {{ {at(3, "j_7")} }}
          }}
          loop i_1 = 1 + max(0, N - 1) // 4 * 4:N {{ loop j_1 = 1:M - 1 {{ {rest} }} }}
        }}""").same_values(N=[0, 1, 4, 5, 9, 10], M=[0, 2, 3, 5, 8, 9, 13])


@pytest.mark.parametrize(
    "nest_of",
    [
        lambda: nest(("A[i - 1, j]", "A[i, j - 1]")),  # one apart would do for the order, two for the latency
        lambda: nest(("A[i - 1, j + 2]", "A[i, j - 1]"), inner="j = 1:M - 2"),  # three apart
        lambda: nest(("A[i - 2, j + 3]", "A[i, j - 1]"), outer="i = 2:N", inner="j = 1:M - 3"),
        lambda: nest(("A[i + 1, j - 1]", "A[i, j - 1]"), outer="i = N - 2:-1:-1"),  # upwards
        lambda: nest(("A[i + 1, j + 1]", "A[i, j - 1]"), outer="i = 0:N - 1"),  # what is not new yet
        lambda: nest(("A[i, j + 1]", "A[i, j - 1]")),
    ],
)
def test_values(nest_of):
    expect(SkewedJam(), on=nest_of()).applies().same_values(N=[3, 6, 7, 11], M=[3, 4, 7, 10, 15])


MAPS = """data t: f64[M - 2] transient
          state {{ map p = 0:{0} {{ tasklet (a <- A[i - 1, p + 2], b <- A[i, p + 2]) -> (o -> t[{1}]) {{ o = a + b }} }}
                   map q = 0:{0} {{
                     tasklet (a <- A[i, q + 1], b <- t[{2}]) -> (o -> A[i, q + 1]) {{ o = a + b }} }} }}"""


def with_maps(size="M - 2", write="p", read="q"):
    reads = ("A[i, j]", "A[i, j - 1]")
    return nest(reads, before=MAPS.format(size, write, read), value="0.25*a + 0.125*b")


def test_maps_before_join_the_row_and_their_temporary_becomes_a_scalar():
    done = expect(SkewedJam(), on=with_maps()).applies().same_values(N=[2, 5, 8], M=[2, 3, 4, 9, 12])
    rows = next(block for block in done.after.body.walk_blocks() if isinstance(block, Loop))
    private = [desc for region in rows.body.walk_regions() for desc in region.containers.values()]
    assert private
    assert all(isinstance(desc, Scalar) for desc in private)


def test_ranges_that_may_differ_are_compared_when_it_runs():
    one = parse(
        f"""sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size, K: size {{least = 2}}) {{
              loop i = 1:N {{ {MAPS.format("M - 2", "p", "q")}
                loop j = 1:min(K, M - 1) {{ {element(("A[i, j]", "A[i, j - 1]"))} }} }} }}"""
    )
    expect(SkewedJam(), on=one).applies().same_values(N=[2, 9], M=[4, 9], K=[2, 3, 8, 9])


REFUSALS = {
    "the body does not end with a loop in steps of one": (
        lambda: nest(outer="i = 1:N:2"),
        lambda: nest(inner="j = 1:M - 1:2"),
    ),
    "depends on 'i'": (lambda: nest(inner="j = 1:min(i, M - 1)"),),
    "no element waits for the one before it in its row": (lambda: nest(("A[i - 1, j + 1]", "A[i - 1, j]")),),
    "writes A[i, j], then reads A[i - 1, j + 4]": (
        lambda: nest(("A[i - 1, j + 4]", "A[i, j - 1]"), inner="j = 1:M - 4"),
    ),
    "passes values from one element of a row to another": (lambda: with_maps(read="M - 3 - q"),),
    "there are fewer than 4 rows": (lambda: nest(outer="i = 1:4"),),
    "before the inner loop there is more than maps": (
        lambda: nest(before="state { tasklet () -> (o -> B[i, 0]) { o = 1.0 } }"),
    ),
}


@pytest.mark.parametrize(("reason", "made"), [(reason, made) for reason, all_of in REFUSALS.items() for made in all_of])
def test_refusals(reason, made):
    expect(SkewedJam(), on=made()).is_refused(reason)


def relax(A, steps):
    for _ in range(steps):
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5.0


def distance(a, b):
    D = np.zeros((a.shape[0] + 1, b.shape[0] + 1), np.int64)
    for i in range(a.shape[0] + 1):
        D[i, 0] = i
    for j in range(b.shape[0] + 1):
        D[0, j] = j
    for i in range(1, a.shape[0] + 1):
        for j in range(1, b.shape[0] + 1):
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return D


@pytest.mark.cc
@pytest.mark.parametrize("shape", [(3, 3), (6, 40), (41, 7), (30, 30)])
def test_compiled_sweeps_equal_those_of_numpy(shape):
    check_same(relax, np.random.default_rng(0).random(shape), 3, optimized=True)


@pytest.mark.cc
@pytest.mark.parametrize("sizes", [(0, 4), (3, 9), (20, 31)])
def test_compiled_edit_distances_equal_those_of_numpy(sizes):
    one, other = (np.random.default_rng(n).integers(0, 4, n) for n in sizes)
    check_same(distance, one, other, optimized=True)
