"""Arithmetic of tuples and lists is Python's: they repeat, they are joined, and nothing else."""

import functools

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import DcpyError
from tests.support.oracles import check_same as check_all

check_same = functools.partial(check_all, compiled=False)
WRONG = [
    lambda x: x * 2 + 1,
    lambda x: 1 + x,
    lambda x: x - x,
    lambda x: x * x,
    lambda x: x * 1.5,
    lambda x: 2.0 * x,
    lambda x: x / 2,
    lambda x: x**2,
    lambda x: x + [1],  # noqa: RUF005
    lambda x: [1] + x,  # noqa: RUF005
    lambda x: list(x) - [1, 2],
    lambda x: x @ x,
    lambda x: -x,
    lambda x: x + None,
    lambda x: np.float32(2) * x,
    lambda x: x * np.float64(2),
    lambda x: np.bool_(True) * list(x),
]
RIGHT = [
    lambda x: (x * 2, 2 * x, x * True, x + x, [0] * x[0], x * np.int64(2), np.int8(2) * list(x)),
    lambda x: (x + np.float64(1), x + np.ones(2), np.ones(2) - list(x), np.add(x, 1), np.array(x) + x),
]


@pytest.mark.parametrize("f", WRONG)
def test_other_operations_raise_what_python_raises(f):
    with pytest.raises(TypeError) as expected:
        f((2, 3))
    with pytest.raises(DcpyError) as caught:
        dcpy.program(f).to_sdfg((2, 3))
    assert isinstance(caught.value, TypeError)
    assert str(expected.value) in str(caught.value)
    assert "test_sequence_operators.py:" in str(caught.value)


@pytest.mark.parametrize("f", RIGHT)
def test_repetition_concatenation_and_operations_of_numpy(f):
    check_same(f, (2, 3))


def test_a_run_time_operand_raises_where_it_is_reached():
    def f(a, n):
        found = [v for v in a if v > 0]
        if n > 1:
            return len(found + 1)
        return len(found)

    check_same(f, np.array([1.0, -1.0]), 1)
    check_same(f, np.array([1.0, -1.0]), 2)


def test_assignments_in_place():
    def made_an_array(a):
        x = [1.0, 2.0]
        y = x
        x += a
        return x, y

    def stays_a_list(a):
        x = [1.0, 2.0]
        y = x
        x += (3.0, a[0])
        x *= 2
        return x, len(y)

    for f in (made_an_array, stays_a_list):
        check_same(f, np.array([0.5, 1.5]))
