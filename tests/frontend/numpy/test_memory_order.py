"""The memory order of results is NumPy's, whatever that of the operands: strides, and elements in the order "K"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dcpy.base.errors import FrontendError
from tests.support.layouts import assert_same_order, layouts
from tests.support.numpy_records import interpreted

ARRAYS = layouts()

ELEMENTWISE = [
    lambda a: a + 1,
    lambda a: np.sin(a),
    lambda a: a > 0.5,
    lambda a: a.T + a.T,
    lambda a: a.transpose(1, 0, 2) * 2,
    lambda a: a[0] + 1,
    lambda a: a[:, 1] * 2,
    lambda a: a[:, :, None] + a[:, None],
    lambda a: a + a[0],
    lambda a: a[::-1] + 1,
    lambda a: a + np.ones((3, 4)),
    lambda a: a + np.ones((2, 3, 4)),
    lambda a: np.add(a, 1, order="F"),
    lambda a: np.add(a, 1, order="C"),
    lambda a: np.sqrt(a, order="A"),
    lambda a: np.modf(a),
    lambda a: np.add(a, a, dtype=np.float32, casting="same_kind"),
]

COPIES = [
    lambda a: a.copy(),
    lambda a: a.copy("K"),
    lambda a: a.copy("A"),
    lambda a: a.copy("F"),
    lambda a: np.copy(a),
    lambda a: a[:, ::-1].copy("K"),
    lambda a: a.astype(np.float32),
    lambda a: a.astype(np.float64, order="C", copy=False),
    lambda a: a.astype(np.float64, order="F", copy=False),
    lambda a: np.array(a),
    lambda a: np.array(a, order="A"),
    lambda a: np.array(a, order="C"),
    lambda a: np.array(a, dtype=np.float32, order="A"),
    lambda a: np.asarray(a, dtype=np.float32),
    lambda a: np.asarray(a, order="F"),
    lambda a: np.asarray(a, order="C"),
    lambda a: np.require(a, requirements="O"),
    lambda a: np.zeros_like(a),
    lambda a: np.empty_like(a, dtype=np.int8) * 0,
    lambda a: np.full_like(a, 3, dtype=np.int32),
    lambda a: np.ones_like(a, order="A"),
    lambda a: np.zeros_like(a, shape=(5, 6, 7)),
    lambda a: np.zeros_like(a, shape=(5, 6)),
]

IN_ORDER = [
    lambda a: a.ravel("K"),
    lambda a: a.ravel("A"),
    lambda a: a.flatten("K"),
    lambda a: a.flatten("F"),
    lambda a: (a.T + 1).ravel(order="K"),
    lambda a: (a * 2).ravel("K"),
    lambda a: (a * 2).ravel("A"),
    lambda a: (a + 1).flatten("A"),
    lambda a: np.copy(a).ravel("K"),
    lambda a: a.astype(np.float32).ravel("K"),
    lambda a: a.reshape(6, 4, order="F").ravel(),
    lambda a: a.reshape(6, 4, order="A").ravel(),
    lambda a: (a + 1)[1:, ::2].ravel("K"),
]


def check(function: Callable[[Any], Any]) -> None:
    """Values and strides of the results are NumPy's, for arrays in each layout."""
    for name, array in ARRAYS.items():
        expected, got = function(array), interpreted(function, array)
        pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
        for mine, theirs in pairs:
            np.testing.assert_allclose(mine, theirs, rtol=1e-6, err_msg=name)
            assert_same_order(mine, theirs, name)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("number", range(len(ELEMENTWISE)))
def test_results_of_ufuncs_keep_the_order_of_operands(number):
    check(ELEMENTWISE[number])


@pytest.mark.parametrize("number", range(len(COPIES)))
def test_copies_and_arrays_like_others_have_the_order_that_is_asked_for(number):
    check(COPIES[number])


@pytest.mark.parametrize("number", range(len(IN_ORDER)))
def test_elements_are_read_in_the_order_that_is_asked_for(number):
    check(IN_ORDER[number])


def test_operands_that_disagree_give_c_order():
    a, b = np.ones((3, 4)), np.asfortranarray(np.ones((3, 4)))
    for pair in ((a, b), (b, a), (b, b), (b, a[0]), (b, a[:, :1]), (a[:, :1], b)):
        assert_same_order(interpreted(lambda x, y: x + y, *pair), pair[0] + pair[1])


def test_rows_that_overlap_count_as_in_c_order():
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(5.0), 3)
    assert_same_order(interpreted(lambda a: a + 0, windows), windows + 0)
    assert_same_order(interpreted(lambda a: a.T + 0, windows), windows.T + 0)


