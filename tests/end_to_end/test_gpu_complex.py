"""Complex functions in kernels: those of C's Annex G, whose compilers of devices have none."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from tests.support import devices

pytestmark = pytest.mark.cc
PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 1e-3, 30.0, -800.0, 0.8, 0.6, 1e10, 1e-300, np.inf, -np.inf, np.nan)
VALUES = np.array([complex(a, b) for a in PARTS for b in PARTS])


def functions(z):
    powers = np.exp(z), np.exp2(z), np.log(z), np.log2(z), np.log10(z), np.sqrt(z)
    angles = np.sin(z), np.cos(z), np.tan(z), np.arcsin(z), np.arccos(z), np.arctan(z)
    hyperbolic = np.sinh(z), np.cosh(z), np.tanh(z), np.arcsinh(z), np.arccosh(z), np.arctanh(z)
    return *powers, *angles, *hyperbolic


def powers(z, w):
    return z**w, w**2.5, w**-3


def on_device(function):
    return dcpy.program(function, device=dcpy.DeviceType.GPU, gpu_backend=devices.BACKEND, auto_optimize=True)


def assert_close(found, expected, tolerance, z):
    """Infinities and NaN in the same parts, and signs of zeros where `z` is finite; else close by absolute value."""
    with np.errstate(all="ignore"):
        same = np.abs(found - expected) <= tolerance * np.abs(expected)
    for mine, theirs in ((found.real, expected.real), (found.imag, expected.imag)):
        exact = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
        assert np.all(same | exact)
        zero = np.isfinite(z) & (theirs == 0) & (mine == 0)
        assert np.array_equal(np.signbit(mine[zero]), np.signbit(theirs[zero]))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex128, 1e-14), (np.complex64, 1e-6)])
def test_functions_are_numpys_at_infinities_zeros_and_between(dtype, tolerance):
    program = on_device(functions)
    z = VALUES.astype(dtype)
    with np.errstate(all="ignore"):
        expected = functions(z)
    for found, theirs in zip(program(z), expected, strict=True):
        assert found.dtype == dtype
        assert_close(found, theirs, tolerance, z)


def test_they_run_in_kernels():
    text = dcpy.program(functions).to_sdfg(VALUES).code(device="gpu")
    assert " casinh(dcpy_complex128 z)" in text
    assert "= dcpy_catanh(gpu_z[" in text


def test_powers_are_numpys():
    z, w = VALUES[np.isfinite(VALUES) & (np.abs(VALUES) < 100)], 0.5 - 1.5j
    w = np.full(len(z), w)
    with np.errstate(all="ignore"):
        for found, expected in zip(on_device(powers)(z, w), powers(z, w), strict=True):
            assert_close(found, expected, 1e-13, z)
