"""Compiled programs return arrays in NumPy's memory order: one program for each order of the axes of its arguments."""

import numpy as np
import pytest

import dcpy
from tests.support.layouts import assert_same_order, layouts

pytestmark = pytest.mark.cc


def several(a, n):
    return a + 1, a.T * 2, (a * 2).ravel("K"), a.astype(np.float32), np.zeros((n, 2 * n), order="F")


def test_results_have_the_strides_of_numpy():
    program = dcpy.program(several)
    for name, array in layouts().items():
        for _ in range(2):
            for mine, theirs in zip(program(array, 1), several(array, 1), strict=True):
                np.testing.assert_array_equal(mine, theirs, err_msg=name)
                assert_same_order(mine, theirs, name)
                assert mine.flags.c_contiguous == theirs.flags.c_contiguous
                assert mine.flags.f_contiguous == theirs.flags.f_contiguous


def test_strided_arguments_of_another_order_are_another_program():
    program = dcpy.program(lambda a: a + 1)
    wide = np.ones((8, 8))
    for array in (wide[::2, ::2], wide[1::2, ::2], wide[::-2, ::2], wide[:4, :4], wide[:4]):
        assert_same_order(program(array), array + 1)
    assert program.specializations == 2  # the last one is packed
    for array in (wide[::2, ::2].T, wide[:4, :4].T):
        assert_same_order(program(array), array + 1)
    assert program.specializations == 3
    program(wide.T[:, :4])
    assert program.specializations == 4


def test_a_function_gets_the_order_of_what_it_is_given():
    @dcpy.program
    def doubled(a):
        return (a * 2).ravel("K")

    @dcpy.program
    def outer(a):
        return doubled(a.T[::2]), doubled(a[:, ::2])

    for array in layouts((4, 6, 2)).values():
        expected = (array.T[::2] * 2).ravel("K"), (array[:, ::2] * 2).ravel("K")
        for mine, theirs in zip(outer(array), expected, strict=True):
            np.testing.assert_array_equal(mine, theirs)

