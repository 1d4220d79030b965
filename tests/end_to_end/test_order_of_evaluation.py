"""Operands are read in Python's order, and keep what they had then, whatever runs before they are used."""

import functools
import math
import operator

import numpy as np
import pytest

from tests.support.oracles import check_same

A8 = np.arange(8.0)


def loops_of_functions_evaluated_in_place(a, n):
    def simpson(f, low, high, n):
        h = (high - low) / n
        s = f(low) + f(high)
        for i in range(1, n):
            s += f(low + i * h) * (4 if i % 2 else 2)
        return s * h / 3

    return (
        simpson(math.sin, 0.0, math.pi, 4),
        simpson(lambda x: x**n, 0.0, 1.0, 4),
        simpson(lambda x: x * n, 0.0, 1.0, 2),
    )


def calls_that_write(a, n):
    def bump(x):
        a[0] = a[0] + x
        return a[0]

    first = a[0] + (bump(1.0) if n > 0 else 0.5) + a[0] * bump(2.0)
    return first, (a[0], a[1] + a[0], (bump(1.0) if n > 0 else bump(3.0)), a[0])


def choices_between_calls_in_a_loop(a, n):
    def total(k):
        r = 0.0
        for i in range(k):
            r += a[i]
        return r

    s = 0.0
    for i in range(3):
        s = s + total(i) * (total(i + 1) if i > n else s + total(2))
    return s


def walrus(a, n):
    x = a[1]
    return x + (x := a[2]) * x, [n, (n := n + 1), n][1]


def kept_in_displays(a, n):
    t, d = [a[0] * 2, a[1]], {"u": a[0], "v": a[1] + 1}
    pairs, bound = zip((1, 2), (a[1], a[2]), strict=True), functools.partial(operator.add, a[0])
    bounds = slice(int(a[1]), n + 5)

    def later(x, y=a[0], *, z=a[1]):
        return x + y + z

    a[:3] = 9
    s = 0.0
    for p, q in pairs:
        s += p * q
    return t[0], t[1], d["u"], d["v"], s, bound(1.0), a[bounds].sum(), later(1.0)


def kept_in_nested_operands(a, n):
    def bump(x):
        a[0] = a[0] + x
        return a[0]

    def total(parts, more):
        return parts["x"] + parts["y"][0] + more

    return total({"x": a[0], "y": (a[0], 1)}, bump(2.0) if n else bump(1.0)), a[slice(0, n + 1)].sum() + bump(1.0)


def kept_beside_a_comprehension_that_binds(a, n):
    s = 0
    while (k := n // 2) > 0:
        s += k
        n = k
    return s, [y for x in range(6) if (y := x * x) % 3]


class Cell:
    def __init__(self):
        self.value = 1.0

    def bump(self):
        self.value = 10.0
        return 1.0

    def __getitem__(self, k):
        return self.value

    def __setitem__(self, k, value):
        self.value = value


def updated_by_what_changes_them(a, n):
    def bump():
        nonlocal k
        a[0] = 10.0
        b[1] = 7
        k = k + 1
        return 1.0

    k, b, cell = 0, [1.0, 2.0], Cell()
    a[0] += bump()
    a[k] += bump()
    a[1:3] += bump()
    a[[0, 3]] *= bump() + n
    b[1] -= bump()
    cell.value += cell.bump()
    before = cell.value
    cell[n] *= cell.bump() + 1
    return a, k, b, before, cell.value


PROGRAMS = [
    updated_by_what_changes_them,
    kept_beside_a_comprehension_that_binds,
    loops_of_functions_evaluated_in_place,
    calls_that_write,
    choices_between_calls_in_a_loop,
    walrus,
    kept_in_displays,
    kept_in_nested_operands,
]


@pytest.mark.parametrize("n", [0, 2])
@pytest.mark.parametrize("program", PROGRAMS)
def test_operands_keep_what_they_had(program, n):
    check_same(program, A8, n, compiled=False, rtol=1e-14)


@pytest.mark.cc
@pytest.mark.parametrize("program", [loops_of_functions_evaluated_in_place, calls_that_write])
def test_operands_keep_what_they_had_in_compiled_code(program):
    check_same(program, A8, 2, rtol=1e-14)


def test_an_array_meets_a_literal_of_its_size():
    def rk2(y, dt, n):
        def slope(t, y):
            return np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0] + t])

        path = np.empty((n, 2))
        for k in range(n):
            half = y + dt / 2 * slope(k * dt, y)
            y = y + dt * slope((k + 0.5) * dt, half)
            path[k] = y
        return path, y

    check_same(rk2, np.array([2.0, 0.0]), 0.05, 4, compiled=False, rtol=1e-12)
    check_same(rk2, np.array([2.0, 0.0, 1.0]), 0.05, 4, compiled=False)  # shapes that do not fit
