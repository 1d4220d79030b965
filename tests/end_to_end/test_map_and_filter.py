"""`map` and `filter` over arrays, ranges, zips and generators: lazy, as in Python."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from tests.support.oracles import check_same as check_all

check_same = functools.partial(check_all, compiled=False)
A = np.array([0.0, 1.5, 2.0, 4.0])


def square(x):
    return x * x


def loops(a):
    s = 0.0
    for v in map(lambda t: t * 2, a):
        s += v
    for v in filter(lambda t: t > 1.75, a):
        s -= v
    for i, v in enumerate(map(math.sqrt, a)):
        s += i * v
    for x, y in zip(a, map(square, a), strict=True):
        s += x * y
    return s


def left_early(a):
    total = 0.0
    for v in map(square, a):
        if v > 3:
            break
        total += v
    return total


def two_at_once(a):
    return sum(map(lambda x, y: x * y, a, a[1:])), list(map(lambda x, k: x * k, a, range(2, 9)))


CASES: list[Callable[[Any], Any]] = [
    loops,
    left_early,
    two_at_once,
    lambda a: (sum(map(lambda v: v * 2, a)), max(map(abs, a)), any(map(lambda v: v > 3, a))),
    lambda a: (list(map(square, a)), tuple(map(float, a)), sorted(map(square, a)), list(map(int, a))),
    lambda a: ([x for x in filter(None, a)], list(filter(lambda v: v != 0, a)), sum(map(square, range(len(a))))),
    lambda a: (sum(map(square, filter(lambda v: v > 1, a))), sum(filter(lambda v: v > 1, map(square, a)))),
    lambda a: (sum(map(lambda p: p[0] * p[1], zip(a, a, strict=True))), sum(map(square, (v for v in a if v > 1)))),
    lambda a: (list(map(np.sum, a.reshape(2, 2))), list(filter(lambda v: v > 1, (a[0], a[2])))),
    lambda a: functools.reduce(lambda x, y: x + y, map(square, a)),
]


@pytest.mark.parametrize("f", CASES)
def test_items_are_those_of_python(f):
    check_same(f, A)


@pytest.mark.cc
def test_compiled_maps_and_filters():
    check_all(loops, A)
    check_all(lambda a: np.array(list(map(square, filter(lambda v: v > 1, a)))), A)


def test_functions_that_assign_variables_around_them_are_carried():
    def f(a):
        calls = 0

        def counted(x):
            nonlocal calls
            calls += 1
            return x

        total = sum(counted(v) for v in a)
        for v in map(counted, a):
            total += v
        return total, calls

    check_same(f, A)


def test_items_are_computed_when_they_are_asked_for():
    def f(a):
        doubled = map(lambda v: 2 * v, a)
        a[0] = 7.0
        return sum(doubled)

    check_same(f, A)


def test_refuses_a_generator_beside_something_else_and_says_what_to_write():
    def beside(a):
        return sum(map(lambda x, y: x * y, (v for v in a if v > 1), a))

    def listed(a):
        return sum(map(lambda x, y: x * y, list(v for v in a if v > 1), a))

    with pytest.raises(FrontendError, match="side by side") as caught:
        dcpy.program(beside).to_sdfg(A)
    assert "make a list of its items first: `list" in str(caught.value)
    check_same(listed, A)
