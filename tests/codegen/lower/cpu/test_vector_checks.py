"""Loops that only check: vectors ask first whether anything fails, and the loop as written says what."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.compiled import compile_sdfg, source_of

CHECKS = """sdfg @checks(x: i64[K], y: i64[K], A: f64[N]) symbols(K: size, N: size) {{ state {{
    map i = 0:K {schedule} {{
        let k = wrap(x[i], N, 0)
        {second}
    }} }} }}"""


@pytest.mark.parametrize("schedule", ["@parallel", "@sequential"])
def test_vectors_ask_before_the_loop_that_leaves(schedule):
    text = source_of(CHECKS.format(schedule=schedule, second=""))
    asked = text.index("simd reduction(| : failing")
    assert text.index("failing != 0") > asked
    assert text.count("for (int64_t i = 0") == 2


@pytest.mark.parametrize("second", ["let m = wrap(y[k], N, 0)", "let m = wrap(x[i] // y[0], N, 0)"])
def test_what_only_a_check_allows_is_not_done_by_vectors(second):
    """An element at the index that was checked, and a division that may come behind it."""
    text = source_of(CHECKS.format(schedule="@sequential", second=second))
    assert "failing" not in text


def test_short_loops_ask_nothing_first():
    assert "failing" not in source_of(CHECKS.format(schedule="@sequential", second="").replace("0:K", "0:4"))


@pytest.mark.cc
@pytest.mark.parametrize("schedule", ["@parallel", "@sequential"])
@pytest.mark.parametrize(("place", "value"), [(0, 9), (999, -10), (500, 2**63 - 1), (37, -(2**63))])
def test_the_first_that_fails_is_told(schedule, place, value):
    program = compile_sdfg(CHECKS.format(schedule=schedule, second="let m = wrap(y[i], N, 1)"))
    x, y = np.arange(1000) % 18 - 9, np.zeros(1000, np.int64)
    program(x, y, np.ones(9))
    x[place] = value
    if place < 999:
        x[place + 1 :: 7], y[999] = 99, -99
    with pytest.raises(IndexError, match=f"index {value} is out of bounds for axis 0 with size 9"):
        program(x, y, np.ones(9))
