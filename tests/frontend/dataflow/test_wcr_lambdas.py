"""Conflict resolutions: functions that are operations of the IR, and functions that are called."""

import operator

import numpy as np
import pytest

import dcpy
from tests.support.explicit import check_pair
from tests.support.lowering import body, refusal

N, M = dcpy.symbols("N M")
X = np.array([3.0, -1.5, 4.0, 1.0, -5.0, 9.0])
I = np.array([3, 1, 4, 1, 5, 9])
B = np.array([True, False, True, True, False, True])


def largest(old, new):
    return max(old, new)


@dcpy.program
def added(old, new):
    return old + new


def run(function):
    """A program that combines all of `x` into ``out[0]`` with a function."""

    def combine(x, out):
        for i in dcpy.map[0 : x.shape[0]]:
            with dcpy.tasklet:
                a << x[i]
                o >> out(1, function)[0]
                o = a

    return combine


FUNCTIONS = [
    (lambda x, y: x + y, "add", X),
    (lambda x, y: y + x, "add", X),
    (lambda x, y: x * y, "mul", X),
    (lambda x, y: min(x, y), "min", X),
    (lambda x, y: max(y, x), "max", X),
    (lambda x, y: np.minimum(x, y), "min", X),
    (lambda x, y: np.maximum(x, y), "max", X),
    (lambda x, y: x if x < y else y, "min", X),
    (lambda x, y: y if x < y else x, "max", X),
    (lambda x, y: x if x >= y else y, "max", X),
    (lambda x, y: x & y, "bitand", I),
    (lambda x, y: x | y, "bitor", I),
    (lambda x, y: x ^ y, "bitxor", I),
    (lambda x, y: x and y, "and", B),
    (lambda x, y: x or y, "or", B),
    (lambda x, y: x != y, "xor", B),
    (largest, "max", X),
    (added, "add", X),
    (operator.add, "add", X),
    (operator.mul, "mul", X),
    (np.add, "add", X),
    (np.minimum, "min", X),
    (max, "max", X),
]


@pytest.mark.parametrize(("function", "name", "x"), FUNCTIONS)
def test_functions_that_are_operations(function, name, x):
    program, out = run(function), x[:1].copy()
    assert f"(o -> out[0] ({name}))" in body(program, x, out)
    combine = function.function if isinstance(function, dcpy.Program) else function

    def twin(x, out):
        for value in x:
            out[0] = combine(out[0], value)

    check_pair(program, twin, x, out)


@pytest.mark.cc
@pytest.mark.parametrize(("function", "name", "x"), FUNCTIONS[::3])
def test_the_same_compiled(function, name, x):
    def twin(x, out):
        for value in x:
            out[0] = function(out[0], value)

    check_pair(run(function), twin, x, x[:1].copy(), compiled=True)


def test_the_second_value_alone_replaces():
    def program(a, b):
        for i in range(3):
            with dcpy.tasklet:
                x << a[i]
                o >> b(1, lambda old, new: new)[0]
                o = x

    def twin(a, b):
        b[0] = a[2]

    check_pair(program, twin, X, np.zeros(1))


def test_other_functions_are_called_where_nobody_else_writes():
    def program(a, b):
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                x << a[i]
                o >> b(1, lambda old, new: old / 2 - new)[i]
                o = x

    def twin(a, b):
        b[:] = b / 2 - a

    check_pair(program, twin, X, X[::-1].copy())

    def number(a):
        s = np.float64(100)
        for i in range(a.shape[0]):
            with dcpy.tasklet:
                x << a[i]
                o >> s(1, lambda old, new: old - new)
                o = x
        return s

    check_pair(number, lambda a: 100 - np.sum(a), X)


def test_arrays_that_are_combined():
    def program(a, h, k):
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                x << a[i]
                j << k[i]
                o >> h(1, lambda p, q: p + q)[:]
                o[j] = x

    def twin(a, h, k):
        np.add.at(h, k, a)

    check_pair(program, twin, X, np.zeros(10), I)

    def rows(a, s):
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                r << a[i, :]
                o >> s(1, lambda p, q: max(p, q))[:]
                o = r

    def rows_twin(a, s):
        s[:] = np.maximum(s, a.max(axis=0))

    check_pair(rows, rows_twin, X.reshape(2, 3), np.zeros(3))


def test_two_results_one_combined():
    def program(a, b, s):
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                x << a[i]
                o >> b[i]
                t >> s(1, lambda p, q: p + q)[0]
                o = x * 2
                t = o

    def twin(a, b, s):
        b[:] = a * 2
        s[0] += np.sum(b)

    check_pair(program, twin, X, np.zeros(6), np.zeros(1))


def test_least_and_greatest_number_of_a_map():
    def program(a):
        low = np.float64(1e9)
        high = np.float64(-1e9)
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                x << a[i]
                p >> low(1, lambda p, q: min(p, q))
                q >> high(1, lambda p, q: max(p, q))
                p = x
                q = x
        return low, high

    check_pair(program, lambda a: (a.min(), a.max()), X)


# -- refusals --------------------------------------------------------------------------------------------------------


def test_functions_that_are_called_need_to_be_alone():
    def program(a, s):
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                x << a[i]
                o >> s(1, lambda p, q: p - q)[0]
                o = x

    found = refusal(program, X, np.zeros(1))
    assert "this function is no conflict resolution that dcpy knows" in found
    assert "iterations of the map may write the same elements" in found


def test_a_resolution_takes_two_values():
    def program(a, s):
        with dcpy.tasklet:
            x << a[0]
            o >> s(1, lambda p: p)[0]
            o = x

    assert "a conflict resolution takes two values, not 1" in refusal(program, X, np.zeros(1))


def test_a_resolution_is_a_function():
    def program(a, s):
        with dcpy.tasklet:
            x << a[0]
            o >> s(1, 5)[0]
            o = x

    assert "a conflict resolution is a function, not 5" in refusal(program, X, np.zeros(1))


def test_inputs_have_no_resolution():
    def program(a, s):
        with dcpy.tasklet:
            x << a(1, lambda p, q: p + q)[0]
            o >> s[0]
            o = x

    assert "the memlet of 'x' is read, and has a conflict resolution" in refusal(program, X, np.zeros(1))


def test_what_is_combined_is_not_read():
    def program(a, h):
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                x << a[i]
                o >> h(1, lambda p, q: p + q)[:]
                o[0] = x + o[1]

    assert "the tasklet reads 'o', whose writes are combined" in refusal(program, X, np.zeros(3))
