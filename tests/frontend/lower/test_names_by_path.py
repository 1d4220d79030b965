"""Names by path: one of two arrays, views or functions; other dtypes; None or a number."""

import numpy as np
import pytest

from tests.frontend.lower.control.test_path_splitting import A, relax
from tests.support.lowering import same
from tests.support.oracles import check_same

PATHS = [0, 1]


# -- one of two arrays -------------------------------------------------------------------------------------------------


def argument_or_new(a, c):
    if c:
        a = a + 1
    a[0] = 5
    return a


def argument_or_copy_in_a_loop(a, n):
    for k in range(3):
        if k == n:
            a = a.copy()
        a[k] = -1
    return a


def one_of_two_views(a, c):
    x = a[:4] if c else a[4:]
    x[0] = 9
    x *= 2


def of_other_layout(a, c):
    x = a.reshape(2, 4)
    if c:
        x = x.copy().T.copy().T
    x[0, 0] = -1
    return x[1] + 1


def of_other_rank(a, c):
    x = a
    if c:
        x = a.reshape(2, 4)
    return x[0] * 2


def as_an_argument(a, c):
    relax(a if c else a[::-1], a * 1 if c else a)


def made_on_one_path(a, c):
    x = np.zeros(3)
    if c:
        x = a
    y = x
    y[0] = 4
    return x


def a_function_by_path(a, c):
    f = np.sin if c else np.cos
    return f(a)


def a_tuple_by_path(a, c):
    t = (a, 1) if c else (a, 1, 2)
    return len(t), sum(t[1:])


def a_slice_by_path(a, c):
    s = slice(0, 4) if c else slice(None)
    a[s] = 0


def an_axis_by_path(a, c):
    x = a.reshape(2, 4)
    axis = 0 if c else None
    return np.sum(x, axis=axis)


ONE_OF_TWO = [
    argument_or_new, one_of_two_views, of_other_layout, of_other_rank, as_an_argument, made_on_one_path,
    a_function_by_path, a_tuple_by_path, a_slice_by_path, an_axis_by_path,
]  # fmt: skip


@pytest.mark.parametrize("c", PATHS)
@pytest.mark.parametrize("function", ONE_OF_TWO, ids=lambda function: function.__name__)
def test_one_of_two(function, c):
    same(function, A, c)


@pytest.mark.parametrize("n", [0, 2, 5])
def test_a_copy_in_some_iteration(n):
    same(argument_or_copy_in_a_loop, A, n)


@pytest.mark.cc
@pytest.mark.parametrize("c", PATHS)
def test_one_of_two_compiled(c):
    for function in (argument_or_new, of_other_rank, a_tuple_by_path):
        check_same(function, A, c)


# -- dtypes by path ----------------------------------------------------------------------------------------------------


def complex_from_the_first_iteration_on(x, n):
    """`psi` is float64 before the loop, and complex128 after its first iteration."""
    psi = np.exp(-(x**2))
    for _ in range(n):
        psi = np.exp(-0.1j * x) * psi
    return psi


def its_density(x, n):
    psi = np.exp(-(x**2))
    for _ in range(n):
        psi = np.exp(-0.1j * x) * psi
    return np.abs(psi) ** 2


def float_from_the_first_iteration_on(x, n):
    k = x.astype(np.int64)
    for _ in range(n):
        k = k / 2
    return k


def wider_from_the_second_on(x, n):
    k = x.astype(np.float32)
    for i in range(n):
        if i > 0:
            k = k * x
        k[0] = 0.1
    return k


def known_to_run(x, n):
    psi = x
    for _ in range(3):
        psi = psi * 1j
    psi[0] = n
    return psi


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize(
    "function",
    [
        complex_from_the_first_iteration_on, its_density, float_from_the_first_iteration_on, wider_from_the_second_on,
        known_to_run,
    ],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_dtypes(function, n):
    same(function, A, n, rtol=1e-15)


@pytest.mark.cc
@pytest.mark.parametrize("n", [0, 3])
def test_dtypes_compiled(n):
    check_same(complex_from_the_first_iteration_on, A, n, rtol=1e-14)
    check_same(float_from_the_first_iteration_on, A, n)


# -- None, or a number -------------------------------------------------------------------------------------------------


def none_from_a_helper(a, c):
    def first(c):
        if c:
            return None
        return a[0]

    found = first(c)
    if found is None:
        return np.float64(-1.0)
    return found * 2


def none_before_a_loop(a, c):
    best = None
    for i in range(c, a.shape[0], 9 if c else 1):
        if best is None or a[i] > best:
            best = a[i]
    return best


def none_is_not_a_number(a, c):
    last = None
    if c:
        last = a[1]
    if last is not None:
        a[0] = last


def none_as_a_result(a, c):
    if c:
        return None
    return a[0]


def other_numbers_of_results(a, c):
    if c:
        return a, 1
    return a


def optional(a, x=None):
    return a if x is None else a * x


def optional_arguments(a, c):
    return optional(a) + optional(a, c) + optional(a, x=2.0)


def bounds_that_are_none(a, c):
    """A slice bound that is an integer or None by path."""
    total = 0.0
    for k in range(2):
        total += np.sum(a[k : -1 + k or None])
    return total


def in_an_expression(a, c):
    def scale(c):
        return 3 if c > 0 else None

    return 1.0 if scale(c) is None else 2.0


def returned_in_a_nested_if(a, c):
    def chosen(g, c):
        if c >= 0:
            a[0] = 3
            if c > 0:
                return g(a)
        return a + 100

    return chosen(lambda x: x * 2, c)


NONE = [
    none_from_a_helper, none_before_a_loop, none_is_not_a_number, none_as_a_result, other_numbers_of_results,
    optional_arguments, bounds_that_are_none, in_an_expression, returned_in_a_nested_if,
]  # fmt: skip


@pytest.mark.parametrize("c", PATHS)
@pytest.mark.parametrize("function", NONE, ids=lambda function: function.__name__)
def test_none(function, c):
    same(function, A, c)


@pytest.mark.cc
@pytest.mark.parametrize("c", PATHS)
def test_none_compiled(c):
    for function in (none_before_a_loop, none_as_a_result, other_numbers_of_results, bounds_that_are_none):
        check_same(function, A, c)


def test_none_before_an_empty_loop():
    def f(a):
        best = None
        for x in a:
            if best is None or x < best:
                best = x
        return best

    same(f, A)
    same(f, A[:0])


def test_a_name_that_some_path_has_not_set():
    def f(a, n):
        for k in range(n):
            x = a if k % 2 else a * 2
            x[0] = k
        x[1] = 5
        return x

    same(f, A, 0)
    same(f, A, 1)
    same(f, A, 2)
