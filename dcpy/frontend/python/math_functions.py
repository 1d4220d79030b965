"""math` functions on numbers, with Python numbers as results, and Python's exceptions outside of the domain.

A function is one scalar operation on float64, after a check of its argument: where Python raises ValueError
("math domain error") or OverflowError ("math range error"), so does the program. `np.sqrt` and its like never raise.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    dtype_of,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.arithmetic.composite_ufuncs import exponent_of, mantissa_of, scaled
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.range_checks import as_integer_part
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.python.number_conversion import python_number
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op
from dcpy.ir.symbolic import ONE, ZERO

Test = Callable[[ScalarExpr], ScalarExpr]
BASE_E = Static(math.e)
RELATIVE = Static(1e-9)
ABSOLUTE = Static(0.0)


def _const(value: float) -> ScalarExpr:
    return Const(value, types.float64)


def _below(limit: float, *, magnitude: bool = False) -> Test:
    """Not above a limit (NaN and infinities are let through: they are no overflow)."""

    def test(x: ScalarExpr) -> ScalarExpr:
        large = op("gt", op("abs", x) if magnitude else x, _const(limit))
        return op("not", op("and", large, op("isfinite", x)))

    return test


def _unless(name: str, limit: float, *, magnitude: bool = False) -> Test:
    """Not ``x < limit`` and the like; NaN is let through."""
    return lambda x: op("not", op(name, op("abs", x) if magnitude else x, _const(limit)))


def _not_infinite(x: ScalarExpr) -> ScalarExpr:
    return op("not", op("isinf", x))


def _is_pole(x: ScalarExpr) -> ScalarExpr:
    """Return whether it is a whole number that is not positive; minus infinity is one."""
    return op("and", op("le", x, _const(0.0)), op("eq", x, op("floor", x)))


@dataclass(frozen=True)
class MathFunction:
    """A function of one float: its operation, where it is defined, and where its result is finite.

    `overflows`: a result that is not finite though the argument is raises, too.
    """

    op: str
    domain: Test | None = None
    range: Test | None = None
    overflows: bool = False


FUNCTIONS: dict[Callable[[Any], Any], MathFunction] = {
    math.sqrt: MathFunction("sqrt", _unless("lt", 0.0)),
    math.cbrt: MathFunction("cbrt"),
    math.exp: MathFunction("exp", range=_below(709.782712893384)),
    math.exp2: MathFunction(
        "exp2", range=lambda x: op("not", op("and", op("ge", x, _const(1024.0)), op("isfinite", x)))
    ),
    math.expm1: MathFunction("expm1", range=_below(709.782712893384)),
    math.log2: MathFunction("log2", _unless("le", 0.0)),
    math.log10: MathFunction("log10", _unless("le", 0.0)),
    math.log1p: MathFunction("log1p", _unless("le", -1.0)),
    math.sin: MathFunction("sin", _not_infinite),
    math.cos: MathFunction("cos", _not_infinite),
    math.tan: MathFunction("tan", _not_infinite),
    math.asin: MathFunction("asin", _unless("gt", 1.0, magnitude=True)),
    math.acos: MathFunction("acos", _unless("gt", 1.0, magnitude=True)),
    math.atan: MathFunction("atan"),
    math.sinh: MathFunction("sinh", range=_below(710.475860073943, magnitude=True)),
    math.cosh: MathFunction("cosh", range=_below(710.475860073943, magnitude=True)),
    math.tanh: MathFunction("tanh"),
    math.asinh: MathFunction("asinh"),
    math.acosh: MathFunction("acosh", _unless("lt", 1.0)),
    math.atanh: MathFunction("atanh", _unless("ge", 1.0, magnitude=True)),
    math.erf: MathFunction("erf"),
    math.erfc: MathFunction("erfc"),
    math.gamma: MathFunction("gamma", lambda x: op("not", _is_pole(x)), overflows=True),
    math.lgamma: MathFunction("lgamma", lambda x: op("not", op("and", _is_pole(x), op("isfinite", x))), overflows=True),
    math.fabs: MathFunction("abs"),
    math.radians: MathFunction("deg2rad"),
    math.degrees: MathFunction("rad2deg"),
    math.isnan: MathFunction("isnan"),
    math.isinf: MathFunction("isinf"),
    math.isfinite: MathFunction("isfinite"),
}
NATURAL_LOGARITHM = MathFunction("log", _unless("le", 0.0))
PAIRS = {math.atan2: "atan2", math.copysign: "copysign", math.nextafter: "nextafter"}
ROUNDING: dict[Callable[[Any], Any], str] = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc"}


def known_result(b: OpBuilder, function: Callable[..., Any], *values: Value) -> Value | None:
    """The result of a function of `math` or `cmath`, if all arguments are known now."""
    if not all(isinstance(value, Static) and is_number(value) for value in values):
        return None
    try:
        return Static(function(*(value.value for value in values if isinstance(value, Static))))
    except (ArithmeticError, TypeError, ValueError) as error:
        note = f"Python raises {type(error).__name__} here"
        raise b.error(f"{function.__module__}.{function.__name__}: {error}", notes=(note,)) from None


def as_float(b: OpBuilder, value: Value, name: str) -> ScalarExpr:
    """An argument as float64, computed once."""
    if isinstance(value, ArrayValue) and all(size is ONE for size in value.shape):
        value = Scalar(value.load([ZERO] * value.rank))
    if not is_number(value) or dtype_of(value).kind == "c":
        raise b.error(
            f"math.{name} does not take {kind_of(value)}", help=f"use np.{name} for arrays and complex numbers"
        )
    return scalar_expr(b.hold(Scalar(convert(scalar_expr(value), types.float64))))


def _checked(b: OpBuilder, rule: MathFunction, x: ScalarExpr) -> Value:
    if rule.domain is not None:
        b.check(rule.domain(x), "ValueError", "math domain error")
    if rule.range is not None:
        b.check(rule.range(x), "OverflowError", "math range error")
    value = Scalar(op(rule.op, x), weak=True)
    if not rule.overflows:
        return value
    held = b.hold(value)
    _require_finite(b, scalar_expr(held), x)
    return held


def _require_finite(b: OpBuilder, value: ScalarExpr, x: ScalarExpr) -> None:
    """`OverflowError` where the value is infinite though the argument is not."""
    b.check(op("not", op("and", op("isinf", value), op("isfinite", x))), "OverflowError", "math range error")


def _one(function: Callable[[Any], Any], rule: MathFunction) -> Implementation:
    def call(b: OpBuilder, x: Value, /) -> Value:
        return known_result(b, function, x) or _checked(b, rule, as_float(b, x, function.__name__))

    return call


def _pair(function: Callable[[Any, Any], Any], name: str) -> Implementation:
    def call(b: OpBuilder, x: Value, y: Value, /) -> Value:
        known = known_result(b, function, x, y)
        return known or Scalar(op(name, *(as_float(b, value, function.__name__) for value in (x, y))), weak=True)

    return call


def _rounding(function: Callable[[Any], Any], name: str) -> Implementation:
    def call(b: OpBuilder, x: Value, /) -> Value:
        known = known_result(b, function, x)
        if known is not None:
            return known
        if is_number(x) and dtype_of(x).kind in "iub":
            whole = Scalar(cast(scalar_expr(x), types.int64), weak=True)
            return python_number(b, x) if dtype_of(x).is_integer else whole
        return as_integer_part(b, Scalar(op(name, as_float(b, x, function.__name__))))

    return call


for _function, _rule in FUNCTIONS.items():
    implements(_function)(_one(_function, _rule))
for _pair_function, _name in PAIRS.items():
    implements(_pair_function)(_pair(_pair_function, _name))
for _rounding_function, _name in ROUNDING.items():
    implements(_rounding_function)(_rounding(_rounding_function, _name))


@implements(math.log)
def log(b: OpBuilder, x: Value, base: Value = BASE_E, /) -> Value:
    """The natural logarithm, or to a base."""
    known = known_result(b, math.log, *((x,) if base == BASE_E else (x, base)))
    if known is not None:
        return known
    top = _checked(b, NATURAL_LOGARITHM, as_float(b, x, "log"))
    if base == BASE_E:
        return top
    bottom = known_result(b, math.log, base) or _checked(b, NATURAL_LOGARITHM, as_float(b, base, "log"))
    return b.operator("/", b.hold(top), b.hold(bottom))


@implements(math.pow)
def pow_(b: OpBuilder, x: Value, y: Value, /) -> Value:
    """``x ** y`` on floats."""
    known = known_result(b, math.pow, x, y)
    if known is not None:
        return known
    base, exponent = as_float(b, x, "pow"), as_float(b, y, "pow")
    value = scalar_expr(b.hold(Scalar(op("pow", base, exponent))))
    finite = op("and", op("isfinite", base), op("isfinite", exponent))
    infinite = op("and", op("isinf", value), finite)
    pole = op("and", infinite, op("eq", base, _const(0.0)))
    b.check(op("not", op("or", _new_nan(value, base, exponent), pole)), "ValueError", "math domain error")
    b.check(op("not", infinite), "OverflowError", "math range error")
    return Scalar(value, weak=True)


def _remainder(function: Callable[[Any, Any], float], name: str) -> Implementation:
    def call(b: OpBuilder, x: Value, y: Value, /) -> Value:
        known = known_result(b, function, x, y)
        if known is not None:
            return known
        left, right = (as_float(b, value, function.__name__) for value in (x, y))
        value = scalar_expr(b.hold(Scalar(op(name, left, right))))
        b.check(op("not", _new_nan(value, left, right)), "ValueError", "math domain error")
        return Scalar(value, weak=True)

    return call


implements(math.fmod)(_remainder(math.fmod, "fmod"))
implements(math.remainder)(_remainder(math.remainder, "ieee_remainder"))


def _new_nan(value: ScalarExpr, *arguments: ScalarExpr) -> ScalarExpr:
    """Return whether the value is NaN though no argument is."""
    tests = [op("not", op("isnan", argument)) for argument in arguments]
    return functools.reduce(lambda x, y: op("and", x, y), tests, op("isnan", value))


@implements(math.modf)
def modf(b: OpBuilder, x: Value, /) -> Value:
    """Fractional and integral parts."""
    known = known_result(b, math.modf, x)
    if isinstance(known, Static):
        return TupleValue(tuple(map(Static, known.value)))
    value = as_float(b, x, "modf")
    whole = op("trunc", value)
    fraction = op("select", op("isinf", value), _const(0.0), op("sub", value, whole))
    return TupleValue((Scalar(op("copysign", fraction, value), weak=True), Scalar(whole, weak=True)))


@implements(math.isclose)
def isclose(b: OpBuilder, a: Value, b_: Value, /, *, rel_tol: Value = RELATIVE, abs_tol: Value = ABSOLUTE) -> Value:
    """Return whether two floats are close, relative to the larger one."""
    x, y, relative, absolute = (as_float(b, value, "isclose") for value in (a, b_, rel_tol, abs_tol))
    require_tolerances(b, relative, absolute)
    size = op("mul", relative, op("fmax", op("abs", x), op("abs", y)))
    near = op("le", op("abs", op("sub", x, y)), op("fmax", size, absolute))
    finite = op("and", op("isfinite", x), op("isfinite", y))
    return Scalar(op("or", op("eq", x, y), op("and", finite, near)), weak=True)


def require_tolerances(b: OpBuilder, *tolerances: ScalarExpr) -> None:
    """Require tolerances that `isclose` of `math` and `cmath` accept."""
    for tolerance in tolerances:
        if not (isinstance(tolerance, Const) and tolerance.value.real >= 0):
            negative = op("lt", tolerance, _const(0.0))
            b.check(op("not", negative), "ValueError", "tolerances must be non-negative")


# -- the parts of a float --------------------------------------------------------------------------------------------


@implements(math.frexp)
def frexp(b: OpBuilder, x: Value, /) -> Value:
    """``(m, e)`` with ``x == m * 2**e`` and a mantissa between a half and 1."""
    known = known_result(b, math.frexp, x)
    if isinstance(known, Static):
        return TupleValue(tuple(map(Static, known.value)))
    value = as_float(b, x, "frexp")
    mantissa = Scalar(mantissa_of(value, types.float64), weak=True)
    return TupleValue((mantissa, Scalar(cast(exponent_of(value), types.int64), weak=True)))


@implements(math.ldexp)
def ldexp(b: OpBuilder, x: Value, i: Value, /) -> Value:
    """``x * 2**i``; `OverflowError` where that is too large."""
    known = known_result(b, math.ldexp, x, i)
    if known is not None:
        return known
    if not is_number(i) or dtype_of(i).kind not in "iub":
        raise b.error("Expected an int as second argument to ldexp.", notes=("Python raises TypeError here",))
    value = as_float(b, x, "ldexp")
    found = b.hold(Scalar(scaled(value, scalar_expr(i)), weak=True))
    _require_finite(b, scalar_expr(found), value)
    return found


@implements(math.ulp)
def ulp(b: OpBuilder, x: Value, /) -> Value:
    """The distance from the magnitude of a float to the next larger one; of the largest float to the one before."""
    known = known_result(b, math.ulp, x)
    if known is not None:
        return known
    magnitude = op("abs", as_float(b, x, "ulp"))
    below = op("min", magnitude, _const(math.nextafter(sys.float_info.max, 0.0)))
    return Scalar(op("select", op("isfinite", magnitude), op("spacing", below), magnitude), weak=True)
