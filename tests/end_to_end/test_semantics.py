"""The traps of "same as NumPy", rows 1 to 20: programs that other compilers of NumPy get wrong, under all oracles.

One test per row of the table, `test_row_NN_...`: interpreted as written and simplified, compiled as written, simplified
and auto-optimized.
"""

import functools

import numpy as np
import pytest

import dcpy
from tests.support import oracles

pytestmark = pytest.mark.cc

A8 = np.arange(8.0)

check_same = functools.partial(oracles.check_same, optimized=True)


def test_row_01_names_are_not_containers():
    def f(a):
        b = a + 1
        c = b
        c = c * 2
        return b

    check_same(f, A8)


def test_row_02_rebinding_an_argument_leaves_the_callers_array():
    def f(a):
        a = a + 1
        return a

    check_same(f, A8)


def test_row_02_also_inside_a_branch():
    def f(a, flag):
        if flag > 0:
            a = a + 1
        return a + 0

    check_same(f, A8, 1)
    check_same(f, A8, 0)


def test_row_03_augmented_assignment_of_scalars_rebinds():
    def f(a):
        x = 1.0
        y = x
        y += 1
        a[0] = x

    check_same(f, A8)


def test_row_04_an_accumulator_gets_the_type_of_its_values():
    def f(a):
        s = 0
        for i in range(a.shape[0]):
            s += a[i]
        return s

    check_same(f, A8 + 0.5, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_row_05_floor_division_of_negative_integers(dtype):
    def f(a):
        return a // 3

    check_same(f, np.arange(-8, 8).astype(dtype))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_row_06_remainder_has_the_sign_of_the_divisor(dtype):
    def f(a):
        return a % 3, a % -3

    check_same(f, np.arange(-8, 8).astype(dtype))


def test_row_07_integer_division_by_zero():
    def f(a, b):
        return a // b, a % b

    check_same(f, np.array([7, -7, 0]), np.array([0, 0, 0]))


def test_row_07_the_smallest_integer_over_minus_one():
    def f(a, b):
        return a // b, a % b

    check_same(f, np.array([-(2**63), 5]), np.array([-1, -1]))


def test_row_08_run_time_negative_indices_wrap():
    def f(a, out):
        for i in range(a.shape[0]):
            out[i] = a[i - 1]

    check_same(f, A8, np.zeros(8))


def test_row_08_indices_from_an_array_wrap():
    def f(a, idx):
        s = 0.0
        for i in range(idx.shape[0]):
            s += a[idx[i]]
        return s

    check_same(f, A8, np.array([0, -1, 3]))


def test_row_08_an_index_out_of_range_raises():
    def f(a, i):
        return a[i]

    check_same(f, A8, 7)
    check_same(f, A8, -8)
    check_same(f, A8, 8)
    check_same(f, A8, -9)


def test_row_09_an_argument_shorter_than_its_annotation_is_refused():
    n = dcpy.symbol("n")

    @dcpy.program
    def f(a: dcpy.float64[n], b: dcpy.float64[n]):
        b[:] = a

    with pytest.raises(ValueError, match="n"):
        f(np.zeros(4), np.zeros(3))


def test_row_10_an_argument_of_another_dtype_is_refused():
    @dcpy.program
    def f(a: dcpy.float64[8]):
        a[:] = 1

    with pytest.raises(TypeError, match="float64"):
        f(np.zeros(8, np.float32))


def test_row_11_fortran_order():
    def f(a):
        a[0, 1] = 77
        return a[1:] + a[:-1]

    check_same(f, np.asfortranarray(np.arange(12.0).reshape(3, 4)))


def test_row_12_strided_views_as_arguments():
    def f(a):
        a[0] = 5
        return a * 2

    base = np.arange(24.0).reshape(4, 6)
    for view in (base[::2, ::3], base.T, base[::-1, 1::2]):
        check_same(f, view)


def test_row_13_writing_through_a_transpose():
    def f(b):
        c = b.T
        c[0, 1] = 77

    check_same(f, np.arange(6.0).reshape(2, 3))


def test_row_14_fancy_increment_counts_once():
    def f(a, idx):
        a[idx] += 1

    check_same(f, np.zeros(4), np.array([1, 1, 2]))


def test_row_15_slices_clamp():
    def f(a):
        return a[2:100], a[-100:3], a[50:60]

    check_same(f, A8)


def test_row_16_slices_inside_out_are_empty():
    def f(a, i, j):
        return a[i:j].copy()

    check_same(f, A8, 5, 2)
    check_same(f, A8, 2, 5)
    check_same(f, A8, -3, 100)


def test_row_17_reversed_views():
    def f(a):
        b = a[::-1]
        b[0] = 99
        return b + a

    check_same(f, A8)


def test_row_18_a_mask_selects():
    def f(a):
        return a[a > 3], a[a > 100], a[a > 3].sum()

    check_same(f, np.arange(8.0))


def test_row_19_the_loop_variable_after_the_loop():
    def f(a):
        for i in range(5):
            a[i] = 0
        return i

    check_same(f, A8)


def test_row_20_scalars_are_numpy_scalars():
    def f(a):
        return a[3], np.sum(a), len(a), a.shape[0] * 2

    check_same(f, A8)
