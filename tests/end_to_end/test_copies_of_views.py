"""Copies of what is a view in Python, where paths meet or sizes decide: a later store is seen, or refused."""

import numpy as np
import pytest

import dcpy
from dcpy.ir.interp import run
from tests.support import devices


def interpreted(function, values):
    """What the interpreter makes of the function, for arguments by name."""
    sdfg = dcpy.program(function).to_sdfg(*values.values())
    found = run(sdfg, {name: values[name] for name in sdfg.arguments})
    return found if sdfg.convention is None else sdfg.convention.delivered(values, found)


def flipped_then_stored_through_the_other(a, d, n):
    for _ in range(n):
        a = np.flip(a)
    d[:] = 1
    return a


def one_of_two_windows_then_stored_through_the_other(a, d, n):
    b = a
    if n > 1:
        b = b[::-1]
    d[:] = 1
    return b.sum()


def stored_through_the_other_in_the_loop(a, d, n):
    b = a
    for i in range(n):
        d[:] = i
        b = b[::-1]
    return b.sum(), a.sum()


@pytest.mark.parametrize("n", range(4))
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize(
    "function",
    [
        flipped_then_stored_through_the_other, one_of_two_windows_then_stored_through_the_other,
        stored_through_the_other_in_the_loop,
    ],
)  # fmt: skip
def test_stores_through_an_argument_that_overlaps(function, size, n):
    theirs, mine = np.arange(3.0, 3.0 + size), np.arange(3.0, 3.0 + size)
    expected = function(theirs, theirs[: (size + 1) // 2], n)
    values = dict(zip("adn", (mine, mine[: (size + 1) // 2], n), strict=True))
    np.testing.assert_equal(interpreted(function, values), expected)
    np.testing.assert_equal(mine, theirs)


@pytest.mark.cc
@pytest.mark.parametrize("n", range(3))
def test_a_loop_of_views_returns_a_view(n):
    def f(a, n):
        for _ in range(n):
            a = np.flip(a)
        return a

    a = np.arange(4.0)
    found = dcpy.program(f)(a, n)
    assert np.shares_memory(found, a)
    np.testing.assert_equal(found, a[::-1] if n % 2 else a)


def trimmed(a):
    t = np.trim_zeros(a[0])
    a[:] = 1
    return t.sum()


def perhaps_one_element(a):
    t = a[0, ::2].ravel()
    a[:] = 1
    return t.sum()


def perhaps_evenly_spaced(a):
    t = a[:, ::2].reshape(-1)
    a[:] = 1
    return t.sum()


@pytest.mark.parametrize("function", [trimmed, perhaps_one_element, perhaps_evenly_spaced])
def test_what_may_be_a_view_is_not_used_after_a_store_to_its_source(function):
    with pytest.raises(dcpy.DcpyError, match="this array has a copy, used later"):
        dcpy.program(function).to_sdfg(np.zeros((3, 5)))


def test_stores_when_the_copy_is_done():
    def f(a):
        t = np.trim_zeros(a[0]).sum() + a[:, ::2].reshape(-1).sum()
        a[:] = 1
        return t

    theirs, mine = (np.arange(15.0).reshape(3, 5) for _ in range(2))
    np.testing.assert_equal(interpreted(f, {"a": mine}), f(theirs))
    np.testing.assert_equal(mine, theirs)


@pytest.mark.cc
def test_calls_by_sizes_for_which_numpy_copies():
    def f(a):
        t, u = a[:, 1:-1].reshape(-1), a[:, 1:-1].ravel()
        a[:] = 1
        t[0], u[1] = 2, 3
        return t, u

    called = dcpy.program(f)
    for shape in ((3, 5), (1, 5), (2, 4)):
        np.testing.assert_equal(called(np.ones(shape)), f(np.ones(shape)))
    with pytest.raises(dcpy.DcpyError, match="this array has a copy, used later"):
        called(np.ones((5, 3)))  # one column is evenly spaced: a view, which dcpy copies


def reversed_rows(e):
    for x in e:
        x[...] = x[::-1]


def shifted_rows(e):
    for x in e:
        y = x[1:]
        y[...] = x[:-1]


def rolled_planes(e):
    for x in e:
        x[2:] = x[:-2]


@pytest.mark.cc
@pytest.mark.parametrize("auto", [False, True])
@pytest.mark.parametrize("function", [reversed_rows, shifted_rows, rolled_planes])
def test_kernels_copy_within_an_array(function, auto):
    """A thread that copies a row into itself has a temporary, also where another view of it is copied."""
    mine, theirs = np.arange(30.0).reshape(5, 6), np.arange(30.0).reshape(5, 6)
    options = {"device": dcpy.DeviceType.GPU, "gpu_backend": devices.BACKEND}
    dcpy.program(function, auto_optimize=auto, **options)(mine)
    function(theirs)
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.cc
def test_a_size_that_is_worked_out_beside_dimensions_that_stay():
    def f(a):
        by_last, by_name = a.transpose(2, 0, 1).reshape(5, -1), a.transpose(2, 0, 1).reshape(a.shape[2], -1)
        return by_last, by_name, a.transpose(1, 0, 2).reshape(-1, 5), a[:, :, ::2].reshape(-1, 3), a.T.reshape(-1, 4, 3)

    a = np.arange(60.0).reshape(3, 4, 5)
    for got, wanted in zip(dcpy.program(f)(a), f(a), strict=True):
        np.testing.assert_array_equal(got, wanted)
        assert got.strides == wanted.strides
        assert np.shares_memory(got, a) == np.shares_memory(wanted, a)