@pytest.mark.parametrize("make", [lambda: np.zeros((2, 3), order="K"), lambda: np.empty((2, 3), order="A")])
def test_arrays_like_no_other_have_no_order_to_keep(make):
    with pytest.raises(FrontendError, match="only 'C' or 'F' order is permitted"):
        interpreted(make)


def test_a_reshape_has_no_order_to_keep():
    with pytest.raises(FrontendError, match="order 'K' is not permitted for reshaping"):
        interpreted(lambda a: a.reshape(3, 2, order="K"), np.ones((2, 3)))


FUNCTIONS = [
    lambda a: a.sum(axis=1, keepdims=True),
    lambda a: a.sum(axis=0),
    lambda a: a.mean(axis=1),
    lambda a: a.max(axis=2),
    lambda a: a.var(axis=2),
    lambda a: a.argmax(axis=1),
    lambda a: np.median(a, axis=0),
    lambda a: np.quantile(a, 0.3, axis=1),
    lambda a: np.sort(a, axis=0),
    lambda a: np.argsort(a, axis=0),
    lambda a: np.cumsum(a, axis=0),
    lambda a: np.diff(a, axis=1),
    lambda a: np.where(a > 0.5, a, 0),
    lambda a: np.clip(a, 0.2, 0.8),
    lambda a: np.select([a > 0.5], [a], 0),
    lambda a: np.round(a, 1),
    lambda a: np.concatenate((a, a), axis=1),
    lambda a: np.stack((a, a)),
    lambda a: np.stack((a, a), axis=1),
    lambda a: np.stack((a, a), axis=-1),
    lambda a: np.repeat(a, 2, axis=1),
    lambda a: np.tile(a, (1, 2, 1)),
    lambda a: np.roll(a, 1, axis=0),
    lambda a: np.pad(a, 1),
    lambda a: np.delete(a, 1, axis=0),
    lambda a: np.insert(a, 1, 0, axis=0),
    lambda a: np.triu(a),
    lambda a: np.take(a, np.array([0, 1]), axis=2),
    lambda a: a[:, np.array([0, 2])],
    lambda a: a[np.array([[0, 1], [1, 0]])],
    lambda a: a[:, np.array([True, False, True])],
    lambda a: np.argwhere(a > 0.5),
    lambda a: a @ a.transpose(0, 2, 1),
    lambda a: np.einsum("ijk,ljk->li", a, a),
    lambda a: np.einsum("ijk->ik", a),
    lambda a: np.fft.fft(a, axis=1),
    lambda a: np.fft.fft(a, n=5, axis=0),
    lambda a: np.gradient(a)[1],
    lambda a: np.gradient(np.sort(a, axis=2), axis=1),
    lambda a: np.real(a * 1j) + 0,
    lambda a: (a * 1j).imag.T * 2,
    lambda a: np.count_nonzero(a, axis=1),
    lambda a: np.count_nonzero(a > 0, axis=1),
    lambda a: np.nancumsum(a, axis=0),
    lambda a: np.nansum(a, axis=1),
    lambda a: np.linspace(a[0], a[1], 3),
    lambda a: np.searchsorted(np.array([0.2, 0.5]), a),
    lambda a: np.add.outer(a[0], a[1]),
    lambda a: a.T[::-1],
]

