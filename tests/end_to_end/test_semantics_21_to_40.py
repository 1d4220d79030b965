"""The traps of "same as NumPy", rows 21 to 40 (see test_semantics.py).

One test per row of the table, `test_row_NN_...`: interpreted as written and simplified, compiled as written, simplified
and auto-optimized.
"""

import functools
import re

import numpy as np
import pytest

import dcpy
from tests.support import oracles
from tests.support.compiled import source_of
from tests.support.tiers import some

pytestmark = pytest.mark.cc

A8 = np.arange(8.0)
SCALE, FACTORS = 2.0, [1.0, 2.0]

check_same = functools.partial(oracles.check_same, optimized=True)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int32, np.uint8, np.uint32, np.float16, np.float32])
def test_row_21_sums_of_small_integers(dtype):
    def f(a):
        return np.sum(a), np.prod(a), a.sum(axis=0)

    check_same(f, np.array([[1, 2], [3, 4]]).astype(dtype))


def test_row_22_mean_of_integers():
    def f(a):
        return np.mean(a), a.mean(axis=1)

    check_same(f, np.arange(6, dtype=np.int32).reshape(2, 3), rtol=1e-15)


def test_row_23_argmax():
    def f(a):
        return np.argmax(a), np.argmin(a), a.argmax(axis=0)

    check_same(f, np.array([[3.0, np.nan, 1.0], [5.0, 2.0, 5.0]]))


def test_row_24_integer_powers():
    def f(a):
        return a**2, np.power(a, a), a**3

    check_same(f, np.arange(6, dtype=np.int32))


def test_row_25_python_floats_are_weak():
    def f(a, s):
        return a * s, a + 1, a * 0.1

    check_same(f, np.arange(4, dtype=np.float32), 0.3)
    check_same(f, np.arange(4, dtype=np.float32), np.float64(0.3))
    check_same(f, np.arange(4, dtype=np.float32), np.float32(0.3))


def test_row_26_half_to_even():
    def f(a):
        return np.rint(a), np.round(a)

    check_same(f, np.array([0.5, 1.5, 2.5, -0.5, -2.5, np.nan, np.inf]))


def test_row_27_nan_propagates():
    def f(a, b):
        return np.maximum(a, b), np.minimum(a, b), np.sign(a)

    # Which of two zeros of different sign is the larger depends on the processor, in NumPy too: not tested.
    check_same(f, np.array([np.nan, 0.0, -1.5, 3.0]), np.array([0.0, np.nan, 0.0, -np.inf]))


@pytest.mark.parametrize("i", [0, 1, 3])
def test_row_28_chained_comparison(i):
    def f(a, i):
        if 0 < a[i] < 3:
            return 1
        return 0

    check_same(f, A8, i)


def test_row_28_reading_what_is_written():
    def f(b):
        b += b[0]
        return np.array([b[0], b[1]])

    check_same(f, A8 + 1)


def test_row_28_flatten_copies():
    def f(a):
        c = a.flatten()
        c[0] = 9
        return c

    check_same(f, np.arange(6.0).reshape(2, 3))


def test_row_29_a_global_constant_changes_between_calls(monkeypatch):
    class Settings:
        shift = 1.0

    weights = np.ones(8)

    @dcpy.program
    def f(a):
        return a * SCALE + FACTORS[1] + Settings.shift + weights

    def expect():
        np.testing.assert_array_equal(f(A8), A8 * SCALE + FACTORS[1] + Settings.shift + weights)

    expect()
    monkeypatch.setitem(globals(), "SCALE", 3.5)
    expect()
    monkeypatch.setitem(globals(), "FACTORS", [1.0, 7.0])
    expect()
    FACTORS[1] = -7.0
    expect()
    Settings.shift = -4.0
    expect()
    weights[2] = 9
    expect()
    weights = np.arange(8.0)
    expect()


