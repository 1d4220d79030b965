"""Positions of extrema: of truth values and of columns in one pass, as NumPy finds them."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.programs.signatures import signature_of
from tests.support import tiers


def lowest(x):
    return np.argmin(x, axis=0), x.argmax(axis=0)


def lowest_rows(x):
    return np.argmin(x, axis=1), x.argmax(axis=1)


def first_above(x, level):
    return np.argmax(x > level, axis=0), np.argmin(x > level, axis=1), np.argmax(x > level)


def middle(x):
    return x.argmin(axis=1), x.argmax(axis=1)


def hostile(rng, shape, dtype):
    """Few values, so that many are equal, and of floats the numbers that compare oddly."""
    x = rng.integers(0, 4, shape).astype(dtype)
    if x.dtype.kind == "f":
        odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], dtype)
        x = np.where(rng.random(shape) < 0.4, odd[rng.integers(0, 6, shape)], x)
    if x.dtype.kind == "i":
        limits = np.iinfo(dtype)
        for limit in (limits.max, limits.min):
            x = np.where(rng.random(shape) < 0.3, limit, x)
    return x.astype(dtype)


def same(program, *args):
    for mine, numpys in zip(dcpy.program(program, auto_optimize=True)(*args), program(*args), strict=True):
        np.testing.assert_array_equal(mine, numpys)
        assert np.asarray(mine).dtype == np.asarray(numpys).dtype


DTYPES = ("float64", "float32", "int64", "int8", "uint16", "bool")


@pytest.mark.cc
@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_and_rows(dtype):
    """Each small shape is a program: float64 has all of them, other dtypes every third."""
    rng = np.random.default_rng(0)
    some = range(1, 10) if dtype == "float64" or tiers.EXHAUSTIVE else range(1 + DTYPES.index(dtype) % 3, 10, 3)
    for rows, columns in [(n, 10 - n) for n in some] + [(33, 600), (3, 1025)]:
        x = hostile(rng, (rows, columns), dtype)
        same(lowest, x)
        same(lowest_rows, x)


@pytest.mark.cc
@pytest.mark.parametrize("order", ["reversed", "strided", "fortran"])
def test_layouts(order):
    x = hostile(np.random.default_rng(1), (24, 30), "float64")
    x = {"reversed": x[::-1, ::-1], "strided": x[::2, ::3], "fortran": np.asfortranarray(x)}[order]
    same(lowest, x)
    same(lowest_rows, x)


@pytest.mark.cc
def test_middle_axes():
    same(middle, hostile(np.random.default_rng(2), (4, 7, 9), "float64"))


@pytest.mark.cc
@pytest.mark.parametrize("level", [-1.0, 0.5, 2.0, np.nan])
def test_flags_that_never_hold_have_place_0(level):
    same(first_above, np.random.default_rng(3).random((9, 70)), level)


@pytest.mark.cc
def test_nothing_to_search():
    same(lowest, np.ones((3, 0)))
    with pytest.raises(ValueError, match="empty"):
        dcpy.program(lowest)(np.ones((0, 3)))


N, M = dcpy.symbol("N"), dcpy.symbol("M")


def of_columns(x: dcpy.float64[N, M]):
    return np.argmin(x, axis=0)


def of_flags(x: dcpy.float64[N, M]):
    return np.argmax(x > 1.0, axis=1)


@pytest.mark.parametrize("function", [of_columns, of_flags])
def test_no_pass_looks_for_the_extremum_first(function):
    sdfg = dcpy.program(function, auto_optimize=True).to_sdfg()
    text = driver.artifact_of(sdfg, signature_of(sdfg), resolve_options()).units[0].text
    assert "first" in text
    assert "extremum" not in text
    assert "best_max" not in text
