"""Branches: what names stand for where paths meet, conditional expressions, short circuits."""
# ruff: noqa: SIM108  (the programs are spelled as users do)

import numpy as np
import pytest

from tests.support.lowering import body, refusal, refused_line, same

A = np.arange(8) * 1.5 - 3


@pytest.mark.parametrize("n", [1, 3])
def test_rebinding_an_argument_in_a_branch(n):
    def f(a, n):
        if n > 2:
            a = a + 1
        return a

    same(f, A, n)


@pytest.mark.parametrize("n", [1, 3])
def test_fresh_arrays_meet(n):
    def f(a, n):
        if n > 2:
            b = a + 1
        else:
            b = a * 2
        b[0] = 7
        return b

    same(f, A, n)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_early_returns(n):
    def f(a, n):
        if n == 0:
            return a * 2
        if n == 1:
            return a + 1
        b = a - 1
        return b

    same(f, A, n)


def test_a_name_that_differs_but_is_not_used_again():
    def f(a, n):
        if n > 0:
            x = a
            y = x[0]
        else:
            x = a[0]
            y = x
        return y

    same(f, A, 1)
    same(f, A, 0)


@pytest.mark.parametrize("i", [-1, 0, 3])
def test_what_is_not_chosen_is_not_run(i):
    def f(a, i):
        if i > 0 and a[i - 1] < 2:
            return 1
        x = a[i] if 0 <= i < len(a) else 0.5
        return 2 if i < 0 or a[100 if i > 5 else 0] < 0 else int(x)

    same(f, A, i)


def test_conditions_known_at_compile_time_leave_no_branch():
    def f(a, mode=None):
        if mode is None and a.ndim == 1:
            a[0] = 1
        else:
            a[0, 0] = 2

    assert body(f, A) == "check N - 1 >= 0 else IndexError \"index {0} is out of bounds for axis 0 with size {1}\" " \
        "(index(0), N)\nstate {\n  tasklet () -> (out -> a[0]) { out = 1.0 }\n}"  # fmt: skip


def test_elif_is_one_branch():
    def f(a, n):
        if n > 2:
            a[:] = 1
        elif n > 1:
            a[:] = 2
        else:
            a[:] = 3

    assert body(f, A, 1).count("elif") == 1
    same(f, A, 2)


def test_dtypes_by_path():
    def f(a, n):
        if n > 0:
            x = a
        else:
            x = a.astype(np.float32)
        return x * 2

    same(f, A, 1)
    same(f, A, 0)


def test_a_name_without_a_value_on_one_side():
    def f(n):
        if n > 0:
            y = 1
        return y

    same(f, 1)
    same(f, 0)  # raises UnboundLocalError


def test_a_name_without_a_value_on_the_side_that_goes_on():
    def f(n):
        if n > 0:
            y = 1
            return y
        return y

    assert "cannot access local variable 'y'" in refusal(f, 1)


def test_a_name_that_the_first_iteration_sets():
    def f(a):
        for i in range(4):
            if i == 0:
                last = a[0]
            else:
                a[i] += last
                last = a[i]
        return last

    same(f, A)


def test_writing_to_one_of_two_arrays():
    def f(a, n):
        if n > 0:
            b = a
        else:
            b = a * 2
        b[0] = 1
        return b

    same(f, A, 1)
    same(f, A, 0)


def test_reading_one_of_two_arrays_is_fine():
    def f(a, n):
        b = a if n > 0 else a * 2
        return b.sum()

    same(f, A, 0)
    same(f, A, 1)


def test_the_truth_of_an_array():
    def f(a):
        if a > 0:
            return 1
        return 0

    assert refusal(f, A) == (
        "error[frontend.raises]: The truth value of an array with more than one element is ambiguous. "
        "Use a.any() or a.all()\n"
        "  = note: NumPy raises ValueError here\n"
        "  = help: write `if a.any():` or `if a.all():`; masks are combined with `&`: (a > 0) & (a < 1)"
    )
    assert refused_line(f, A) == "if a > 0:"


def test_results_of_different_types():
    def f(n):
        if n > 0:
            return 1
        return 2.5

    same(f, 1)
    same(f, 0)


def test_assert_and_raise():
    def f(a, n):
        assert n > 3, f"n is {n}"
        if a[0] > 5:
            raise ValueError("too large")
        return a.copy()

    same(f, A, 4)
    same(f, A + 100, 4)
    from tests.support.lowering import text

    assert 'else AssertionError "n is {0}" (n)' in text(f, A, 4)


def test_code_that_would_raise_raises_where_it_is_reached():
    table = np.zeros(3)

    def f(a, n):
        x = table[5] if n > 5 else 1.0
        if n > 3:
            a[:] = np.ones((2, 3))
        for _ in range(n):
            x += table[0]
        return x

    same(f, A, 1)
    same(f, A, 4)
    same(f, A, 6)


def test_tests_need_not_agree_on_a_type():
    def f(a, k):
        if (k and np.any(a > 0)) or not k:
            return 1
        return 2

    same(f, A, 0)
    same(f, -np.abs(A), 3)
    same(lambda a, k: k and a[0] > 0, A, 3)
    same(lambda a, k: k and a[0] > 0, A, 0)
