"""Conditions over elements of distributed arrays: each rank has them first, and all go the same way."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import TransformationRefused
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.distributed.communication.insert_communication import InsertCommunication
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.ranks import check, distributed, localized

N, T = dcpy.symbol("N"), dcpy.symbol("T")
BY = "((N + P - 1) // P)"


def made(function, **types):
    function.__annotations__ = types
    sdfg = dcpy.program(function).to_sdfg().simplify().auto_optimize()
    plan = {name: "g(block 0)" for name, annotation in types.items() if annotation is not dcpy.int64}
    return sdfg, distributed(sdfg, plan, {"g": ("P",)})


def ways(A, B, steps):
    for t in range(steps):
        A[1:-1] = 0.5 * (A[:-2] + A[2:])
        if A[t] > 0.5:
            B[:] = A - 0.25
        elif A[0] > B[-1]:
            B[:] = B + A
        else:
            A[:] = A + 1.0


def until_small(A, B, steps):
    left = steps
    while A[1] > 0.125:
        A[:] = 0.5 * A
        left = left - 1
        if left < 3:
            continue
        B[:] = A + B


def chosen(A, B, steps):
    limit = A[2]
    if steps > 1 and A[steps] < limit + B[steps - 1]:
        B[:] = A * limit


@pytest.mark.parametrize("function", [ways, until_small, chosen])
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_they_equal_one_rank(function, ranks):
    sdfg, whole = made(function, A=dcpy.float64[N], B=dcpy.float64[N], steps=dcpy.int64)
    local = localized(whole)
    for n, seed in ((4, 0), (7, 1), (12, 2), (12, 3)):
        draw = np.random.default_rng(seed)
        arguments = {"A": draw.random(n), "B": draw.random(n)}
        symbols = {"N": n, "P": ranks, "steps": 3}
        if "steps" in sdfg.containers:
            arguments["steps"] = 3
        check(sdfg, whole, arguments, symbols, ranks, local=local)


def served(body):
    sdfg = parse_sdfg(f"""
        sdfg @f(x: f64[N] on g(block 0 by {BY}), y: f64[N] on g(block 0 by {BY}), z: f64[N] on g(block 0 by {BY}))
        symbols(N: size {{least = 1}}, P: size {{least = 1}}, k: i64) grids(g[P]) {{ {body} }}""")
    run_pipeline(sdfg, Pipeline("test", InsertCommunication()), check=True)
    lines = print_sdfg(sdfg).splitlines()
    return [line.strip() for line in lines[1:-1] if line.strip() not in ("state {", "}")]


def test_an_element_is_copied_before_the_branch():
    assert served("if x[k] > 0.0 { copy y[0:N] -> z[0:N] }") == [
        "data x_element: f64[1] transient",
        "copy x[k:k + 1] -> x_element[0:1]",
        "if x_element[0] > 0.0 {",
        "copy y[0:N] -> z[0:N]",
    ]


def test_a_loop_asks_before_each_test():
    found = served("while x[0] > 0.0 { if k > 1 { continue } copy y[0:N] -> x[0:N] }")
    assert found.count("copy x[0:1] -> x_element[0:1]") == 3
    assert found[found.index("continue") - 1] == found[-1] == "copy x[0:1] -> x_element[0:1]"


def test_a_second_condition_asks_if_the_first_one_does_not_hold():
    ways = "copy y[0:N] -> z[0:N]", "copy x[0:N] -> z[0:N]", "copy z[0:N] -> x[0:N]"
    assert served("if x[0] > 0.0 {{ {} }} elif y[k] > 0.0 {{ {} }} else {{ {} }}".format(*ways))[1:] == [
        "copy x[0:1] -> x_element[0:1]",
        "if x_element[0] > 0.0 {",
        "copy y[0:N] -> z[0:N]",
        "} else {",
        "data y_element: f64[1] transient",
        "copy y[k:k + 1] -> y_element[0:1]",
        "if y_element[0] > 0.0 {",
        "copy x[0:N] -> z[0:N]",
        "} else {",
        "copy z[0:N] -> x[0:N]",
    ]


def test_a_conditional_expression_may_not_ask_for_what_may_not_exist():
    with pytest.raises(TransformationRefused, match="reads an element of 'y', which is distributed, only if") as error:
        served("if select(k < N, y[k], 0.0) > 0.0 { copy x[0:N] -> z[0:N] }")
    assert "test the other condition around this" in str(error.value)
    assert "copy y[0:1] -> y_element[0:1]" in served("if select(k < N, y[0], 0.0) > 0.0 { copy x[0:N] -> z[0:N] }")


def test_checks_and_symbols():
    found = served('check x[k] > 0.0 else ValueError "no" state { copy y[0:N] -> z[0:N] }')
    assert found[1:3] == ["copy x[k:k + 1] -> x_element[0:1]", 'check x_element[0] > 0.0 else ValueError "no"']
