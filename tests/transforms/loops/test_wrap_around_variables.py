"""WrapAroundVariable: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir.nodes import Map
from dcpy.transforms.loops.wrap_around_variables import WrapAroundVariable
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], p: i64[]) symbols(N: size)"
READ = "state {{ tasklet (a <- B[{0}], b <- B[{1}]) -> (o -> A[{0}]) {{ o = 2.0*b + a }} }}"
KEEP = "state { tasklet () -> (o -> p) { o = k } }"


def program(body, head=HEAD):
    return parse(f"{head} {{ {body} }}")


def around(values="0:N", value="i", read="k", start="N - 1", more=""):
    return f"let k = {start} loop i = {values} {{ {READ.format('i', read)} let k = {value} {more} }}"


def test_the_first_iteration_is_peeled():
    expect(WrapAroundVariable(), on=program(around())).becomes(f"""{HEAD} {{
        let k = N - 1
        if index(0) < N {{ {READ.format("0", "k")} let k = index(0) }}
        loop i = 1:N {{ {READ.format("i", "i - 1")} }}
        }}""").same_values(N=[0, 1, 2, 7])


def test_behind_the_loop_the_symbol_has_its_last_value():
    expect(WrapAroundVariable(), on=program(around() + KEEP)).becomes(f"""{HEAD} {{
        let k = N - 1
        if index(0) < N {{ {READ.format("0", "k")} let k = index(0) }}
        loop i = 1:N {{ {READ.format("i", "i - 1")} }}
        if index(0) < N {{ let k = N - 1 }}
        {KEEP} }}""").same_values(N=[0, 1, 2, 7])


def test_what_takes_over_another_one_comes_an_iteration_later():
    both = "let k = N - 1 let l = N - 2 loop i = 0:N {{ {0} {1} let l = k let k = i }}"
    expect(WrapAroundVariable(), on=program(both.format(READ.format("i", "k"), READ.format("i", "l")))).becomes(
        f"""{HEAD} {{
        let k = N - 1 let l = N - 2
        if index(0) < N {{ {READ.format("0", "k")} {READ.format("0", "l")} let l = k let k = index(0) }}
        if index(1) < N {{ {READ.format("1", "0")} {READ.format("1", "l")} let l = index(0) }}
        loop i = 2:N {{ {READ.format("i", "i - 1")} {READ.format("i", "i - 2")} }}
        }}"""
    ).same_values(N=[0, 2, 3, 7])


@pytest.mark.parametrize(
    "body",
    [
        around("N - 1:-1:-1", "i", start="0"),
        around("0:N:2", "N - i - 1"),
        around("1:N", "i - 1", more=READ.format("i", "k")),
        around("3:7") + KEEP,
        f"let k = N - 1 loop t = 0:3 {{ loop i = 0:N {{ {READ.format('i', 'k')} let k = i }} }}",
    ],
)
def test_values(body):
    expect(WrapAroundVariable(), on=program(body)).applies().same_values(N=[7, 8])


CONDITION = f"if B[i] > 0.0 {{ let k = i }} {READ.format('i', 'k')}"
REFUSALS = {
    "it assigns no symbol": f"loop i = 0:N {{ {READ.format('i', 'i')} }}",
    "the step N of": around("0:N:N"),
    "an iteration may end early": around(more="if B[i] > 0.5 { continue }"),
    "symbol 'k' is not assigned once in each iteration": f"let k = 0 loop i = 0:N {{ {CONDITION} }}",
    "is no expression of 'i'": around(value="k + 1"),
    "no iteration takes over symbol 'k'": f"loop i = 0:N {{ let k = i {READ.format('i', 'k')} }}",
    "it assigns a symbol of its own bounds": around(values="0:k"),
    "more than 50 blocks": around(more=READ.format("i", "i") * 26),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(WrapAroundVariable(), on=program(REFUSALS[reason])).is_refused(reason)


def neighbours(a, b):
    k = len(a) - 1
    for i in range(len(a)):
        a[i] = b[i] + 2.0 * b[k]
        k = i


def test_the_rest_of_the_loop_is_a_map():
    made = dcpy.program(neighbours, auto_optimize=True).to_sdfg(np.zeros(7), np.zeros(7))
    assert any(isinstance(node, Map) for node in made.body.walk_nodes()), str(made)


@pytest.mark.cc
@pytest.mark.parametrize("size", [0, 1, 2, 7, 1001])
def test_compiled_code_does_what_python_does(size):
    b = np.random.default_rng(0).random(size)
    mine, theirs = np.zeros(size), np.zeros(size)
    dcpy.program(neighbours, auto_optimize=True)(mine, b)
    neighbours(theirs, b)
    np.testing.assert_array_equal(mine, theirs)
