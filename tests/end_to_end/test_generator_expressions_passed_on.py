"""Generator expressions that functions take as arguments: their names are those of the function that wrote them."""

import numpy as np
import pytest

from tests.support.lowering import refusal, same
from tests.support.oracles import check_same

X = np.array([3.0, 1.0, 2.0, 5.0])


def listed(it):
    n = 10.0
    return np.array(list(it)) + n


def added(it):
    n = 10.0
    return sum(it) + n


def least(it, n=10.0):
    return sorted(it)[0] + n


def doubled(it, n=10.0):
    return np.array([2.0 * w for w in it]) + n


def extended(it, n=10.0):
    found = []
    found.extend(it)
    return found[0] + n


def any_of(it, n=10.0):
    return any(w > n for w in it)


@pytest.mark.parametrize("f", [listed, added, least, doubled, extended, any_of], ids=lambda f: f.__name__)
def test_names_of_the_function_that_asks_for_the_items_are_others(f):
    same(lambda x, n: f(v * n for v in x), X, 3)


def square(v):
    return v * v


def scaled(x):
    n = x[1] + 1
    return (v * n for v in x)


@pytest.mark.cc
def test_names_of_all_kinds():
    def f(x, n):
        c = 2.0 if x[0] > 2 else 3.0
        weights = [1.0, c, x[0]]
        pair = (n, x)
        one = added(v * w + square(v) for v in x for w in weights if w < n)
        two = listed(pair[0] * c + len(weights) * abs(v) + pair[1][0] for v in x)
        return one, two, added(scaled(x)), least((lambda u: u * n + v)(2.0) for v in x)

    check_same(f, X, 3)


@pytest.mark.cc
def test_in_loops():
    def f(x, n):
        s = 0.0
        for i in range(n):
            c = s + i
            s += added(v * c for v in x[i:])
        return s

    check_same(f, X, 3)


def test_refuses_assignments_inside():
    assert "pass a list: `[...]`" in refusal(lambda x: added((w := v) * w for v in x), X)
    same(lambda x: added([v * v for v in x]), X)