def test_row_30_the_same_array_twice():
    def f(a, b):
        a[1:] = b[:-1] + 1

    x = A8.copy()
    y = A8.copy()
    dcpy.program(f)(x, x)
    f(y, y)
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(("left", "right"), [((1, 8), (0, 7)), ((0, 7), (1, 8)), ((0, 4), (4, 8))])
def test_row_30_overlapping_arguments(left, right):
    def f(a, b):
        for i in range(a.shape[0]):
            a[i] = b[i] * 2 + 1

    x, y = A8.copy(), A8.copy()
    program = dcpy.program(f)
    program(A8.copy(), A8.copy())  # a specialization that assumes no overlap is already there
    program(x[slice(*left)], x[slice(*right)])
    f(y[slice(*left)], y[slice(*right)])
    np.testing.assert_array_equal(x, y)


def test_row_31_overlapping_assignment():
    def f(a, b, c):
        a[1:] = a[:-1]
        b[1:] += b[:-1]
        c[:-1] = c[1:] * 2

    check_same(f, A8, A8, A8)


def test_row_31_reversed_in_place():
    def f(a):
        a[:] = a[::-1]

    check_same(f, A8)


def test_row_32_results_of_two_calls_are_two_arrays():
    @dcpy.program
    def f(a):
        return a + 1

    first, second = f(A8), f(A8 * 2)
    np.testing.assert_array_equal(first, A8 + 1)
    np.testing.assert_array_equal(second, A8 * 2 + 1)


def test_row_33_assert_and_raise_run():
    def f(a):
        assert a[0] >= 0, "negative"
        if a[0] > 5:
            raise ValueError("too large")
        a[0] = 1

    check_same(f, A8)
    check_same(f, A8 - 1)
    check_same(f, A8 + 7)


def test_row_34_sizes_above_2_to_the_31():
    """Two gigabytes of zeros, which take memory only where they are written."""
    size = 2**31 + 16
    a = np.zeros(size, np.uint8)
    a[-3], a[2**31 + 1] = 7, 5

    @dcpy.program
    def f(a, m, k):
        a[k] = 3  # an index, and a window, beyond 2**31
        a[k + 1 : k + 4] += 2
        m[-1, -1] = 9
        a[::-1][1] = 8
        row = m[2**30, :] + 1
        large = a[2**31 :]
        return a.sum(), np.argmax(a), len(a), a[-3], m.shape[0] * m.shape[1], row, large.copy(), a[a.shape[0] - 16]

    expected = np.zeros(16, np.uint8)
    expected[[-3, 1, 8]] = 7, 5, 3
    expected[9:12] += 2
    expected[-1], expected[-2] = 9, 8
    total, largest, length, element, product, row, large, first = f(a, a.reshape(-1, 2), 2**31 + 8)
    np.testing.assert_array_equal(large, expected)
    assert (total, largest, length, element) == (expected.sum(dtype=int), size - 1, size, expected[-3])
    assert (product, list(row), first) == (size, [1, 6], 0)


def test_row_34_elementwise_above_2_to_the_31():
    size = 2**31 + 16

    @dcpy.program
    def f(a):
        a += 3
        a[2**31 :] *= 2

    a = np.zeros(size, np.int8)
    f(a)
    assert a[0] == a[2**31 - 1] == 3
    assert a[2**31] == a[-1] == 6


def test_row_34_indices_are_computed_in_64_bits():
    @dcpy.program
    def f(a, idx):
        for i in range(a.shape[0]):
            a[i, idx[i] + 1] += a[i, 0] * 2
        return a[1:, ::2].sum(axis=1), np.argmax(a)

    sdfg = f.to_sdfg(np.zeros((4, 4)), np.zeros(4, np.int32))
    assert {str(dtype) for dtype in (*sdfg.symbols.values(), *sdfg.assigned_symbols.values())} == {"i64"}
    code = source_of(sdfg.expand_library_nodes())
    assert set(re.findall(r"for \((\w+) ", code)) == {"int64_t"}
    assert re.findall(r"\b(?:int|long|unsigned|short) \w+ =", code) == []
    assert "idx[" in code  # the 32-bit index is read, and computed with as int64
    assert re.search(r"int64_t>?\(?.*idx\[", code) or "(int64_t)idx" in code


