"""Unpacking of arrays, lists, generators and iterators whose length is known at run time only."""

from collections import namedtuple

import numpy as np
import pytest

from tests.support.oracles import check_same

A = np.arange(6.0)


def two(x):
    yield x
    yield x * 2


@pytest.mark.cc
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_starred_name_takes_what_is_left(n):
    def f(a, n):
        x, y, *_ = a
        *start, z = a
        (p, q), *rows = a.reshape(3, 2)[: min(n, 3)]
        first, *middle, last = a[:n]
        return first + last, len(middle), np.array(middle).sum(), x, y, z, len(start), start[1], p, q, len(rows)

    check_same(f, A, n)


def test_rows_of_a_loop():
    def f(m):
        total = 0.0
        for first, *rest in m:
            total += first * sum(rest)
        return total

    check_same(f, A.reshape(3, 2), compiled=False)


@pytest.mark.parametrize("low", [1.0, 3.0, 4.0])
def test_lists(low):
    def f(a, low):
        u, v = [x for x in a if x > low]
        return u, v

    def starred(a, low):
        *u, v = [x for x in a if x > low]
        return len(u), v

    check_same(f, A, low, compiled=False)
    check_same(starred, A, low, compiled=False)


def test_generators_and_iterators():
    def f(x, y):
        a, b = two(x)
        c, *d = two(y)
        p, q = iter((x, y))
        return a, b, c, d[0], p, q

    check_same(f, 1.5, 2.5, compiled=False)


@pytest.mark.cc
@pytest.mark.parametrize("n", [2, 3])
def test_arrays_of_lists_and_ranges(n):
    def f(a, n):
        table = np.array([[i * j + k for j in range(n)] for i in range(4) for k in range(2)])
        ranges = np.array([range(n), range(1, n + 1)])
        return table, ranges, np.array([[v for v in a if v < n], [1, 2, 3]]), np.vstack([[x for x in a], a])

    check_same(f, A, n)


Span = namedtuple("Span", "low high")


def model(t, a, b, c):
    return a * np.exp(-b * t) + c


@pytest.mark.cc
@pytest.mark.parametrize("n", [2, 3])  # 3: TypeError
def test_starred_arguments_where_the_function_says_how_many(n):
    def f(p, t, m, n):
        difference = lambda u, v: u - v  # noqa: E731
        span = Span(*m)
        some = difference(*p[1:]), span.high - span.low, np.hypot(*p[:2]), difference(*[v for v in p if v > 1])
        return some, model(t, *p), model(t, *p[:n], 1.0), model(*p[: n + 1], c=1.0)

    check_same(f, np.array([1.0, 2.0, 3.0]), np.arange(4.0), np.arange(8.0).reshape(2, 4), n)


def test_too_few_starred_arguments():
    def f(p, t):
        return model(t, *p[1:])

    check_same(f, A[:3], A, compiled=False)
