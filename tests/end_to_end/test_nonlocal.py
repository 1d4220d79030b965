"""Nested functions that assign variables of the functions around them.

Section 3 of what real use found: "`nonlocal` in nested functions".
"""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

A = np.arange(10.0)


def counted(a, n):
    count = 0

    def increase():
        nonlocal count
        count += 1

    for _ in range(n):
        increase()
    return a + count, count


def summed(a, n):
    def total():
        found = np.float64(0.0)

        def add(value):
            nonlocal found
            found += value
            return found

        for i in range(n):
            add(a[i])
        return found

    return total(), total() + n


def by_another_one(a, n):
    count, last = 0, np.float64(-1.0)

    def step(k):
        nonlocal count, last
        if k % 2 == 0:
            count = count + k
        last = a[k]

    def twice(k):
        before = count
        step(k)
        step(k + 1)
        return count - before

    total = 0
    for k in range(n):
        if a[k] > 1:
            total += twice(k)
    return count, last, total


def of_two_levels(a, n):
    x = 0

    def outer():
        y = 1

        def inner():
            nonlocal x, y
            x += y
            y *= 2

        for _ in range(n):
            inner()
        return y

    return outer(), outer(), x


def arrays(a, n):
    current = a

    def advance():
        nonlocal current
        current[0] += 1
        current = current * 2

    for _ in range(n):
        advance()
    return current.sum()


def with_early_returns(a, n):
    calls = 0

    def search(value):
        nonlocal calls
        calls += 1
        for i in range(len(a)):
            if a[i] == value:
                return i
        calls += 10
        return -1

    return search(3.0), search(50.0), calls


def operands_first(a, n):
    c = 1

    def bump():
        nonlocal c
        c += n + 1
        return c

    x = c + bump() * 10 + c
    while True:
        bump()
        if c > 20:
            break
    return x, c


def shadowed(a, n):
    c = 1

    def own():
        c = 5
        return c

    def other():
        nonlocal c
        c += own()

    other()
    return c, own()


def in_choices(a, n):
    calls, seen = 0, np.zeros(2)

    def step(x, k=3, *, scale=2.0):
        nonlocal calls, seen
        calls += 1
        seen = seen + x
        return x * scale + k

    x, hits = 2.0, 0
    for i in range(n):
        x = step(x) if i % 2 else step(x, i, scale=0.5)
        if step(a[i]) > 5 and step(a[i + 1]) > 7:
            hits += 1
        hits = hits + (3 if step(a[i]) > 6 and n > 1 else 2)
        x = x + 2 * (step(x) if x > 4 else step(-x) if x > 3 else 0.0)
    return x, calls, seen, hits


PROGRAMS = [
    counted, summed, by_another_one, of_two_levels, arrays, with_early_returns, operands_first, shadowed, in_choices,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_s3_nested_functions_assign_what_is_around_them(f, n):
    check_same(f, A, n, compiled=False)


@pytest.mark.cc
@pytest.mark.parametrize("f", [counted, by_another_one, arrays, in_choices], ids=lambda f: f.__name__)
def test_s3_nested_functions_assign_when_compiled(f):
    check_same(f, A, 4)


def test_s3_assignments_from_elsewhere_are_refused():
    def apply(function):
        return function()

    def handed_on(a, n):
        c = 0

        def bump():
            nonlocal c
            c += 1
            return c

        return apply(bump)

    def in_a_comprehension(a, n):
        c = 0

        def bump():
            nonlocal c
            c += 1
            return c

        return [bump() if x > n else 0 for x in a]

    outside = 3

    def of_the_test(a, n):
        nonlocal outside
        outside = n
        return a

    with pytest.raises(dcpy.FrontendError, match="called by another function"):
        dcpy.program(handed_on)(A, 1)
    with pytest.raises(dcpy.FrontendError, match="inside of an expression"):
        dcpy.program(in_a_comprehension)(A, 1)
    with pytest.raises(dcpy.FrontendError, match="variables of a function around the program are never written"):
        dcpy.program(of_the_test)(A, 1)
