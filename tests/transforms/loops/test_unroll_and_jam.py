"""UnrollAndJam: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.loops.unroll_and_jam import UnrollAndJam
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], s: f64[]) symbols(N: size, M: size)"
SUM = "state {{ tasklet (a <- A[{0}, {1}], b <- B[{0}, 0]) -> (o -> B[{0}, 0]) {{ o = 0.5*b + a }} }}"


def stencil(row, column):
    return f"state {{ tasklet (a <- A[i - {row}, j + {column}]) -> (o -> A[i, j]) {{ o = 0.5*a }} }}"


def nest(body, outer="i = 0:N", inner="j = 0:M"):
    return parse(f"{HEAD} {{ loop {outer} {{ loop {inner} {{ {body} }} }} }}")


@pytest.mark.parametrize("factor", [2, 3])
def test_jams_the_copies_and_runs_the_rest(factor):
    copies = " ".join(SUM.format(f"i + {number}", "j") for number in range(factor))
    expect(UnrollAndJam(factor=factor), on=nest(SUM.format("i", "j")), loop="i").becomes(
        f"""{HEAD} {{ loop i = 0:N // {factor} * {factor}:{factor} {{ loop j = 0:M {{ {copies} }} }}
            loop i_1 = N // {factor} * {factor}:N {{ loop j_1 = 0:M {{ {SUM.format("i_1", "j_1")} }} }} }}"""
    ).same_values(N=list(range(8)), M=[1, 3])


def test_a_tile_has_no_rest():
    text = "loop t = 0:N - 1:2 { loop i = t:t + 2 { loop j = 0:M { %s } } }"
    expect(UnrollAndJam(), on=parse(f"{HEAD} {{ {text % SUM.format('i', 'j')} }}"), loop="i").becomes(
        f"""{HEAD} {{ loop t = 0:N - 1:2 {{ loop i = t:t + 2:2 {{ loop j = 0:M {{
            {SUM.format("i", "j")} {SUM.format("i + 1", "j")} }} }} }} }}"""
    ).same_values(N=[0, 2, 4], M=[2])


def test_a_dependence_that_is_farther_than_the_factor_stays():
    before = nest(stencil(2, 1), outer="i = 2:N", inner="j = 0:M - 1")
    expect(UnrollAndJam(factor=3), on=before, loop="i").is_refused("writes A[i, j], then reads A[i - 2, j + 1]")
    expectation = expect(UnrollAndJam(factor=2), on=before, loop="i")
    expectation.becomes(_jammed()).same_values(N=[2, 3, 6, 7], M=[1, 4])


def _jammed():
    def body(row, column):
        return f"state {{ tasklet (a <- A[{row} - 2, {column} + 1]) -> (o -> A[{row}, {column}]) {{ o = 0.5*a }} }}"

    return f"""{HEAD} {{ loop i = 2:2 + max(0, N - 2) // 2 * 2:2 {{ loop j = 0:M - 1 {{
               {body("i", "j")} {body("i + 1", "j")} }} }}
               loop i_1 = 2 + max(0, N - 2) // 2 * 2:N {{ loop j_1 = 0:M - 1 {{ {body("i_1", "j_1")} }} }} }}"""


REFUSALS = {
    "writes A[i, j], then reads A[i - 1, j + 1]: distance (1, -1) on (i, j)": (
        UnrollAndJam(),
        nest(stencil(1, 1), outer="i = 1:N", inner="j = 0:M - 1"),
    ),
    "reads s, then writes s: distance (1, >) on (i, j)": (
        UnrollAndJam(),
        nest("state { tasklet (a <- A[i, j], b <- s) -> (o -> s) { o = 0.5*b + a } }"),
    ),
    "the body is not just one loop": (UnrollAndJam(), nest("} " + SUM.format("i", "0") + " if s[] > 0.0 {")),
    "the range 0:i of 'j' depends on 'i'": (UnrollAndJam(), nest(SUM.format("i", "j"), inner="j = 0:i")),
    "groups of 1 iterations": (UnrollAndJam(factor=1), nest(SUM.format("i", "j"))),
    "a continue inside leaves an iteration": (
        UnrollAndJam(),
        nest("if s[] > 0.0 { continue } " + SUM.format("i", "j")),
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    transformation, sdfg = REFUSALS[reason]
    expect(transformation, on=sdfg, loop="i").is_refused(reason)
