"""Positions of what is not zero, and what conditions select."""

import numpy as np
import pytest

from tests.support.lowering import refusal, same

X = np.array([[0, 3, -1], [2, 0, 0]])


@pytest.mark.parametrize("a", [X, X * 0.5, X > 0, X[:0], np.zeros(4)])
def test_positions(a):
    def f(a):
        total = 0
        for place in np.flatnonzero(a):
            total = 10 * total + place
        for axis in np.nonzero(a):
            total += axis.sum()
        places = np.argwhere(a)
        return total, len(a.nonzero()[0]), places.shape[1], (places * 2 + 1).sum()

    same(f, a)


def test_where_with_a_condition_only():
    def f(a):
        rows, columns = np.where(a != 0)
        a[rows, columns] = 7
        return rows.sum()

    same(f, X.copy())


@pytest.mark.parametrize("a", [X, X.T, X[:, ::-1]])
def test_selected_elements_and_slices(a):
    def f(a):
        every = np.compress([True, False, True, True], a)
        rows = np.compress(a[:, 0] > -1, a, axis=0)
        columns = a.shape[1] + np.compress(a[0] > 0, a, axis=1).shape[1]
        return np.extract(a > 0, a).sum(), every[0], len(every), rows.sum(), columns

    same(f, a)


def test_numbers_have_no_positions():
    def f(x):
        return len(np.nonzero(x))

    assert "np.nonzero of a number" in refusal(f, 3.0)
