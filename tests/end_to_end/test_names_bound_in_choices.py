"""Names that only one side of a choice binds: ``x > 0 and (y := f(x))``; and names that only one side reads."""

import numpy as np
import pytest

from tests.support.oracles import check_same

A = np.arange(6.0)


@pytest.mark.cc
@pytest.mark.parametrize(("x", "k"), [(1.0, 4), (2.0, 1), (2.0, 4)])
def test_sides_that_bind_one_name(x, k):
    def integers(x, k):
        if (x == 1 and (n := k) > 0) or (k == 1 and (n := k + 5) > 1):
            return n
        return 0

    def floats(x, k):
        n = 1.5
        t = x == 1 and (n := x + k) > 5
        return n, t

    def tuples(x, k):
        n = (1, 2.0)
        t = x == 1 and (n := (k, 3.0))[0] > 2
        return n, t

    def conditional(x, k):
        t = (n := k) if x > 1 else (n := k + 1)
        return n + t

    def chained(x, k):
        n = 0
        t = x < k < (n := k + 2)
        return n, t

    for function in (integers, floats, tuples, conditional, chained):
        check_same(function, x, k)


@pytest.mark.cc
@pytest.mark.parametrize("k", [4, 6])
def test_arrays_and_other_types(k):
    def doubled(a, k):
        n = a
        if k > 5 and (n := a * 2).sum() > 5:
            return n + 1
        return n + 2

    def of_one_side(a, k):
        t = k > 5 and (n := a * 2).sum() > 1
        if t:
            return n
        return a

    def nothing_before(a, k):
        n = None
        if k > 5 and (n := a.sum()) > 3:
            return n
        return a[1]

    for function in (doubled, of_one_side, nothing_before):
        check_same(function, A, k)


@pytest.mark.cc
def test_tests_of_loops():
    def f(a, k):
        i = 0
        while i < 6 and (v := a[i]) < 3:
            i += 1
        else:
            i += 100
        n = 0
        for j in range(k):
            if j % 2 == 0 and (n := n + j) > 3:
                continue
            if j > 4 or (p := a[j]) > 2.5:
                break
        return i, v, n, p, j

    check_same(f, A, 6)


def test_assertions_targets_annotations_and_comprehensions():
    def f(a, k):
        assert k > 3 and (z := k * 2) > 5, "small"  # noqa: PT018, RUF018
        a[k - 3 if k < 3 else (q := 2)] = z
        x: float = 0.5 if k < 3 else (t := a[1] + k)
        kept = [y for v in a if v > 0.2 and (y := v * 2) > 5]
        found = k > 2 and any((h := v) > 3 for v in a)
        return q, x, t, sum(kept), y, h if found else -a[0]

    check_same(f, A, 6, compiled=False)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.cc)])
def test_a_name_without_a_value(compiled):
    def bound_on_a_side(a, k):
        t = k > 8 and (n := k) > 2
        return t, n

    def read_on_a_side(a, k):
        if k > 8:
            n = k
        return (k > 9 and n > 0) or n > 1

    def read_by_a_function(a, k):
        if k > 8:
            n = k

        def inner():
            if k > 9:
                return n
            return 0

        return inner() + n

    for function in (bound_on_a_side, read_on_a_side, read_by_a_function):
        with pytest.raises(UnboundLocalError):
            function(A, 4)
        check_same(function, A, 4, compiled=compiled)
        check_same(function, A, 10, compiled=compiled)
