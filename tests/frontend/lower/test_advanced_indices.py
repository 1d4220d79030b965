"""Masks and integer arrays as indices: what they select, what may be stored there, and what NumPy raises."""

import copy

import numpy as np
import pytest

from dcpy.base.errors import DcpyError
from tests.support.lowering import refusal, same

A = np.array([0.5, -1.0, 2.0])
M = np.arange(6.0).reshape(2, 3)
SOME, NONE = np.array([True, False, True]), np.zeros(3, bool)


def agrees(function, *arguments):
    """As NumPy does it: where it raises, in its words when the program runs, or as that type when it is compiled."""
    refused = None
    try:
        same(function, *arguments)
    except DcpyError as error:
        refused = error
    if refused is not None:
        with pytest.raises(Exception, match=r"\w") as raised:
            function(*copy.deepcopy(arguments))
        assert isinstance(refused, raised.type)


def fill(a, m, values):
    a[m] = values


def fill_all(a, m, values):
    a[m, ...] = values


@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (3,), (1, 2), (2, 1), (1, 1), (0, 4), (1, 3)], ids=str)
def test_how_many_values_a_mask_takes(shape):
    values = np.ones(shape)
    for mask in (SOME, NONE):
        agrees(fill, A, mask, values)
        agrees(fill_all, A, mask, values)
    agrees(fill_all, A, np.zeros(0, bool), values)
    agrees(fill, np.zeros(0), np.zeros(0, bool), values)
    agrees(fill, np.zeros((0, 3)), np.zeros((0, 3), bool), values)
    agrees(fill, M, SOME[:2], values)
    agrees(fill, M, M > 3, values)


@pytest.mark.parametrize("shape", [(0,), (1,), (1, 1), (2, 2)], ids=str)
def test_a_mask_of_another_size_selects_nothing(shape):
    agrees(fill, A, np.zeros(0, bool), np.ones(shape))


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_slices_without_elements_are_as_many_values(size):
    def f(a):
        a[a == a] = a[1:3].astype(np.int16)

    same(f, np.ones(size))


def test_messages_are_numpys():
    def table(a):
        a[a > 0] = np.ones((1, 1))

    def gather(m):
        return m[[0, 1], [0, 1, 2]]

    def scatter(m):
        m[[0, 1]] = np.ones(2)

    text = "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has 2 dimensions"
    assert text in refusal(table, A)
    text = "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,)"
    assert text in refusal(gather, M)
    agrees(scatter, M)


def test_a_mask_beside_an_integer():
    def f(m, rows):
        m[rows, 0] = 7
        m[rows, 1] += 1
        m[rows, 1:] *= 2
        m[rows, :] -= 1
        m[0, m[0] > 3] = -1

    same(f, M, np.array([False, True]))


def test_elements_are_changed_in_place():
    def kind(a):
        a[[0, 1]] += 0.5

    def kind_of_mask(a):
        a[a > 0] += 0.5

    def shape(a):
        a[[0, 1]] += np.ones((1, 2))

    assert "Cannot cast ufunc 'add' output" in refusal(kind, np.arange(3))
    assert "Cannot cast ufunc 'add' output" in refusal(kind_of_mask, np.arange(3))
    assert "non-broadcastable output operand" in refusal(shape, A)


def test_dots_make_a_view_of_an_element():
    def f(m):
        m[1, 2, ...] = np.ones(1)
        m[0, ..., 1] += 2

    same(f, M)
