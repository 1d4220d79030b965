"""What comes back from a call: kinds, identity, memory that is shared and memory that is not; aliasing arguments."""

import gc
import sys
import weakref

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal, check_same

pytestmark = pytest.mark.cc

A8 = np.arange(8.0)
M = np.arange(12.0).reshape(3, 4)


def both(function, *arguments):
    """The results of Python and of the compiled program, each on arguments of its own."""
    mine = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    theirs = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    got, expected = dcpy.program(function)(*mine), function(*theirs)
    assert_equal(got, expected)
    return got, mine


def test_constants_and_nothing():
    def f(a):
        return None, True, "text", 3, 2.5, 1j, (), (None, (1,))

    def g(a):
        a[0] = 1

    def h(a):
        return None

    for function in (f, g, h):
        check_same(function, A8)


@pytest.mark.parametrize("value", [3, 2.5, 1j, True, np.int8(3), np.float32(2.5), np.complex64(1j), np.bool_(True)])
def test_scalars_keep_their_kind(value):
    def f(x):
        return x, x + x, x * 2, (x, x if x != x else x * x)

    check_same(f, value)


def test_python_numbers_and_numpy_scalars():
    def f(a, n, s):
        return len(a), a.shape, a.ndim, a.size, n + 1, a[n], s * 2, a.sum(), np.float32(s), int(a[2]), n / 2, n > 1

    check_same(f, A8, 2, 2.5)
    check_same(f, A8.astype(np.int16), 2, 2.5)


def test_an_element_is_a_copy():
    def f(a):
        x = a[0]
        a[0] = 5
        return x

    check_same(f, A8)


def test_nested_tuples():
    def f(a):
        pair = a + 1, (a[2], (len(a), a * 2))
        return pair, (pair, 1)

    check_same(f, A8)


def test_one_fresh_array_twice_is_one_array():
    def f(a):
        b = a + 1
        return b, (b, a * 2)

    (first, (second, third)), _ = both(f, A8)
    assert first is second
    assert not np.may_share_memory(first, third)


def test_only_the_view_of_a_fresh_array():
    def f(a):
        return (a + 1)[1:3], (a * 2).reshape(2, 4).T

    check_same(f, A8)


def test_an_argument_is_the_same_object():
    def f(a, b):
        c = b
        return a, (c, a)

    (first, (second, third)), (a, b) = both(f, A8, M)
    assert first is third is a
    assert second is b


@pytest.mark.parametrize("argument", [M, M.T, M[::2], M[:, ::-1], np.asfortranarray(M)])
def test_views_of_an_argument_show_its_memory(argument):
    def f(a):
        return a[1:], a.T, a[::-1, ::2], a[0], a[:, None], a[..., 1], a[1:1], a[-1:, -2:]

    base = argument.copy(order="K")
    views = dcpy.program(f)(base)
    assert_equal(views, f(base))
    for mine, theirs in zip(views, f(base), strict=True):
        assert mine.strides == theirs.strides
        assert mine.__array_interface__["data"] == theirs.__array_interface__["data"] or mine.size == 0
        assert mine.flags.writeable


def test_a_view_of_a_read_only_argument_is_read_only():
    def f(a):
        return a[1:], a

    a = A8.copy()
    a.flags.writeable = False
    view, same = dcpy.program(f)(a)
    assert not view.flags.writeable
    assert same is a


def test_a_view_keeps_its_argument_alive():
    def f(a):
        return a[1:]

    a = A8.copy()
    view = dcpy.program(f)(a)
    del a
    gc.collect()
    np.testing.assert_array_equal(view, A8[1:])


def test_nothing_leaks():
    def f(a, x):
        return a + x, a[1:], a, x * 2, (len(a), None)

    program = dcpy.program(f)
    a = A8.copy()
    program(a, 2.0)
    before = sys.getrefcount(a)
    for _ in range(100):
        program(a, 2.0)
    assert sys.getrefcount(a) == before
    fresh = program(a, 2.0)[0]
    gone = weakref.ref(fresh)
    del fresh
    assert gone() is None


def test_writes_to_results_stay_there():
    def f(a):
        b = a.copy()
        c = a * 1
        return b, c, a.reshape(4, 2)

    (b, c, view), (a,) = both(f, A8)
    b[0] = c[0] = 55
    assert a[0] == 0
    view[0, 0] = 99
    assert a[0] == 99


def test_row_32_each_call_has_results_of_its_own():
    program = dcpy.program(lambda a: (a + 1, a.sum()))
    results = [program(A8 * k) for k in range(3)]
    for k, (array, total) in enumerate(results):
        np.testing.assert_array_equal(array, A8 * k + 1)
        assert total == 28 * k


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (3, 0), (1, 1), (2, 1, 3)])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64, np.float16, np.float64, np.complex64])
def test_shapes_and_dtypes(shape, dtype):
    def f(a):
        return a, a + a, a.T, a[...], a.reshape(-1), a.sum(), a == a, a.copy(), a.ndim

    check_same(f, np.ones(shape, dtype))


