"""cmath` functions on numbers, with Python complex numbers as results, and Python's exceptions."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

from dcpy.frontend.abstract_values.values import Scalar, TupleValue, Value, is_number, kind_of, scalar_expr
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.python.math_functions import ABSOLUTE, RELATIVE, as_float, known_result, require_tolerances
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, op

FUNCTIONS: dict[Callable[[Any], Any], str] = {
    cmath.sqrt: "sqrt", cmath.exp: "exp", cmath.log: "log", cmath.log10: "log10", cmath.sin: "sin", cmath.cos: "cos",
    cmath.tan: "tan", cmath.asin: "asin", cmath.acos: "acos", cmath.atan: "atan", cmath.sinh: "sinh",
    cmath.cosh: "cosh", cmath.tanh: "tanh", cmath.asinh: "asinh", cmath.acosh: "acosh", cmath.atanh: "atanh",
}  # fmt: skip
TESTS: dict[Callable[[Any], bool], str] = {
    cmath.isnan: "isnan",
    cmath.isinf: "isinf",
    cmath.isfinite: "isfinite",
}
LOGARITHMS = (cmath.log, cmath.log10)
GROWING = (cmath.exp, cmath.sinh, cmath.cosh)


def _complex(b: OpBuilder, value: Value, name: str) -> ScalarExpr:
    if not is_number(value):
        raise b.error(f"cmath.{name} does not take {kind_of(value)}", help=f"use np.{name} for arrays")
    return scalar_expr(b.hold(Scalar(convert(scalar_expr(value), types.complex128))))


def _one(function: Callable[[Any], Any], name: str) -> Implementation:
    def call(b: OpBuilder, z: Value, /) -> Value:
        known = known_result(b, function, z)
        if known is not None:
            return known
        expr = _complex(b, z, function.__name__)
        if function in LOGARITHMS:
            b.check(op("ne", expr, Const(0j, types.complex128)), "ValueError", "math domain error")
        result = Scalar(op(name, expr), weak=True)
        if function in GROWING:
            held = b.hold(result)
            finite = op("or", op("isfinite", scalar_expr(held)), op("not", op("isfinite", expr)))
            b.check(finite, "OverflowError", "math range error")
            return held
        return result

    return call


def _test(function: Callable[[Any], bool], name: str) -> Implementation:
    def call(b: OpBuilder, z: Value, /) -> Value:
        return known_result(b, function, z) or Scalar(op(name, _complex(b, z, name)), weak=True)

    return call


for _function, _name in FUNCTIONS.items():
    implements(_function)(_one(_function, _name))
for _function, _name in TESTS.items():
    implements(_function)(_test(_function, _name))


@implements(cmath.phase)
def phase(b: OpBuilder, z: Value, /) -> Value:
    """The angle, from -pi to pi."""
    expr = _complex(b, z, "phase")
    return Scalar(op("atan2", op("imag", expr), op("real", expr)), weak=True)


@implements(cmath.polar)
def polar(b: OpBuilder, z: Value, /) -> Value:
    """Magnitude and angle."""
    return TupleValue((Scalar(op("cabs", _complex(b, z, "polar")), weak=True), phase(b, z)))


@implements(cmath.rect)
def rect(b: OpBuilder, r: Value, phi: Value, /) -> Value:
    """The complex number of a magnitude and an angle."""
    length, angle = (convert(scalar_expr(b.hold(value)), types.float64) for value in (r, phi))
    return Scalar(op("complex", *(op("mul", length, op(name, angle)) for name in ("cos", "sin"))), weak=True)


@implements(cmath.isclose)
def isclose(b: OpBuilder, a: Value, b_: Value, /, *, rel_tol: Value = RELATIVE, abs_tol: Value = ABSOLUTE) -> Value:
    """Return whether two numbers are close, relative to the larger one."""
    x, y = (_complex(b, value, "isclose") for value in (a, b_))
    relative, absolute = (as_float(b, value, "isclose") for value in (rel_tol, abs_tol))
    require_tolerances(b, relative, absolute)
    gap, *sizes = (op("cabs", value) for value in (op("sub", x, y), x, y))
    near = op("le", gap, op("fmax", op("mul", relative, op("fmax", *sizes)), absolute))
    finite = op("and", *(op("not", op("isinf", value)) for value in (x, y)))
    return Scalar(op("or", op("eq", x, y), op("and", finite, near)), weak=True)
