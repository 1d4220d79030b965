"""Counters: names that 64 bits hold whatever the run does, so that nobody checks their steps."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.lowering import body, same
from tests.support.numpy_records import interpreted


def steps(a):
    count = 0
    for x in a:
        if x > 0:
            count += 1
    return count


def runs(a):
    longest = current = 1
    for i in range(1, len(a)):
        current = current + 1 if a[i] == a[i - 1] else 1
        if current > longest:
            longest = current
    return longest


def two(a):
    left = right = 0
    for x in a:
        if x > 0:
            left = right + 2
        else:
            right = left - 1
    return left, right


def pairs(a):
    longest, (current, [last]) = 1, (1, [a[0]])
    for x in a[1:]:
        current, last = current + 1 if x == last else 1, x
        longest, _ = max(longest, current), 0
    return longest


def started_far(a):
    n, first = 2**50, a[0]
    for x in a:
        n, _ = n + 1 if x == first else 0, first
    return n


def doubled(a):
    n, m = 1, 1
    for _ in a:
        m = n
        n = n + m
    return n


def taken(a):
    first = len(a)
    rest = 2**50
    for _ in a:
        rest = rest + 1 if first else 0
    return rest


@pytest.mark.parametrize(
    ("function", "checked"),
    [(steps, 0), (runs, 0), (two, 0), (pairs, 0), (started_far, 1), (doubled, 1), (taken, 1)],
)
def test_counters_are_not_checked(function, checked):
    a = np.array([1, 1, 3, 3, 3, -1])
    assert body(function, a).count("_fits(") == checked
    same(function, a)


def test_what_may_double_is_checked():
    with pytest.raises(OverflowError, match="does not fit into the 64 bits"):
        interpreted(doubled, np.ones(64, np.int64))


def bound_by_a_condition(n):
    x = 1
    while (x := x * 2) > 0 and n > 0:
        x, n = x + 1, n - 1
    return x


def bound_by_a_branch(n):
    x = 1
    for _ in range(n):
        if (x := x * 2) > 0:
            x += 1
    return x


def bound_by_a_choice(n):
    x = 1
    for _ in range(n):
        x = x + 1 if (x := x * 2) > 0 else 0
    return x


@pytest.mark.parametrize("function", [bound_by_a_condition, bound_by_a_branch, bound_by_a_choice])
def test_names_that_an_expression_binds_as_well_are_no_counters(function):
    same(function, 5)
    with pytest.raises(OverflowError, match="does not fit into the 64 bits"):
        interpreted(function, 70)
