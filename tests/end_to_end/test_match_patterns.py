"""Patterns of ``match``: sequences, classes, mappings, alternatives and guards that bind names."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

Span = namedtuple("Span", "low high")


@dataclass
class Circle:
    r: float


@dataclass
class Rectangle:
    w: float
    h: float


def area(shape):
    match shape:
        case Circle(r):
            return 3 * r**2
        case Rectangle(w=w, h=h) if w == h:
            return w**2
        case Rectangle(w, h=h):
            return w * h
        case Span(low, high):
            return high - low
        case _:
            raise TypeError("no shape")


@pytest.mark.cc
@pytest.mark.parametrize("k", [2, 3, 7])
def test_sequences_guards_and_alternatives(k):
    def f(a, k):
        out = np.zeros(4, dtype=np.int64)
        for i, v in enumerate(a):
            match (v % 2, k):
                case (0, 3):
                    out[i] = 1
                case (1, n) if n > v:
                    out[i] = n * 10
                case (0, n) | (n, 7):
                    out[i] = n + 100
                case (x, y):
                    out[i] = x + y
        return out

    check_same(f, np.array([0, 3, 1, 5]), k)


@pytest.mark.cc
def test_classes():
    def f(x, y):
        return area(Circle(x)), area(Rectangle(x, x)), area(Rectangle(x, y)), area(Span(x, y))

    check_same(f, 1.5, 2.5)
    with pytest.raises(TypeError, match="no shape"):
        dcpy.program(area)(3)


@pytest.mark.cc
def test_each_kind_of_value_meets_its_pattern():
    def f(x, y):
        t = 0.0
        for s in ((x, y), [x], x, 3, "abc", None, {"k": x, "v": 2}, (1, 2, 3, x), ()):
            match s:
                case [a]:
                    t += a * 7
                case (a, b):
                    t += a * b * 2
                case int(i):
                    t += i * 11
                case float():
                    t += 0.25
                case str(n):
                    t += len(n) * 13
                case None:
                    t += 17
                case {"k": v, "v": 2}:
                    t += v * 19
                case []:
                    t += 23
                case [first, *middle, last]:
                    t += first + len(middle) * 29 + middle[1] - last
        return t

    check_same(f, 1.5, 2.5)


@pytest.mark.cc
@pytest.mark.parametrize("low", [0.0, 3.0, 6.0, 9.0])
def test_lists_of_a_length_known_at_run_time(low):
    def f(a, low):
        match [v for v in a if v > low]:
            case []:
                return -a[0]
            case [x]:
                return x
            case [x, y]:
                return x * y
            case [x, *_]:
                return x
        return a[0]

    check_same(f, np.array([5.0, 2.0, 8.0]), np.float64(low))


def test_an_array_is_no_sequence():
    def f(a):
        match a:
            case [_, _]:
                return 1
            case np.ndarray():
                return 2
        return 3

    check_same(f, np.arange(2.0), compiled=False)


def test_patterns_inside_of_patterns():
    def f(x, y):
        match ((x, y), {"op": "add", "n": (x, 2)}):
            case ((3, q), {"op": "sub"}):
                return q
            case ((a, b), {"op": "add" | "plus" as op, "n": (c, _)}) if a + b > 3:
                return a * b + c + len(op)
        return 0

    check_same(f, 3, 4, compiled=False)


def test_a_guard_that_fails_has_bound_its_names():
    def f(x, y):
        n = 9
        match (x, y):
            case (2, n) if n > 5:
                return 1, n
            case (m, 3):
                pass
        return n, m

    check_same(f, 2, 3, compiled=False)


def test_names_of_the_module_change_nothing():
    def f(x, len):
        match (x, len):
            case (a, 3):
                return a
        return 0

    check_same(f, 2, 3, compiled=False)
