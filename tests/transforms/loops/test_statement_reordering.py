"""StatementReordering: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.loops.statement_reordering import StatementReordering
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N + 4], B: f64[N + 4], C: f64[N + 4], m: f64[]) symbols(N: size)"
KEEP = "state { tasklet (a <- x) -> (o -> m) { o = a } }"


def node(write, *reads):
    inputs = ", ".join(f"a{n} <- {read}" for n, read in enumerate(reads))
    return f"tasklet ({inputs}) -> (o -> {write}) {{ o = {' + '.join(f'a{n}' for n in range(len(reads)))} + 1.0 }}"


def loop(*nodes, param="i", values="1:N", data=""):
    return f"loop {param} = {values} {{ {data} state {{ {' '.join(nodes)} }} }}"


def program(body, data=""):
    return parse(f"{HEAD} {{ {data} {body} }}")


def test_the_writer_comes_first():
    before = loop(node("A[i]", "B[i - 1]"), node("B[i]", "C[i]"))
    first = loop(node("B[i_1]", "C[i_1]"), param="i_1")
    second = loop(node("A[i_2]", "B[i_2 - 1]"), param="i_2")
    expect(StatementReordering(), on=program(before)).becomes(f"{HEAD} {{ {first} {second} }}").same_values(
        N=[0, 1, 2, 6]
    )


def test_what_a_scalar_carries_is_an_array():
    data = "data x: f64 transient"
    start = "state { tasklet (a <- C[0]) -> (o -> x) { o = a } }"
    before = start + loop(node("A[i]", "B[i]", "x"), "tasklet (a <- B[i]) -> (o -> x) { o = a }", values="0:N") + KEEP
    expect(StatementReordering(), on=program(before, data)).becomes(f"""{HEAD} {{
        data x: f64 transient
        data x_values: f64[N + 1] transient
        {start}
        state {{ tasklet (value <- x) -> (out -> x_values[0]) {{ out = value }} }}
        {loop("tasklet (a <- B[i_1]) -> (o -> x_values[i_1 + 1]) { o = a }", param="i_1", values="0:N")}
        {loop(node("A[i_2]", "B[i_2]", "x_values[i_2]"), param="i_2", values="0:N")}
        state {{ tasklet (value <- x_values[N]) -> (out -> x) {{ out = value }} }}
        {KEEP} }}""").same_values(N=[0, 1, 5])


OUTSIDE = "data x: f64 transient data y: f64 transient"
START = "state { tasklet (a <- C[0]) -> (o -> x) { o = a } tasklet (a <- C[1]) -> (o -> y) { o = a } }"
CASES = {
    "both overwrite": ("", loop(node("A[i]", "B[i]"), node("A[i + 1]", "C[i]"))),
    "three in a row": ("", loop(node("A[i]", "C[i + 1]"), node("B[i]", "A[i - 1]"), node("C[i]", "B[i - 1]"))),
    "what reads ahead stays a loop": ("", loop(node("A[i]", "B[i - 1]"), node("B[i]", "B[i + 1]", "C[i]"))),
    "going down": ("", loop(node("A[i]", "B[i + 1]"), node("B[i]", "C[i]"), values="N:0:-1")),
    "two scalars": (OUTSIDE, START + loop(node("A[i]", "x", "y"), node("y", "x"), node("x", "B[i]")) + KEEP),
    "a scalar of the iteration": (
        OUTSIDE,
        START + loop(node("t", "B[i]"), node("A[i]", "t", "x"), node("x", "t"), data="data t: f64 transient") + KEEP,
    ),
    "in steps": (OUTSIDE, START + loop(node("A[i]", "x"), node("x", "B[i]"), values="0:N:2") + KEEP),
    "the last value is used": (OUTSIDE, START + loop(node("x", "B[i]"), node("A[i]", "x", "x")) + KEEP),
}


@pytest.mark.parametrize("case", CASES)
def test_keeps_values(case):
    data, body = CASES[case]
    found = expect(StatementReordering(), on=program(body, data))
    assert apply_repeated(found.after, StatementReordering(), check=True) == 1
    found.same_values(N=[0, 1, 2, 3, 6])


TWICE = loop(node("t", "B[i]"), node("t", "C[i]"), node("x", "t"), values="0:N", data="data t: f64 transient")
ROW = loop(node("t[0]", "A[i - 1]"), node("A[i]", "t[0]", "B[i]"), data="data t: f64[1] transient")
REFUSALS = {
    "'t' is of one iteration, and not one value": (OUTSIDE, START + TWICE + KEEP),
    "'t' is of one iteration": ("", ROW),
    "its statements depend on each other in a circle": ("", loop(node("A[i]", "B[i - 1]"), node("B[i]", "A[i - 1]"))),
    "writes A[i], and reads A[i - 1] in a later iteration": ("", loop(node("A[i]", "A[i - 1]"), node("B[i]", "C[i]"))),
    "its body is not one state of several tasklets": ("", loop(node("A[i]", "A[i - 1]"))),
    "its iterations are independent": ("", loop(node("A[i]", "C[i]"), node("B[i]", "A[i]"))),
    "by how many iterations apart is not known": ("", loop(node("A[i]", "A[N - i]"), node("B[i]", "C[i]"))),
    "circle: 'x' is written and read": (OUTSIDE, START + loop(node("x", "x", "B[i]"), node("A[i]", "x"))),
    "there is a map around it": ("", f"map j = 0:1 {{ {loop(node('A[i]', 'B[i - 1]'), node('B[i]', 'C[i]'))} }}"),
    "the step N of 'i' is not a number": ("", loop(node("A[i]", "B[i]"), node("B[i]", "C[i]"), values="1:N:N")),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    data, body = REFUSALS[reason]
    expect(StatementReordering(), on=program(body, data)).is_refused(reason)


@pytest.mark.cc
def test_compiled_code_has_the_values_of_python():
    def smooth(a, b, c):
        before = c[0]
        for i in range(1, len(a)):
            a[i] = b[i - 1] + before
            b[i] = c[i] * 2.0
            before = c[i]
        return before

    mine = [np.random.default_rng(0).random(5001) for _ in range(3)]
    theirs = [array.copy() for array in mine]
    assert dcpy.program(smooth, auto_optimize=True)(*mine) == smooth(*theirs)
    for got, want in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(got, want)
