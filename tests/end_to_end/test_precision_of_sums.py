"""W4: sums of short floats are as close to exact as NumPy's, or closer, along any axis and however long it is."""

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.cc

LONG = 300_000
EPSILON = {"float16": 2.0**-11, "float32": 2.0**-24, "complex64": 2.0**-24}
SHAPES = {"rows": (3, LONG), "columns": (LONG, 3), "planes": (2, 700, 90), "wide": (2000, 70), "vector": (LONG,)}


def total(a, axis):
    return np.sum(a, axis=axis)


def mean(a, axis):
    return np.mean(a, axis=axis)


def variance(a, axis):
    return np.var(a, axis=axis), np.std(a, axis=axis)


def added(a, axis):
    return np.add.reduce(a, axis=axis), a.sum(axis=axis, keepdims=True)


def axes_of(shape):
    single = [*range(len(shape)), None]
    return [*single, (0, 1), (0, 2), (1, 2)] if len(shape) == 3 else single


def values(shape, dtype, order, kind):
    rng = np.random.default_rng(1)
    a = np.full(shape, 0.1) if kind == "equal" else rng.random(shape)
    a = a * (1e-2 if dtype == "float16" else 1)  # sums stay below its largest number
    if dtype == "complex64":
        a = a + 1j * a[::-1]
    return np.array(a, dtype, order=order)


def error(found, exact):
    found, exact = np.asarray(found, exact.dtype), np.asarray(exact)
    return np.max(np.abs(found - exact) / np.abs(exact))


def along(function, axis):
    """The function of an array alone."""
    return lambda a: function(a, axis)


def check(function, shape, dtype, axis, orders="CF"):
    program = dcpy.program(along(function, axis))
    for order in orders:
        for kind in ("equal", "random"):
            a = values(SHAPES[shape], dtype, order, kind)
            wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
            results, exacts = program(a), function(wide, axis)
            pairs = zip(results, exacts, strict=True) if function is added else [(results, exacts)]
            for found, exact in pairs:
                assert found.dtype == a.dtype
                # what a group of rows is summed in, before double precision takes over
                assert error(found, np.asarray(exact)) < 24 * EPSILON[dtype], (axis, order, kind)


@pytest.mark.parametrize("shape", SHAPES)
def test_w4_sums_along_every_axis_in_every_order(shape):
    for axis in axes_of(SHAPES[shape]):
        check(total, shape, "float32", axis)


@pytest.mark.parametrize("dtype", ["float16", "complex64"])
def test_w4_sums_of_every_short_dtype(dtype):
    for shape in ("rows", "columns"):
        for axis in (0, 1, None):
            check(total, shape, dtype, axis, orders="C")


@pytest.mark.parametrize("function", [mean, added])
def test_w4_what_is_made_of_sums(function):
    for axis in (0, 2, (0, 1)):
        check(function, "planes", "float32", axis, orders="C")


@pytest.mark.parametrize("shape", ["rows", "vector"])
def test_w4_along_memory_sums_are_rounded_once(shape):
    a = values(SHAPES[shape], "float32", "C", "equal")
    axis = len(SHAPES[shape]) - 1
    found = dcpy.program(along(total, axis))(a)
    assert error(found, np.sum(a.astype(np.float64), axis=axis)) <= EPSILON["float32"]


def test_w4_the_program_of_the_report():
    found = dcpy.program(lambda a: np.sum(a, axis=1))(np.full((2, 4_000_000), 0.1, "f4"))
    exact = np.float64(np.float32(0.1)) * 4_000_000
    assert error(found, np.full(2, exact)) < 1e-7


def test_w4_variances():
    a = values(SHAPES["rows"], "float32", "C", "random")
    for axis in (0, 1, None):
        found = dcpy.program(along(variance, axis))(a)
        for mine, exact in zip(found, variance(a.astype(np.float64), axis), strict=True):
            assert error(mine, np.asarray(exact)) < 1e-5  # of differences, where NumPy has no more digits either


def test_w4_loops_that_add_up():
    @dcpy.program(auto_optimize=True)
    def by_loop(a):
        s = np.zeros(a.shape[0], np.float32)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s[i] += a[i, j]
        return s

    a = values((3, 2000), "float32", "C", "random")
    assert error(by_loop(a), a.astype(np.float64).sum(axis=1)) < 1e-5


def test_w4_products_without_a_library():
    a, x = values((40, LONG // 10), "float32", "C", "equal"), values((LONG // 10,), "float32", "C", "random")
    sdfg = dcpy.program(lambda a, x: (a @ x, x @ x)).to_sdfg(a, x)
    found = sdfg.expand_library_nodes("pure").compile()(a, x)
    wide, y = a.astype(np.float64), x.astype(np.float64)
    for mine, exact in zip(found, (wide @ y, y @ y), strict=True):
        assert error(mine, np.asarray(exact)) < 4 * EPSILON["float32"]
