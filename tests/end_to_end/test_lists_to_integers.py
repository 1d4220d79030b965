"""Lists of floats become arrays of integers as NumPy makes them: NaN and infinities raise, item by item."""

import math

import numpy as np
import pytest

from tests.support.lists import check_lists

NAN, INFINITE, PLAIN = np.array([1.0, math.nan]), np.array([1.0, -math.inf]), np.array([2.5, -1.5])
UNSIGNED = np.array([300.0, 1.0])


def stored(x):
    z = np.zeros(2, np.int64)
    z[:] = [v for v in x]
    return z


def stored_at(x):
    z = np.zeros(4, np.int64)
    z[np.array([0, 2])] = [v for v in x]
    return z


FUNCTIONS = [
    lambda x: np.array([v for v in x], int),
    lambda x: np.array([float(v) for v in x], np.int32),
    lambda x: np.array(list(x), int),
    lambda x: np.asarray([v for v in x], dtype="i8"),
    lambda x: np.array([[v, 2 * v] for v in x], int),
    lambda x: np.array([(v, 1) for v in x], np.int16),
    stored,
    stored_at,
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_raises_as_numpy(function):
    for x in (NAN, INFINITE, PLAIN):
        check_lists(function, x, words=x is NAN)


@pytest.mark.cc
def test_compiled():
    for x in (NAN, INFINITE, PLAIN):
        check_lists(FUNCTIONS[0], x, words=x is NAN, compiled=True)


def test_unsigned_integers_take_numpys_floats_as_they_are_and_check_python_s():
    check_lists(lambda x: np.array([v for v in x], np.uint8), UNSIGNED)
    check_lists(lambda x: np.array([float(v) for v in x], np.uint8), UNSIGNED)


def test_arrays_in_lists_are_cast():
    check_lists(lambda x: np.array([v * np.ones(2) for v in x], int), PLAIN)


def stored_items(x):
    z = np.zeros((2, 2), np.int64)
    z[:] = [[x[0], 1], (x[1], 2.5)]
    return z


def stored_integers(n):
    z = np.zeros(2, np.int8)
    z[:] = (n, 1)
    return z


def test_items_that_are_written_out_raise_as_numpy():
    for x in (NAN, INFINITE, PLAIN):
        check_lists(stored_items, x, words=x is NAN)
    for n in (300, -7):
        check_lists(stored_integers, n)


@pytest.mark.cc
def test_stored_by_compiled_code():
    for x in (NAN, INFINITE, PLAIN):
        check_lists(stored, x, words=x is NAN, compiled=True)
