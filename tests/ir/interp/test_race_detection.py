"""Strict mode: iterations of a map that depend on each other are found, and only those."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.base.errors import DataRace
from dcpy.ir.interp import interpret
from dcpy.ir.text import parse_sdfg


def strictly(body, **arrays):
    """Runs a program over x[N], y[N], A[N, N] in strict mode; returns its arrays."""
    given = {"x": np.arange(4.0), "y": np.zeros(4), "A": np.zeros((4, 4)), **arrays}
    text = f"sdfg @f(x: f64[N], y: f64[N], A: f64[N, N]) {{ {body} }}"
    interpret(parse_sdfg(text), given, strict=True)
    return given


@pytest.mark.parametrize(
    "body",
    [
        "map i = 0:N { tasklet (a <- x[i]) -> (o -> y[0]) { o = a } }",
        "map i = 0:N { copy x[i] -> y[i // 2] }",
        "map i = 1:N { copy x[i - 1] -> x[i] }",
        "map i = 0:N - 1 { copy x[i + 1] -> x[i] }",
        "map i = 0:N { tasklet (a <- x[i]) -> (o -> y[0] (add)) { o = a }  copy y[0] -> x[i] }",
        "map i = 0:N, j = 0:N { copy A[i, j] -> A[j, i] }",
        "view v: f64[N - 1] of x[1:N]  map i = 0:N - 1 { copy x[i] -> v[i] }",
        "map i = 0:N { map j = 0:N { copy A[i, j] -> y[j] } }",
    ],
)
def test_races_are_found(body):
    with pytest.raises(DataRace):
        strictly(body)


def test_the_error_names_iterations_and_container():
    with pytest.raises(DataRace, match=r"map over \(i\) touch one element of 'y'") as caught:
        strictly("map i = 0:2 { copy x[i] -> y[3] }")
    assert sorted(caught.value.notes) == ["iteration (0): write", "iteration (1): write"]


@pytest.mark.parametrize(
    "body",
    [
        "map i = 0:N { copy x[i] -> y[N - 1 - i] }",
        "map i = 0:N { tasklet (a <- x[i]) -> (o -> y[0] (add)) { o = a } }",
        "map i = 0:N { data t: f64 transient copy x[i] -> t copy t -> y[i] }",
        "map i = 0:N { map j = 0:N { copy x[j] -> A[i, j] } }",
        "map i = 0:N { loop j = 1:N { copy A[i, j - 1] -> A[i, j] } }",
        "view t: f64[N, N] of A[0:N, 0:N] axes (1, 0)  map i = 0:N { copy x[i] -> t[i, i] }",
        "copy x[0:N] -> y[0:N]  map i = 1:N { copy y[i - 1] -> x[i] }",
    ],
)
def test_independent_iterations_pass(body):
    strictly(body)


ORDER = """
sdfg @f(order: f64[20]) {
  stream s: i64 transient
  map i = 0:20 { tasklet () -> (o -> s) { o = i } }
  loop j = 0:20 {
    data e: i64 transient
    copy s -> e
    tasklet (a <- e) -> (o -> order[j]) { o = f64(a) }
  }
}
"""


def test_iterations_run_in_another_order():
    orders = []
    for seed in (0, 1):
        order = np.zeros(20)
        interpret(parse_sdfg(ORDER), {"order": order}, strict=True, seed=seed)
        orders.append(order.tolist())
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(20))
