"""Nests of elementwise functions: the C++ grows by one call a level, so no lowering writes its operand twice."""

import numpy as np
import pytest

import dcpy
from tests.fuzz.program import define

UNARY = [
    "abs", "np.fabs", "np.sign", "np.negative", "np.square", "np.sqrt", "np.exp", "np.exp2", "np.expm1",
    "np.log", "np.log2", "np.log10", "np.log1p", "np.sin", "np.cos", "np.tan", "np.arcsin", "np.arccos",
    "np.arctan", "np.sinh", "np.cosh", "np.tanh", "np.arcsinh", "np.arccosh", "np.arctanh", "np.floor",
    "np.ceil", "np.trunc", "np.rint", "np.cbrt", "np.reciprocal", "np.deg2rad", "np.rad2deg", "np.nan_to_num",
    "np.sinc", "np.spacing", "np.round", "np.isnan",
]  # fmt: skip
FLOATS = [f"{name}({{0}})" for name in UNARY] + [
    "np.maximum({0}, 1.0)", "np.maximum(1.0, {0})", "np.minimum({0}, x)", "np.fmax({0}, x)", "np.fmin(x, {0})",
    "np.clip({0}, -1.0, 1.0)", "np.where({0} > 0.5, x, 0.25)", "np.where(x > 0.5, {0}, 0.25)", "({0} % 3.0)",
    "({0} // 3.0)", "(x % {0})", "(x // {0})", "np.fmod({0}, 3.0)", "({0})**2", "({0})**3", "({0})**7", "({0})**0.5",
    "({0})**x", "np.hypot({0}, x)", "np.arctan2({0}, x)", "np.copysign({0}, x)", "np.heaviside({0}, 0.5)",
    "np.logaddexp({0}, x)", "np.nextafter({0}, x)", "np.ldexp({0}, 1)", "np.divmod({0}, 3.0)[1]", "np.modf({0})[0]",
    "np.float_power({0}, 1.5)", "(1.0 / {0})", "np.select([x > {0}, x < 0.0], [x, 0.5], 0.25)", "np.sqrt(abs({0}))",
]  # fmt: skip
INTEGERS = [
    "abs({0})", "np.sign({0})", "({0} % 7)", "({0} // 3)", "np.maximum({0}, 3)", "np.clip({0}, -3, 3)", "({0} << 1)",
    "({0})**2", "({0})**3", "np.gcd({0}, 12)", "({0}).astype(np.float64).astype(np.int64)", "~({0} & 12)",
]  # fmt: skip
COMPLEX = [
    "(abs({0}) + 1j)", "({0})**2", "({0})**3", "np.exp({0})", "np.sqrt({0})", "({0} * x)", "(1.0 / {0})", "(x / {0})",
    "np.conj({0})", "np.square({0})",
]  # fmt: skip
CASES = [(level, "f8") for level in FLOATS]
CASES += [(level, "f4") for level in ("abs({0})", "np.maximum({0}, 1.0)", "({0} % 3.0)")]
CASES += [(level, "f2") for level in ("abs({0})", "np.minimum({0}, x)")] + [(level, "i8") for level in INTEGERS]
CASES += [(level, "c16") for level in COMPLEX]


def nest(level, depth):
    """``f(f(…f(x)…))`` as a function."""
    text = "x"
    for _ in range(depth):
        text = level.format(text)
    return text


def length(level, dtype, depth):
    function = define(f"def f(x):\n    return {nest(level, depth)}\n")
    return len(dcpy.program(function).to_sdfg(np.zeros(8, dtype)).code())


@pytest.mark.parametrize(("level", "dtype"), CASES)
def test_text_grows_linearly(level, dtype):
    assert length(level, dtype, 20) < 3 * length(level, dtype, 10)


@pytest.mark.cc
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i8", "c16"])
def test_absolute_values_of_absolute_values_compile(dtype):
    function = define(f"def f(x):\n    return {nest('abs({0})', 24)}\n")
    x = np.array([1.5, -2.5, 0.0]).astype(dtype)
    np.testing.assert_array_equal(dcpy.program(function)(x), function(x))
