"""Arrays in which paths meet: their order in memory is NumPy's where all paths agree, and asked for in vain elsewhere.

"K" and "A" never read in an order that another path has.
"""

import re

import numpy as np
import pytest

from dcpy.base.errors import FrontendError
from tests.support.layouts import assert_same_order, layouts
from tests.support.numpy_records import interpreted
from tests.support.used import Used

KINDS = ("012", "021", "210", "C, gaps", "F, gaps", "F, reversed", "repeated numbers")
ARRAYS = {name: layouts()[name] for name in KINDS}
REFUSED = re.compile("the order of this array in memory is not known|the strides of this array are known at run time")


def compared(program, *arguments):
    """Whether a program gives what NumPy does; not where it is refused."""
    expected = program(*arguments)
    try:
        found = Used(program)(*arguments)
    except FrontendError as error:
        if REFUSED.search(error.message) is None:
            raise
        return False
    np.testing.assert_array_equal(found, expected)
    assert_same_order(found, expected)
    return True


def refused_layouts(program):
    """The layouts of an argument with which a program is refused; with others it does what NumPy does."""
    return {name for name, array in ARRAYS.items() for k in (1, 3) if not compared(program, array, k)}


def doubled(a, k):
    return a if k > 2 else a * 2


def packed(a, k):
    return a if k > 2 else np.ascontiguousarray(a) * 2


def in_a_loop(a, k):
    v = a
    for i in range(k):
        v = v * 2 if i == 1 else np.asfortranarray(v)
    return v


IN_C_ORDER = {"012", "C, gaps"}
READS = [
    lambda v: v.ravel("K"), lambda v: v.flatten("K"), lambda v: (v + 1).ravel("K"), lambda v: (v + v).ravel("K"),
    lambda v: np.sort(v, axis=0).ravel("K"), lambda v: v[[1, 0]].ravel("K"), lambda v: np.where(v > 0, v, 1).ravel("K"),
    lambda v: np.concatenate((v, v)).ravel("K"), lambda v: np.cumsum(v, axis=1).ravel("K"), lambda v: v.T.ravel("K"),
    lambda v: v.sum(axis=0).ravel("K"), lambda v: np.copy(v).ravel("K"), lambda v: np.zeros_like(v).ravel("K"),
    lambda v: np.einsum("ijk->ikj", v).ravel("K"), lambda v: v[:, ::2].flatten("K"),
]  # fmt: skip


@pytest.mark.parametrize("read", READS)
def test_what_is_made_of_arrays_in_several_orders_has_no_order(read):
    assert refused_layouts(lambda a, k: read(packed(a, k))) == ARRAYS.keys() - IN_C_ORDER


ASKED = [
    lambda v: v.ravel("A"), lambda v: v.copy("A") + 1, lambda v: np.zeros_like(v, order="A"),
    lambda v: v.reshape(-1, order="A"), lambda v: np.negative(v, order="A"), lambda v: v.flags.f_contiguous,
]  # fmt: skip


@pytest.mark.parametrize("read", ASKED)
def test_where_only_one_path_may_have_gaps_fortran_order_is_not_known(read):
    refused = refused_layouts(lambda a, k: read(doubled(a, k)))
    assert {"F, gaps", "F, reversed", "repeated numbers"} <= refused
    assert not {"012", "021", "210"} & refused


def test_results_in_an_order_of_their_own_have_one_again():
    for array in ARRAYS.values():
        for k in (1, 3):
            assert compared(lambda a, k: np.argsort(packed(a, k), axis=0, kind="stable").ravel("K"), array, k)
            assert compared(lambda a, k: (np.asfortranarray(packed(a, k)) + 1).ravel("K"), array, k)
            assert compared(lambda a, k: packed(a, k).copy("F").T.ravel("K"), array, k)


def test_an_order_that_an_iteration_changes_is_not_known():
    refused = refused_layouts(lambda a, k: in_a_loop(a, k).ravel("K"))
    assert refused == ARRAYS.keys() - {"210", "F, gaps", "F, reversed"}


def test_repeated_numbers_lie_in_no_order():
    """A copy lies with the repeated axis inside, and so does a copy of the transposed array."""
    assert "repeated numbers" in refused_layouts(lambda a, k: doubled(a, k).T.flatten("K"))


def test_a_part_that_turns_out_to_be_one_row_says_nothing():
    """`b[:, 1:]` of two rows is broadcast: its order does not count in a call, and is not known before."""

    def program(a, b):
        return (a * b[:, 1:]).ravel("K")

    rng = np.random.default_rng(0)
    a, b = np.asfortranarray(rng.random((3, 2, 4))), rng.random((3, 2, 4))
    assert compared(lambda a, b: a * b[:, 1:], a, b)
    assert compared(program, a, b)
    with pytest.raises(FrontendError, match="order of this array"):
        interpreted(program, a, b)


def test_functions_see_the_order_of_what_they_are_given():
    def like(f):
        result = np.empty_like(f)
        result[...] = f * 2
        return result

    def program(a):
        return like(np.sort(a, axis=2))

    for array in ARRAYS.values():
        assert compared(program, array)


def reshaped_and_written(a, k):
    v = (a * 2)[:, ::2] if k > 2 else a[:, ::2] * 3
    w = v.ravel()
    w[0] = 99
    return v.sum(), w


def written_and_reshaped(a, k):
    v = np.asfortranarray(a * 2) if k > 2 else np.ascontiguousarray(a * 3)
    w = v.ravel()
    v[0] = 99
    return v.sum(), w


def reshaped_and_read(a, k):
    v = np.asfortranarray(a * 2) if k > 2 else np.ascontiguousarray(a * 3)
    return v.ravel(), v.reshape(2, -1)


@pytest.mark.parametrize("program", [reshaped_and_written, written_and_reshaped])
def test_whether_a_reshaped_array_is_a_view_is_not_known_where_an_order_is_not(program):
    with pytest.raises(FrontendError, match=r"may or may not be the one|has a copy, used later"):
        Used(program)(ARRAYS["012"], 3)


def test_reshaped_arrays_of_any_order_are_read():
    for array in ARRAYS.values():
        for k in (1, 3):
            for mine, theirs in zip(Used(reshaped_and_read)(array, k), reshaped_and_read(array, k), strict=True):
                np.testing.assert_array_equal(mine, theirs)
