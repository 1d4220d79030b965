"""LineTiling: shape, value, refusal, and what compiled programs compute."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir.region import Branch, Loop
from dcpy.ir.text import print_sdfg
from dcpy.transforms.loops.line_tiling import LineTiling
from tests.support.expect import expect, parse

SMALL = LineTiling(steps=3, size=64, tiles=2)


def program(first="i = 1:N - 1", read="A[i - 1], r <- A[i + 1]", second="j = 1:N - 1", back="B[j]", time="0:T"):
    return parse(f"""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size, T: size) {{
          loop t = {time} {{
            state {{
              map {first} {{ tasklet (l <- {read}) -> (o -> B[i]) {{ o = 0.5*l + 0.25*r }} }}
              map {second} {{ tasklet (b <- {back}) -> (o -> A[j]) {{ o = b }} }}
            }}
          }}
        }}""")


def test_tiles_where_there_are_enough_elements_and_steps():
    done = expect(SMALL, on=program()).applies().same_values(N=[2, 127, 128, 200], T=[0, 2, 3, 7])
    (branch,) = [block for block in done.after.body.walk_blocks() if isinstance(block, Branch)]
    assert "if N >= 128 and T >= 3 {" in print_sdfg(done.after)
    bands, plain = branch.regions()
    assert [block.range.step.constant for block in bands.blocks if isinstance(block, Loop)] == [3]
    assert [block.range.step.constant for block in plain.blocks if isinstance(block, Loop)] == [1]


PLANE = """
    sdfg @f(A: f64[N, N], B: f64[N, N]) symbols(N: size, T: size) {
      loop t = 0:T { state {
        map i = 1:N - 1, k = 0:N { tasklet (l <- A[i - 1, k]) -> (o -> B[i, k]) { o = l } }
        map j = 1:N - 1, m = 0:N { tasklet (b <- B[j, m]) -> (o -> A[j, m]) { o = b } } } } }"""
REFUSALS = {
    "a grid has more than one dimension": parse(PLANE),
    "tiles of 64 elements have a halo of": program(first="i = 4:N - 4", read="A[i - 4], r <- A[i + 4]"),
    "tiles of 64 elements have a halo of 0": program(read="A[i], r <- A[i]"),
    "the loop does not go in steps of one": program(time="0:T:2"),
}


@pytest.mark.parametrize(("reason", "on"), REFUSALS.items(), ids=list(REFUSALS))
def test_refusals(reason, on):
    expect(SMALL, on=on).is_refused(reason)


def heat(steps, A, B):
    for _ in range(steps):
        B[1:-1] = 0.25 * (A[:-2] + 2.0 * A[1:-1] + A[2:])
        A[1:-1] = 0.25 * (B[:-2] + 2.0 * B[1:-1] + B[2:])


@pytest.mark.cc
@pytest.mark.parametrize(("size", "steps"), [(20000, 70), (10240, 33), (10240, 31), (9000, 40), (3, 40), (30000, 0)])
def test_compiled_lines_equal_numpys(size, steps):
    A = np.random.default_rng(size).random(size)
    mine, B, C = A.copy(), np.zeros(size), np.zeros(size)
    heat(steps, A, B)
    dcpy.program(heat, auto_optimize=True)(steps, mine, C)
    np.testing.assert_array_equal(mine, A)
    np.testing.assert_array_equal(C, B)
