"""Numbers whose kind (int, float, np.float64) the path decides: loops that run not at all, branches, calls."""

import numpy as np
import pytest

from tests.support.lowering import same, text

A = np.arange(6.0).reshape(2, 3)
EMPTY = [A, A[:0], A[:, :0]]
SINGLE = A.astype(np.float32)


def replaced(a, n):
    x = 1
    for i in range(n):
        x = a[i, 0] * 0.5
    return x


def added(a, n):
    s = 0
    for i in range(n):
        s += a[i, 1]
    return s, s + 1, [s], {"s": s}


def python_float(a, n):
    s = 0
    for _ in range(n):
        s += 0.5
    return s


def python_complex(a, n):
    z = 0
    for _ in range(n):
        z = z * z + 0.5j
    return z


def numpy_int_first(a, n):
    x = a.astype(np.int64)[1, 1]
    for _ in range(n):
        x = x * 0.5
    return x


def size_first(a, n):
    x = a.shape[0]
    for _ in range(n):
        x = x * 0.5
    return x, x + 1


def complex_item(a, n):
    s = 0.0
    for i in range(n):
        s += a[i, 0] * 1j
    return s


def left_at_once(a, n):
    s = 0
    for i in range(len(a)):
        if i >= n:
            break
        s += a[i, 2]
    return s


def skipped(a, n):
    s = 7
    for i in range(len(a)):
        if i >= n:
            continue
        s = a[i, 2]
    return s


def endless(a, n):
    x, i = 7, 0
    while True:
        if i >= n:
            break
        x = a[i, 0]
        i += 1
    return x


def with_a_test(a, n):
    x, t = 1, float(n)
    while t > 0:
        x = t / 2
        t -= 1.0
    return x


def one_of_two_loops(a, n):
    s = 0
    for i in range(n):
        s += a[i, 0]
    for i in range(n - 1):
        s += a[i, 1]
    return s


def chosen_later(a, n):
    s = 1
    for i in range(n):
        s = a[i, 0]
    t = s if n < 5 else 2
    return t, isinstance(s, float)


def summed(a):
    s = 0
    for x in a:
        s += x
    return s


def by_a_function(a, n):
    x = summed(a[:n, 1])
    return x, x * 2


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize(
    "function",
    [replaced, added, python_float, python_complex, numpy_int_first, size_first, complex_item, left_at_once, skipped,
     endless, with_a_test, one_of_two_loops, chosen_later, by_a_function],
)  # fmt: skip
def test_a_loop_that_may_not_run_leaves_the_kind(function, n):
    same(function, A, n)


def total(a):
    s = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


def last_item(a):
    s = 1
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = a[i, j]
    return s


def two_inner_loops(a):
    s = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
        for j in range(1, a.shape[1]):
            s -= a[i, j]
    return s


@pytest.mark.parametrize("function", [total, last_item, two_inner_loops])
@pytest.mark.parametrize("a", EMPTY, ids=["full", "no rows", "no columns"])
def test_loops_in_loops_that_may_not_run(function, a):
    same(function, a)


def float_of_python_first(a, n):
    s = 0.1
    for i in range(n):
        s = a[i, 0]
    return s


def dtypes_behind_the_loop(a, n):
    s = 1.5
    for i in range(n):
        s = a[i, 0] + s
    return s * 2.0, a * s, np.full(2, s), s


@pytest.mark.parametrize("n", [0, 2])
@pytest.mark.parametrize("function", [float_of_python_first, dtypes_behind_the_loop])
def test_a_shorter_dtype_than_that_of_python_floats(function, n):
    same(function, SINGLE, n)


def set_in_a_branch(a):
    x = 1
    if a[1, 1] > 3:
        x = a[0, 1]
    return x, x * 2


def set_in_two_branches(a):
    if a[1, 1] > 3:
        x = 2
    elif a[1, 1] > 1:
        x = 2.5
    else:
        x = np.float32(3)
    return x, np.ones(2, dtype=np.float32) * x


@pytest.mark.parametrize("function", [set_in_a_branch, set_in_two_branches])
@pytest.mark.parametrize("offset", [-3.0, -1.0, 0.0])
def test_a_branch_decides_the_kind(function, offset):
    same(function, A + offset)


def test_the_body_of_the_loop_stays_as_it_is():
    def f(a, n):
        s = 0
        for i in range(n):
            s += a[i]
        return s

    printed = text(f, A[0], 2)
    assert printed.count("loop ") == 1
    assert "version" not in printed[printed.index("loop ") : printed.index("a_in")]


def test_a_loop_that_is_known_to_run_needs_no_states():
    def f(a):
        s = 0
        for i in range(3):
            s += a[i]
        return s

    assert "version" not in text(f, A[0])
    same(f, A[0])