def test_eight_dimensions():
    def f(a):
        a[1, :, 0, ..., 1] += 1
        return a.sum(axis=(0, 2, 7)), a.T + 1, a[..., 0], a[:, 1, None, 0], a.max()

    check_same(f, np.arange(256.0).reshape((2,) * 8))


def test_zero_dimensional_arrays():
    def f(a, b):
        a[()] = b + 1
        a += 1
        return a, a + b, a[()], a * np.ones(2), a.shape, float(a), a.reshape(1)

    check_same(f, np.array(3.0), np.array(2.0))
    check_same(f, np.array(3, np.int32), np.array(2, np.int32))


# -- arguments that are one array, or overlap ------------------------------------------------------------------------


def shift(a, b):
    a[1:] = b[:-1] + 1


def mix(a, b, out):
    out[:] = a * 2 + b
    a += out
    b[0] = a[0]


def recur(a, b):
    for i in range(1, a.shape[0]):
        a[i] = b[i - 1] + b[i] * 0.5


def swap(a, b):
    t = a[0]
    a[0] = b[-1]
    b[-1] = t
    a[:], b[:] = b.copy(), a.copy()


@pytest.mark.parametrize("function", [shift, recur, swap])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.s_[1:], np.s_[:-1]),
        (np.s_[:], np.s_[:]),
        (np.s_[::-1], np.s_[:]),
        (np.s_[:4], np.s_[4:]),
        (np.s_[::2], np.s_[1::2]),
    ],
)
def test_row_30_two_windows_of_one_array(function, left, right):
    program = dcpy.program(function)
    program(A8.copy(), A8.copy())  # the program for separate arrays is there, and must not be used
    mine, theirs = A8.copy(), A8.copy()
    program(mine[left], mine[right])
    function(theirs[left], theirs[right])
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("order", [(0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1)])
def test_row_30_the_same_array_several_times(order):
    mine = [A8.copy(), A8 * 3]
    theirs = [A8.copy(), A8 * 3]
    dcpy.program(mix)(*(mine[k] for k in order))
    mix(*(theirs[k] for k in order))
    for got, expected in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_row_30_a_matrix_and_its_transpose():
    def f(a, b):
        a[:] = b + 1

    mine, theirs = M[:, :3].copy(), M[:, :3].copy()
    dcpy.program(f)(mine, mine.T)
    f(theirs, theirs.T)
    np.testing.assert_array_equal(mine, theirs)


def test_row_30_products_into_their_operand():
    def f(a, b):
        a[:] = a @ b

    mine, theirs = M[:, :3].copy(), M[:, :3].copy()
    dcpy.program(f)(mine, mine)
    f(theirs, theirs)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_overlapping_arrays_that_are_only_read_need_no_other_program():
    program = dcpy.program(lambda a, b: a + b)
    program(A8, A8.copy())
    program(A8, A8)
    program(A8[::-1], A8[::-1])
    assert program.specializations <= 3


def summary(x, k):
    found = {"mean": x.mean(), "parts": [x[0], x * k]}
    found["n"] = len(x)
    return found


def by_path(x, k):
    if k > 0:
        return {"n": 1, "x": x}
    return {"e": x.sum(), 2: [1, 2, {"z": x * 2}]}


def one_in_two_places(x, k):
    first = {"a": x}
    second = first
    second["b"] = k
    return first, (second,)


def counted(x, k):
    counts = {"low": 0, "high": 0}
    for value in x:
        counts["high" if value > k else "low"] += 1
    return counts


@pytest.mark.cc
def test_s3_dictionaries_are_results():
    x = np.arange(4.0)
    for f in (summary, by_path, one_in_two_places, counted):
        for k in (2, -1):
            expected = f(x, k)
            for got in (dcpy.program(f)(x, k), dcpy.program(f).to_sdfg(x, k).interpret(x, k)):
                _assert_same_dictionaries(got, expected)
    first, (second,) = dcpy.program(one_in_two_places)(x, 1)
    assert first is second
    assert first["a"] is x


def _assert_same_dictionaries(got, expected):
    if isinstance(expected, dict | list | tuple):
        assert type(got) is type(expected)
        assert len(got) == len(expected)
    if isinstance(expected, dict):
        assert list(got) == list(expected)
        got, expected = list(got.values()), list(expected.values())
    if not isinstance(expected, list | tuple):
        assert_equal(got, expected)
        return
    for mine, theirs in zip(got, expected, strict=True):
        _assert_same_dictionaries(mine, theirs)