FLAGS = [
    lambda a: (a.flags.c_contiguous, a.flags.f_contiguous, a.flags.fnc, a.flags.forc, a.flags["F"], a.flags.aligned),
    lambda a: (a.T.flags.c_contiguous, a[:, 1:].flags.c_contiguous, a[:1].flags.f_contiguous, a[1].flags.contiguous),
    lambda a: ((a + 1).flags.owndata, a[1:].flags.owndata, (a + 1).flags.writeable, (a + 1).flags["F_CONTIGUOUS"]),
    lambda a: (np.sort(a, axis=0).flags.c_contiguous, np.broadcast_to(a[0], (2, 3, 4)).flags.writeable),
    lambda a: (a.strides, (a + 1).strides, np.sort(a, axis=0).strides, a.T.strides),
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_functions_give_the_order_that_they_give_in_numpy(number):
    check(FUNCTIONS[number])


def test_rows_of_a_number_that_is_not_proved_to_be_one_are_sorted():
    cube = layouts((3, 3, 3))["021"]
    for function in (lambda b: np.sort(np.delete(b, 0, axis=1)), lambda b: np.argsort(np.delete(b, 0, axis=1), axis=2)):
        np.testing.assert_array_equal(interpreted(function, cube), function(cube))


@pytest.mark.parametrize("number", range(len(FLAGS)))
def test_flags_and_strides_are_those_of_numpy(number):
    for name, array in ARRAYS.items():
        assert interpreted(FLAGS[number], array) == FLAGS[number](array), name


def test_flags_of_empty_arrays_are_found_out():
    def flags(a):
        return a.flags.c_contiguous, a.flags.f_contiguous, (a + 1).flags.f_contiguous

    for shape in ((0, 3), (3, 0), (2, 3), (1, 3)):
        assert interpreted(flags, np.ones(shape)) == flags(np.ones(shape))


@pytest.mark.parametrize("read", [lambda a: a.flags.owndata, lambda a: a.flags.writeable])
def test_what_only_the_caller_knows_is_refused(read):
    with pytest.raises(FrontendError, match="is known to the caller of the program only"):
        interpreted(read, np.ones((2, 3)))


def test_flags_of_what_a_branch_may_take_from_a_strided_argument_are_known_at_run_time_only():
    def flags(a, k):
        b = a if k > 2 else a * 2
        return (b.flags.f_contiguous,)

    def other_flags(a, k):
        b = a if k > 2 else a * 2
        return b.flags.forc, b[:1].flags.c_contiguous, b.strides

    whole = np.ones((4, 3, 4))
    for function in (flags, other_flags):
        for array in (whole.T[:, :, ::2], whole[::2]):
            with pytest.raises(FrontendError, match="strides of this array are known at run time only"):
                interpreted(function, array, 3)
    for array in (whole, whole.T):
        assert interpreted(flags, array, 3) == flags(array, 3)


def test_parts_of_what_an_index_array_gathers_have_the_strides_of_numpy():
    check(lambda a: a[:, [0, 2]][0])
    check(lambda a: (a[:, [0, 2]][1:], a[..., [1, 0]][:, 0]))


def test_an_order_that_is_asked_for_is_that_of_numpy_not_of_what_is_here():
    check(lambda a: np.asarray(np.sort(a, axis=2), order="C"))
    check(lambda a: np.max(np.asarray(np.sort(a, axis=2), order="C"), axis=-1, keepdims=True))
    check(lambda a: np.asarray(np.sort(a, axis=0), order="F"))
    check(lambda a: np.sort(a, axis=1).astype(np.float64, order="F", copy=False))


def test_a_selection_beside_a_vector_may_be_one_element_that_is_repeated():
    """Then NumPy's order is that of no operand; C order, which cannot be read in the order of memory."""

    def beside(a, e):
        return a - e[:, e[0] > 0]

    def other_side(a, e):
        return e[:, e[0] > 0] * a

    for count in (1, 2, 3):
        e = np.where(np.arange(12).reshape(3, 4) % 4 < count, 1.0, -1.0)
        for function in (beside, other_side):
            for vector in (np.arange(float(count)), np.ones(1), *([np.arange(3.0)] if count == 1 else [])):
                found, expected = interpreted(function, vector, e), function(vector, e)
                np.testing.assert_array_equal(found, expected)
                if vector.size == 1 or count == 1:
                    assert_same_order(found, expected)
    with pytest.raises(FrontendError, match="order of this array in memory is not known"):
        interpreted(lambda a, e: (a - e[:, e[0] > 0]).ravel("K"), np.ones(3), e)


def test_flags_are_only_read():
    def cleared(a):
        b = a + 1
        b.flags.writeable = False
        return b

    with pytest.raises(FrontendError, match="the flags of an array are only read by a program"):
        interpreted(cleared, np.ones((2, 3)))
    with pytest.raises(FrontendError, match="a program cannot return the flags of an array"):
        interpreted(lambda a: a.flags, np.ones((2, 3)))


def test_names_that_paths_give_another_array_keep_the_order_that_all_of_these_have():
    def by_branch(a, n):
        b = a * 2 if n > 2 else a * 3
        return b, b.ravel("K")

    def by_statement(a, n):
        b = np.sin(a)
        if n > 2:
            b = a - 1
        return b, b.ravel("K")

    def by_loop(a, n):
        b = a + 0
        for _ in range(n):
            b = b * 0.5 + a
        return b, b.ravel("K")

    def by_while(a, n):
        b, c = a + 0, a + 1
        while n > 0:
            c = b - c
            b = b * 0.5
            n -= 1
        return b, c

    for function in (by_branch, by_statement, by_loop, by_while):
        for axes in ("012", "210", "102"):
            got = interpreted(function, ARRAYS[axes], 3)
            for mine, theirs in zip(got, function(ARRAYS[axes], 3), strict=True):
                np.testing.assert_array_equal(mine, theirs)
                assert_same_order(mine, theirs, f"{function.__name__} {axes}")


def test_parts_of_complex_numbers_lie_as_these():
    for name in ("012", "210", "F, reversed"):
        for function in (lambda a: (a * 1j).imag + 0, lambda a: np.max((a * 1j).real, axis=-1, keepdims=True)):
            assert_same_order(interpreted(function, ARRAYS[name]), function(ARRAYS[name]), name)
