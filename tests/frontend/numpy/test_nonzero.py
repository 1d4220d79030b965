"""Positions of what is not zero, and what conditions select."""

import numpy as np
import pytest

from tests.support.lowering import lower, refusal, same

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


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 200])
def test_blocks_of_flags(size):
    def f(a):
        return np.flatnonzero(a).sum(), a[a > 0].sum(), np.flatnonzero(a[::-1]).sum()

    same(f, np.arange(size) % 7 - 3)
    same(f, np.zeros(size, int))


TABLE = np.arange(24.0)


@pytest.mark.parametrize("z", [TABLE[:12].reshape(3, 4), TABLE[:12].reshape(4, 3).T, TABLE.reshape(3, 4, 2)])
def test_a_mask_is_searched_once(z):
    def f(z):
        m = (np.arange(3)[:, None] + np.arange(4)) % 2 == 0
        z[m] = z[m] * 2 + z[m] ** 2
        return z[m].sum()

    same(f, z.copy())
    searches = [name for name in lower(f, z).sdfg.assigned_symbols if name.startswith("n")]
    assert len(searches) == 1 or not z.flags.c_contiguous


def test_a_mask_that_changes_is_searched_again():
    def f(a, m, k):
        first = a[m].sum()
        m[0] = not m[0]
        second = a[m].sum()
        view = m[1:]
        view[:] = False
        third = a[m].sum()
        for i in range(2):
            third += 10 * a[m].sum()
            np.logical_not(m, out=m)
        if k > 0:
            np.logical_not(m, m)
        fourth = a[m].sum() + a[m].sum()
        total = 0.0
        while k < 3:
            total += a[k:][m[k:]].sum()
            k += 1
            total += a[k:][m[k:]].sum()
        return first, second, third, fourth, total

    for k in (0, 1):
        same(f, np.arange(1.0, 6.0), np.array([True, False, True, True, False]), k)


def test_positions_that_the_user_sees_are_the_users():
    def f(a):
        m = a > 1
        mine = np.flatnonzero(m)
        first = a[m].sum()
        mine += 1
        mine[:] = 0
        return first, a[m].sum(), np.flatnonzero(m).sum()

    same(f, np.arange(5.0))
