"""Scalar replacement: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.memory.scalar_replacement import ScalarReplacement
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N, N], p: i64[N]) symbols(N: size)"
STEPS = """state {{ tasklet () -> (o -> B[{0}]) {{ o = 1.0 }} }}
    if A[i] > 0.0 {{ state {{ tasklet (b <- B[{0}]) -> (o -> B[{0}]) {{ o = b + 2.0 }} }} }}"""


def program(body):
    return parse(f"{HEAD} {{ {body} }}")


def test_an_element_is_loaded_and_stored_once():
    on = program(f"state {{ map i = 0:N {{ {STEPS.format('N - 1 - i')} }} }}")
    expect(ScalarReplacement(), on=on).becomes(f"""{HEAD} {{ state {{ map i = 0:N {{ data element: f64 transient
        state {{ tasklet (a <- B[N - i - 1]) -> (o -> element) {{ o = a }} }}
        state {{ tasklet () -> (o -> element) {{ o = 1.0 }} }}
        if A[i] > 0.0 {{ state {{ tasklet (b <- element) -> (o -> element) {{ o = b + 2.0 }} }} }}
        state {{ tasklet (a <- element) -> (o -> B[N - i - 1]) {{ o = a }} }}
    }} }} }}""").same_values(N=[0, 1, 5])


def test_conditions_that_read_the_element():
    steps = STEPS.format("i").replace("A[i] > 0.0", "B[i] > A[i]")
    expect(ScalarReplacement(), on=program(f"state {{ map i = 0:N {{ {steps} }} }}")).applies().same_values(N=[0, 4])


def test_an_element_in_an_inner_loop():
    steps = STEPS.format("i").replace("A[i] > 0.0", "A[k] > 0.0")
    on = program(f"state {{ map i = 0:N {{ loop k = 0:N {{ {steps} }} }} }}")
    expect(ScalarReplacement(), on=on).applies().same_values(N=[0, 4])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (STEPS.format("i // 2"), "several iterations may touch"),
        (STEPS.format("i").replace("(b <- B[i])", "(b <- B[N - 1 - i])"), "touches several elements"),
        (f"let q = p[i] {STEPS.format('q')}", "touches several elements"),
        (STEPS.format("i + 1"), "may not exist"),
        (STEPS.format("i") + ' check A[i] < 9.0 else ValueError ""', "a check may end an iteration early"),
        (STEPS.format("i").replace("B[i]) { o = b", "B[i] (add)) { o = b"), "it combines values"),
        ("state { tasklet (a <- A[i]) -> (o -> B[i]) { o = a } }", "without conditions"),
        ("if A[i] > 0.0 { state { tasklet () -> (o -> B[i]) { o = 1.0 } } }", "writes no array twice"),
        (
            "state { tasklet (a <- A[i]) -> (o -> B[i]) { o = a } tasklet (a <- B[i]) -> (o -> B[i]) { o = a * 2.0 } }"
            " if A[i] > 0.0 { state { tasklet () -> (o -> C[i, i]) { o = 1.0 } } }",
            "written without conditions",
        ),
        (STEPS.format("i") + " state { copy A[i:i + 1] -> B[i:i + 1] }", "other than tasklets"),
    ],
    ids=["shared", "another", "run-time", "outside", "check", "sum", "once", "condition", "sure", "copy"],
)
def test_refuses(body, reason):
    expect(ScalarReplacement(array="B"), on=program(f"state {{ map i = 0:N {{ {body} }} }}")).is_refused(reason)


def steepest(heights):
    rows, columns = heights.shape
    found = np.full((rows - 2, columns - 2), 4)
    for i in range(rows - 2):
        for j in range(columns - 2):
            most = 0.0
            for a in range(3):
                for b in range(3):
                    if a != 1 or b != 1:
                        fall = heights[i + 1, j + 1] - heights[i + a, j + b]
                        if fall > most:
                            most = fall
                            found[i, j] = 3 * a + b
    return found


@pytest.mark.cc
def test_what_is_left_has_no_branch_in_memory():
    heights = np.random.default_rng(0).random((9, 12))
    program = dcpy.program(steepest, auto_optimize=True)
    np.testing.assert_array_equal(program(heights), steepest(heights))
    text = str(program.to_sdfg(heights))
    assert text.count("-> __return[") <= 2
