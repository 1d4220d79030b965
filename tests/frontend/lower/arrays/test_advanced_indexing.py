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
    said = refusal(shape, A)
    assert "non-broadcastable output operand" in said
    assert "the value has the shape (1, 2)" in said
    assert "or make a new array: `x = x + ...`" in said


def test_dots_make_a_view_of_an_element():
    def f(m):
        m[1, 2, ...] = np.ones(1)
        m[0, ..., 1] += 2

    same(f, M)


def test_arrays_that_turn_out_to_have_one_element_stretch():
    def f(m, k):
        return m[m[:, 0] > k, [0, 1, 1]], m[[[0], [1]], np.flatnonzero(m[0] > k)]

    for k in (0, 1, 2, 5):
        agrees(f, M, k)


def test_axes_are_counted_as_the_user_does():
    def f(m, k):
        return m[None, 1, [0, k]]

    def g(m, k):
        return m[k > 0, None, [0, 1], [k, 0]]

    for k in (1, 3):
        same(f, M, k)
        same(g, M, k)


# -- 0-d arrays of integers ------------------------------------------------------------------------------------------


def test_what_a_zero_dimensional_array_selects_is_a_copy():
    def f(m, a, i):
        row, column, new, element = m[i], m[:, i], m[i, None], m[i, 1, ...]
        for part in (row, column, new, m[..., i]):
            part[...] = -1
        element[...] = -1
        return row, column, new, element, m[i, i], a[i], a[i, ...], m[i, [0, 1]], m[i, 1:]

    same(f, M, A, np.array(1))
    same(f, M, A, np.array(-2))


def test_numbers_select_views():
    def f(m, a, i, j):
        m[a.argmax() - 1, 0] = 7
        row, element = m[i[()]], m[np.int64(1)]
        row[1] = 8
        element[2] = 9
        m[j][0] = 5
        return m.sum()

    same(f, M, A, np.array(0), 1)


def test_zero_dimensional_arrays_as_places():
    def f(m, a, i):
        m[i] = [1, 2, 3]
        m[i] += m[0]
        m[i, i] = 7
        m[np.array(0), 1:] *= 2
        a[i] += 2
        a[i, ...] = np.ones(1)

    same(f, M, A, np.array(1))
    same(f, M, A, np.array(-1))


def test_zero_dimensional_arrays_that_are_no_indices():
    assert "arrays used as indices must be of integer (or boolean) type" in refusal(lambda a: a[np.array(1.0)], A)


# -- truth values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", [True, False, np.True_, np.array(False), np.array(True)], ids=repr)
def test_truth_values_are_masks_without_dimensions(flag):
    def read(a, m, z, p):
        one = m[p], m[p, 0], m[0, p], m[:, p], m[..., p], m[p, ..., 0], m[None, p], m[p, None], m[:, p, 0]
        more = m[0, p, 1], m[p, p], m[p, [0]], m[p, [[0], [1]]], m[0:1, p, 0], m[0, p, 0:1]
        return one, more, z[p], z[p, ...], a[p] + a

    def write(a, m, z, p):
        a[p] = 7
        m[p, 0] = a
        m[:, p] -= 1
        m[p, [0], [1]] = 8
        a[p] += [[1, 2, 3]]
        z[p] = [5]
        z[p] *= 2
        m[p] = m[p, ::-1]

    def kept(a, p):
        part = a[p]
        part[...] = -1
        return part

    same(read, A, M, np.array(3.0), flag)
    same(kept, A, flag)
    same(write, A, M, np.array(3.0), flag)


@pytest.mark.parametrize("z", [-1.0, 2.0])
def test_conditions_select_all_or_nothing(z):
    def f(a, m, z, k):
        m[z > 0] += 1
        m[z > 0, k] = a
        z[z > 0] = 9
        z[z > 5] += 1
        mixed = m[z > 0, :, a > 0], m[z > 0, [True, False]]
        return a[z > 0], a[0][z > 0], len(a[k > 0]), mixed, a[not k].sum()

    for k in (0, 1):
        same(f, A, M, np.array(z), k)


def test_truth_values_known_when_compiled():
    def f(a, m):
        a[False] = np.ones((0, 3))
        a[True] = [1, 2, 3]
        m[True, 1] += 1
        return a[True], a[False], m[False, 0], m[True, [True, False]], m[True, False]

    same(f, A, M)


def test_truth_values_that_do_not_fit():
    for f in (
        lambda m, a, z: m[False, [0, 1]],
        lambda m, a, z: m[False, 5],
        lambda m, a, z: m[True, 0, 0, 0],
        lambda m, a, z: m[z > 9, [0, 1]],
        lambda m, a, z: np.copyto(a[z > 9], m),
    ):
        agrees(f, M, A, np.array(1.0))


@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (1, 1), (0, 3), (1, 3), (2, 3), (3,)], ids=str)
def test_values_for_truth_values(shape):
    def numbers(z, p, values):
        z[p] = values

    def dots(z, p, values):
        z[p, ...] = values

    for flag in (True, False):
        agrees(numbers, np.array(2.0), flag, np.ones(shape))
        agrees(dots, np.array(2.0), flag, np.ones(shape))
        agrees(numbers, A, flag, np.ones(shape))
