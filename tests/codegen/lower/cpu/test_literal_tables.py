"""Rows of literals are data of the C++ text; short rows and values of run time stay statements."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy

FLOATS = [0.5 * k for k in range(40)] + [-0.0, float("inf"), float("nan"), 1e-300]
PAIRS = [[k, -k] for k in range(20)]
FLAGS = [k % 3 == 0 for k in range(33)]
COMPLEX = [complex(k, -k) for k in range(32)]


def floats(x: dcpy.float64[44]):
    t = np.array(FLOATS)
    t[3] = 7.0  # each call has a table of its own
    return t * x


def pairs():
    return np.array(PAIRS)


def flags():
    return np.array(FLAGS), np.array(FLAGS)


def numbers():
    return np.array(COMPLEX), np.array([*range(100)], dtype=np.int16), np.array(FLOATS, dtype=np.float32)


def mixed(x: dcpy.float64):
    return np.array([x, *FLOATS, x])


def few():
    return np.array(FLOATS[:8])


CASES = [(floats, (np.linspace(1, 2, 44),)), (pairs, ()), (flags, ()), (numbers, ()), (mixed, (2.5,)), (few, ())]


def text_of(function, arguments=()):
    return str(dcpy.program(function).to_sdfg(*arguments).code())


@pytest.mark.parametrize(
    ("function", "tables"), [(floats, 1), (pairs, 1), (flags, 1), (numbers, 3), (mixed, 1), (few, 0)]
)
def test_a_long_row_is_a_table(function, tables):
    text = text_of(function, dict(CASES)[function])
    assert text.count("_literals") == 2 * tables + (function is flags)  # equal ones are one table
    assert text.count("[5] = ") == (function is few)


@pytest.mark.cc
@pytest.mark.parametrize("auto", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_values_are_numpys(function, arguments, auto):
    program = dcpy.program(function, auto_optimize=auto)
    for _ in range(2):
        for mine, theirs in zip(_all(program(*arguments)), _all(function(*arguments)), strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)
            assert np.array_equal(np.signbit(mine.real), np.signbit(theirs.real))


def _all(result):
    return result if isinstance(result, tuple) else (result,)
