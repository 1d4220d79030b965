"""S-4b: whole powers are multiplied out, and stay NumPy's in value and dtype."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

EXPONENTS = (0, 1, 2, 3, 4, 5, 7, 12, 16, 17)


def powers(x):
    return x**0, x**1, x**2, x**3, x**4, x**5, x**7, x**12, x**16, x**17


@pytest.mark.cc
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "int32", "int64", "uint16", "complex128"])
def test_s4b_whole_powers(dtype):
    x = np.array([-3, -1, 0, 1, 2, 5, 7], "f8").astype(dtype)
    if x.dtype.kind == "f":
        special = np.array([1e-4, 1e4, np.inf, -np.inf, np.nan, -0.0, 1.1]).astype(dtype)
        x = np.concatenate([x, special])
    with np.errstate(all="ignore"):
        expected = powers(x)
    for mine, numpys, exponent in zip(dcpy.program(powers)(x), expected, EXPONENTS, strict=True):
        assert mine.dtype == numpys.dtype
        rtol = 2e-3 if dtype == "float16" else 1e-6 if dtype == "float32" else 1e-13
        np.testing.assert_allclose(mine, numpys, rtol=rtol, err_msg=str(exponent))


def test_s4b_no_call_of_pow_is_left():
    def cube(x: dcpy.float64[8]):
        return x**3 + x**4

    from dcpy import driver
    from dcpy.base.options import resolve_options
    from dcpy.programs.signatures import signature_of

    sdfg = dcpy.program(cube).to_sdfg()
    text = driver.artifact_of(sdfg, signature_of(sdfg), resolve_options()).units[0].text
    assert "dcpy_power<3, double>(" in text
    assert "pow(" not in text.replace("dcpy_power", "")


HALVES = (1.5, 2.5, 7.5, 15.5, -0.5, -1.5, -2.5, -7.5)


def half_powers(x):
    return tuple(np.power(x, half) for half in (1.5, 2.5, 7.5, 15.5, -0.5, -1.5, -2.5, -7.5))


@pytest.mark.cc
@pytest.mark.parametrize(
    ("dtype", "language"),
    [("float64", "c++"), ("float32", "c++"), ("float16", "c++"), ("float64", "c"), ("float32", "c")],
)
def test_half_powers_are_products_and_a_root(dtype, language):
    limits = np.finfo(dtype)
    special = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, -1.5, 2.0, 3.7, 0.1, 1e-4, 1e4, limits.max, limits.tiny]
    digits = {"float64": 300, "float32": 37, "float16": 4}[dtype]  # to where powers overflow, and are denormal numbers
    x = np.concatenate([special, 10.0 ** np.linspace(-digits, digits, 40 * digits + 1)]).astype(dtype)
    with np.errstate(all="ignore"):
        expected = half_powers(x)
    for mine, numpys, half in zip(dcpy.program(half_powers, cpu_language=language)(x), expected, HALVES, strict=True):
        assert mine.dtype == numpys.dtype
        rtol = 2e-3 if dtype == "float16" else 2e-6 if dtype == "float32" else 4e-15
        least = 2 * float(limits.smallest_subnormal)
        np.testing.assert_allclose(mine, numpys, rtol=rtol, atol=least, err_msg=str(half))
        np.testing.assert_array_equal(np.signbit(mine), np.signbit(numpys), err_msg=str(half))


INVERSES = (-1, -2, -3, -4, -5, -6, -7, -12, -15, -16, -17)


def inverse_powers(x):
    return tuple(np.power(x, n) for n in (-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -12.0, -15.0, -16.0, -17.0))


@pytest.mark.cc
@pytest.mark.parametrize(
    ("dtype", "language"),
    [("float64", "c++"), ("float32", "c++"), ("float16", "c++"), ("float64", "c"), ("float32", "c")],
)
def test_inverses_of_whole_powers_are_products_and_quotients(dtype, language):
    limits = np.finfo(dtype)
    special = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, -1.5, 2.0, -3.7, 0.1, 1e-4, 1e4, limits.max, limits.tiny]
    digits = {"float64": 300, "float32": 37, "float16": 4}[dtype]
    sizes = 10.0 ** np.linspace(-digits, digits, 40 * digits + 1)
    x = np.concatenate([special, sizes, -sizes]).astype(dtype)
    with np.errstate(all="ignore"):
        expected = inverse_powers(x.astype("f8")) if dtype == "float16" else inverse_powers(x)
    found = dcpy.program(inverse_powers, cpu_language=language)(x)
    for mine, numpys, exponent in zip(found, expected, INVERSES, strict=True):
        assert mine.dtype == dtype
        with np.errstate(all="ignore"):
            numpys = numpys.astype(dtype)
        rtol = 2e-3 if dtype == "float16" else 2e-6 if dtype == "float32" else 4e-15
        least = 4 * float(limits.smallest_subnormal)
        np.testing.assert_allclose(mine, numpys, rtol=rtol, atol=least, err_msg=str(exponent))
        np.testing.assert_array_equal(np.signbit(mine), np.signbit(numpys), err_msg=str(exponent))


def roots(x):
    return x**0.5, x[1] ** 0.5


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32"])
def test_the_power_of_a_half_is_the_root_of_arrays(dtype):
    x = np.array([0.0, 2.0, -np.inf, -0.0, np.inf, 9.0, -4.0] if dtype != "int32" else [0, 2, 9]).astype(dtype)
    check_same(roots, x, rtol=1e-6)


def root_in_place(x):
    x **= 0.5


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex128"])
def test_the_power_of_a_half_in_place_is_the_root(dtype):
    x = np.array([2.0, -np.inf, -0.0, np.inf]).astype(dtype)
    check_same(root_in_place, x, rtol=1e-6)


def complex_roots(x):
    return x**0.5, x ** np.float64(0.5)


def test_of_complex_numbers_only_with_a_number_of_python():
    """NumPy converts its own number to a complex one first, and calls pow: infinities differ."""
    check_same(complex_roots, np.array([2.0, -np.inf, np.inf, -4.0], dtype="complex128"), rtol=1e-12)
