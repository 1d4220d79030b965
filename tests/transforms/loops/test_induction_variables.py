"""InductionVariableSubstitution: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.loops.induction_variables import InductionVariableSubstitution
from tests.support.expect import expect, parse

HEAD = "sdfg @f(a: f64[4*N + 9], b: f64[N + 9], c: f64[N*N + 4*N + 9], p: i64[]) symbols(N: size)"
KEEP = "state { tasklet () -> (o -> p) { o = k } }"


def write(index, value="b[i]", array="a"):
    return f"state {{ tasklet (x <- {value}) -> (o -> {array}[{index}]) {{ o = x }} }}"


def program(body):
    return parse(f"{HEAD} {{ {body} }}")


def test_what_grows_by_the_same_is_an_expression_of_the_counter():
    before = f"let k = 3 loop i = 0:N {{ let k = k + 2 {write('k')} let k = k + 1 {write('k')} }} {KEEP}"
    expect(InductionVariableSubstitution(), on=program(before)).becomes(f"""{HEAD} {{
        let k = 3
        loop i = 0:N {{ {write("3*i + 5")} {write("3*i + 6")} }}
        let k = 3*N + 3
        {KEEP} }}""").same_values(N=[0, 1, 4])


def test_branches_that_add_the_same():
    branch = "if b[i] > 0.5 {{ {first} {up} }} else {{ {up} {second} }}"
    names = {"up": "let k = k + 1"}
    before = branch.format(first=write("k"), second=write("k"), **names)
    after = branch.format(first=write("i"), second=write("i + 1"), up="")
    expect(InductionVariableSubstitution(), on=program(f"let k = 0 loop i = 0:N {{ {before} }}")).becomes(
        f"{HEAD} {{ let k = 0 loop i = 0:N {{ {after} }} }}"
    ).same_values(N=[0, 5])


CASES = {
    "inner loops first": f"let k = 0 loop i = 0:N {{ loop j = 0:N {{ {write('k', array='c')} let k = k + 1 }} }}",
    "and used behind": f"""let k = 2
        loop i = 0:N {{ loop j = 0:3 {{ let k = k + 1 }} let k = k + 1 {write("k")} }} {KEEP}""",
    "the start is a value of data": f"""let k = select(b[0] > 0.5, 1, 2)
        loop i = 0:N {{ {write("k")} let k = k + 1 }} {KEEP}""",
    "going down": f"let k = N loop i = N - 1:-1:-1 {{ let k = k - 1 {write('k')} }} {KEEP}",
    "in steps": f"let k = 0 loop i = 1:N:3 {{ {write('k')} let k = k + 2 }} {KEEP}",
    "nested loops that start anew": f"loop j = 0:3 {{ let k = j loop i = 0:N {{ {write('k')} let k = k + 1 }} }}",
    "the loop runs again": f"let k = 0 loop j = 0:2 {{ loop i = 0:N {{ {write('k')} let k = k + 1 }} }}",
    "maps inside": """let k = 0 loop i = 0:N { let k = k + 1
        state { map j = 0:2 { tasklet (x <- b[j]) -> (o -> a[k + j]) { o = x } } } }""",
}


@pytest.mark.parametrize("case", CASES)
def test_keeps_values(case):
    found = expect(InductionVariableSubstitution(), on=program(CASES[case]))
    assert apply_repeated(found.after, InductionVariableSubstitution(), check=True) > 0
    found.same_values(N=[0, 1, 2, 5])


REFUSALS = {
    "it assigns no symbol": f"loop i = 0:N {{ {write('i')} }}",
    "depends on a condition": f"let k = 0 loop i = 0:N {{ if b[i] > 0.5 {{ {write('k')} let k = k + 1 }} }}",
    "is not the same each time": f"let k = 0 loop i = 0:N {{ {write('k')} let k = k + i }}",
    "'k' is not the same each time": f"let k = 1 loop i = 0:N {{ {write('k')} let k = 2*k }}",
    "an iteration may end early": f"let k = 0 loop i = 0:N {{ let k = k + 1 if b[i] > 0.5 {{ break }} {write('k')} }}",
    "assigned in a while inside": "let k = 0 loop i = 0:N { while k < i { let k = k + 1 } }",
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(InductionVariableSubstitution(), on=program(REFUSALS[reason])).is_refused(reason)


@pytest.mark.cc
def test_compiled_code_counts_through_a_plane():
    def flatten(line, plane):
        k = 0
        for i in range(plane.shape[0]):
            for j in range(plane.shape[1]):
                line[k] += plane[i, j]
                k += 1
        return k

    plane = np.random.default_rng(0).random((30, 17))
    line = np.ones(plane.size)
    assert dcpy.program(flatten, auto_optimize=True)(line, plane) == plane.size
    np.testing.assert_array_equal(line, 1 + plane.reshape(-1))
    with pytest.raises(IndexError):
        dcpy.program(flatten, auto_optimize=True)(np.ones(plane.size - 1), plane)