def test_row_35_long_sums_are_as_close_as_pairwise_ones():
    a = np.random.default_rng(0).random(10**7).astype(np.float32)
    exact = np.sum(a, dtype=np.float64)
    total = dcpy.program(lambda a: np.sum(a))(a)
    assert type(total) is np.float32
    assert abs(total - exact) <= 4 * abs(np.sum(a) - exact) + 1


def test_row_36_a_loop_that_looks_parallel():
    def f(a, b):
        for i in range(a.shape[0] - 1):
            b[i] = a[i]
            a[i] = b[i + 1]

    check_same(f, A8, A8 * 3)


def test_row_36_indirect_writes():
    def f(a, idx):
        for i in range(idx.shape[0]):
            a[idx[i]] = a[i] + i

    check_same(f, A8, np.array([3, 3, 0, 1]))


def test_row_36_a_recurrence_through_a_view():
    def f(a):
        left = a[:-1]
        right = a[1:]
        for i in range(left.shape[0]):
            right[i] = left[i] + 1

    check_same(f, A8 * 2)


def test_row_37_integer_overflow_wraps():
    def f(a, b):
        return a + b, a * b, a - b

    check_same(f, np.array([200, 3], np.uint8), np.array([100, 5], np.uint8))
    check_same(f, np.array([2**63 - 1, -(2**63)]), np.array([1, -1]))
    check_same(f, np.uint8(200), np.uint8(100))
    check_same(f, np.int16(-(2**15)), np.int16(2))


def test_row_38_empty_reductions():
    def f(a):
        return np.sum(a), np.prod(a), np.any(a), np.all(a)

    def g(a):
        return np.max(a)

    check_same(f, np.zeros(0))
    check_same(g, np.zeros(0))
    check_same(g, A8)


@pytest.mark.parametrize("function", [np.min, np.argmax, np.argmin, np.ptp], ids=lambda f: f.__name__)
def test_row_38_empty_reductions_without_identity_raise(function):
    check_same(lambda a: function(a), np.zeros(0))
    check_same(lambda a: function(a, axis=0), np.zeros((3, 0)))


@pytest.mark.filterwarnings("ignore")
def test_row_38_means_of_nothing():
    check_same(lambda a: (np.mean(a), a.std(), np.sum(a, axis=0), np.mean(a, axis=1)), np.zeros((2, 0)))


@pytest.mark.parametrize("dtype", some((np.float32, np.complex64, np.complex128, np.float16), np.float32, np.complex64))
def test_row_38_dtypes_of_reductions(dtype):
    def f(a):
        return a.sum(), np.mean(a), np.prod(a), a.std(), np.var(a, axis=0), a.cumsum(), np.abs(a).max()

    check_same(f, np.array([[1.5, 2, -3], [0.25, 5, 6]]).astype(dtype), rtol=1e-3 if dtype is np.float16 else 1e-5)


def test_row_39_zero_dimensional_and_empty_arrays():
    def f(a, b):
        return a + b

    check_same(f, np.array(3.0), A8)
    check_same(f, np.zeros((0, 4)), np.zeros(4))
    check_same(f, np.zeros((3, 1)), np.zeros((1, 4)))


def test_row_39_a_size_of_one_is_found_at_the_call():
    @dcpy.program
    def f(a, b):
        return a + b

    for shape in ((4,), (1,), (4, 4), (4, 1)):
        np.testing.assert_array_equal(f(np.ones(shape), np.ones(4)), np.ones(shape) + np.ones(4))
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones(3), np.ones(4))


def test_row_40_tuples():
    check_same(lambda a, n: ((a, n), a + 1, (a.sum(), (a[1:],)), None), A8, 3)


def test_row_40_returning_arguments_and_views():
    @dcpy.program
    def f(a):
        return a, a[2:], a + 0

    a = A8.copy()
    same, view, fresh = f(a)
    assert same is a
    view[0] = 42
    assert a[2] == 42
    assert fresh[2] == 2
