"""Of 0.0 and -0.0 compiled code keeps the one that NumPy keeps, in vectors and in what is left of them."""

import platform

import numpy as np
import pytest

import dcpy

pytestmark = [
    pytest.mark.cc,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="which zero NumPy keeps depends on the processor"),
]


def extrema(a, b):
    return np.maximum(a, b), np.minimum(a, b), np.maximum(a, b[0]), np.minimum(a[0], b)


def of_numbers(a, b):
    return np.maximum(a[0], b[0]), np.minimum(a[0], b[0]), max(a[0], b[0]), min(a[0], b[0])


def clipped(a, b):
    return np.clip(a, b, 1.0), np.clip(a, -0.0, 1.0), np.clip(a, -1.0, 0.0), np.clip(a, 0.0, None), np.clip(a, None, b)


def rectified(a, b):
    return np.maximum(a, 0), np.maximum(0, a), np.minimum(b, -0.0)


def in_a_loop(a, b):
    z = np.empty_like(a)
    for k in range(len(a)):
        z[k] = np.maximum(a[k], b[k])
    return z


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("function", [extrema, of_numbers, clipped, rectified, in_a_loop])
def test_signs_as_numpy(function, dtype):
    programs = [dcpy.program(function), dcpy.program(function, auto_optimize=True)]
    for count in (1, 5, 33):
        for one, other in ((0.0, -0.0), (-0.0, 0.0)):
            given = np.full(count, one, dtype), np.full(count, other, dtype)
            expected = function(*given)
            for program in programs:
                found = program(*given)
                pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
                for mine, theirs in pairs:
                    np.testing.assert_array_equal(np.signbit(mine), np.signbit(theirs))
