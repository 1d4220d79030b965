"""Order among few items, which run-time values decide: `sorted`, `list.sort`, `min` and `max` with keys."""

import functools

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from tests.support.oracles import check_same as check_all

check_same = functools.partial(check_all, compiled=False)
ORDERS = [(3.0, 1.0, 2.0), (1.0, 2.0, 3.0), (2, 2, 1), (np.float32(3), np.float32(-1), np.float32(3))]


def middle(a, b, c):
    return sorted([a, b, c])[1]


def backward(a, b, c):
    x, y, z = sorted((a, b, c), reverse=True)
    return x, y * 10, z * 100


def pairs(a, b, c):
    return sorted([(a, 1), (b, 2), (c, 3)])


def by_a_key(a, b, c):
    found = [(a, 1), (b, 2), (c, 3)]
    found.sort(key=lambda pair: -pair[0])
    found.append((a, 4))
    return found


def equal_ones_stay(a, b, c):
    keyed = [(a, "first"), (b, "first"), (c, "first"), (a, "first")]
    return sorted(keyed, key=lambda t: t[0] > 1), sorted(keyed, key=lambda t: t[0] > 1, reverse=True)


def by_tuples(a, b, c):
    return sorted([a, b, c], key=lambda x: (x > 1, -x))


def extrema(a, b, c):
    points = [(a, b), (b, c), (c, a)]
    nearest = min(points, key=lambda p: abs(p[0] - p[1]))
    return nearest, max(points), max(a, -b, key=abs), min((a, 1), (b, 0))


@pytest.mark.parametrize("f", [middle, backward, pairs, by_a_key, equal_ones_stay, by_tuples, extrema])
@pytest.mark.parametrize("items", ORDERS, ids=str)
def test_order_of_few_items_is_that_of_python(f, items):
    check_same(f, *items)


def test_positions_are_sorted_by_elements():
    def f(a):
        return sorted(range(4), key=lambda i: a[i]), sorted(range(len(a)), key=lambda i: -a[i])

    check_same(f, np.array([3.0, -1.0, 2.0, 2.0]))


@pytest.mark.cc
def test_median_of_nine_neighbours():
    def medians(a):
        out = np.zeros_like(a)
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                window = [a[i + p, j + q] for p in (-1, 0, 1) for q in (-1, 0, 1)]
                window.sort()
                out[i, j] = window[4]
        return out

    check_all(medians, np.random.default_rng(0).random((7, 6)))


def test_rows_of_run_time_length_are_sorted_column_by_column():
    def f(d, k):
        both = sorted(zip(d, k, strict=True), reverse=True)
        mixed = sorted(d, key=lambda v: (v > 1, v))
        places = sorted(range(len(d)), key=lambda i: (d[i], -k[i]))
        return both, mixed, places

    check_same(f, np.array([3.0, 1.0, 3.0, 2.0, 1.0]), np.array([1.0, 5.0, 0.0, 1.0, 2.0]))


def test_refuses_items_that_differ_in_kind_and_says_what_to_write():
    def differ(n, x):
        return sorted([n, x])

    def alike(n, x):
        return sorted([float(n), x])

    with pytest.raises(FrontendError, match="an integer or a scalar float64, depending on their values") as caught:
        dcpy.program(differ).to_sdfg(3, 2.5)
    assert "convert all to one type" in str(caught.value)
    check_same(alike, 3, 2.5)


def test_refuses_lists_as_items_and_says_what_to_write():
    def lists(a, b):
        rows = [[a, 1], [b, 2]]
        rows.sort()
        return rows

    def tuples(a, b):
        rows = [(a, 1), (b, 2)]
        rows.sort()
        return rows

    with pytest.raises(FrontendError, match="their order is known at run time only") as caught:
        dcpy.program(lists).to_sdfg(3.0, 2.5)
    assert "use tuples, `(a, b)`" in str(caught.value)
    check_same(tuples, 3.0, 2.5)
