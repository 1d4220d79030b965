"""Extreme numbers as sizes, bounds, steps and indices. `python -m tests.fuzz.extremes N` draws many more."""

import sys

import numpy as np
import pytest

from tests.fuzz import extremes
from tests.fuzz.extreme_cases import EXPRESSIONS, drawn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are limited by means of Linux")


def test_interpreted():
    counts, failures = extremes.compare(range(24), "interpreted")
    assert not failures
    assert counts["checked"] > 16


@pytest.mark.cc
def test_compiled():
    _, failures = extremes.compare(range(24, 27), "compiled")
    assert not failures


def test_a_process_that_dies_takes_its_case_along():
    found = list(extremes.outcomes("nowhere", range(3)))
    assert [kind for kind, _ in found] == ["died"] * 3


def test_what_differs_is_found():
    assert extremes.difference(["value", "int 1"], ["value", "int 2"])
    assert extremes.difference(["value", "int 1"], ["IndexError", ""])
    assert extremes.difference(["died", ""], ["died", ""])
    assert not extremes.difference(["ValueError", "a"], ["MemoryError", "b"])


def test_rounding_errors_are_no_differences():
    window = np.hanning(18)
    assert extremes.shown(window) == extremes.shown(window * (1 + 2**-52) + 2**-54)
    assert extremes.shown(window) != extremes.shown(window * (1 + 2**-30))
    assert extremes.shown(np.array([2**62])) != extremes.shown(np.array([2**62 + 1]))


def test_all_expressions_are_drawn():
    cases = [drawn(seed) for seed in range(2000)]
    assert {case.expression for case in cases} == set(EXPRESSIONS)
    assert {case.fixed for case in cases} == {True, False}
    assert drawn(7) == drawn(7)
