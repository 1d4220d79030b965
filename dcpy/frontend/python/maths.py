"""The module `math`: on numbers, with Python numbers as results, and Python's exceptions outside of the domain.

A function is one operation of `ir.ops` on float64, after a check of its argument: where Python raises ValueError
("math domain error") or OverflowError ("math range error"), so does the program. `np.sqrt` and its like never raise.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower import sequences
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.lower.elementwise import convert
from dcpy.frontend.lower.fitting import as_integer_part
from dcpy.frontend.lower.overflow import require_bits
from dcpy.frontend.python.numbers import python_number
from dcpy.frontend.values import (
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
from dcpy.ir import types
from dcpy.ir.expr import Const, ScalarExpr, cast, op
from dcpy.ir.symbolic import ONE, ZERO

Test = Callable[[ScalarExpr], ScalarExpr]
BASE_E = Static(math.e)
START = Static(1)
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


@dataclass(frozen=True)
class Function:
    """A function of one float: its operation, where it is defined, and where its result is finite."""

    op: str
    domain: Test | None = None
    range: Test | None = None


FUNCTIONS: dict[Callable[[Any], Any], Function] = {
    math.sqrt: Function("sqrt", _unless("lt", 0.0)),
    math.cbrt: Function("cbrt"),
    math.exp: Function("exp", range=_below(709.782712893384)),
    math.exp2: Function("exp2", range=lambda x: op("not", op("and", op("ge", x, _const(1024.0)), op("isfinite", x)))),
    math.expm1: Function("expm1", range=_below(709.782712893384)),
    math.log2: Function("log2", _unless("le", 0.0)),
    math.log10: Function("log10", _unless("le", 0.0)),
    math.log1p: Function("log1p", _unless("le", -1.0)),
    math.sin: Function("sin", _not_infinite),
    math.cos: Function("cos", _not_infinite),
    math.tan: Function("tan", _not_infinite),
    math.asin: Function("asin", _unless("gt", 1.0, magnitude=True)),
    math.acos: Function("acos", _unless("gt", 1.0, magnitude=True)),
    math.atan: Function("atan"),
    math.sinh: Function("sinh", range=_below(710.475860073943, magnitude=True)),
    math.cosh: Function("cosh", range=_below(710.475860073943, magnitude=True)),
    math.tanh: Function("tanh"),
    math.asinh: Function("asinh"),
    math.acosh: Function("acosh", _unless("lt", 1.0)),
    math.atanh: Function("atanh", _unless("ge", 1.0, magnitude=True)),
    math.fabs: Function("abs"),
    math.radians: Function("deg2rad"),
    math.degrees: Function("rad2deg"),
    math.isnan: Function("isnan"),
    math.isinf: Function("isinf"),
    math.isfinite: Function("isfinite"),
}
NATURAL_LOGARITHM = Function("log", _unless("le", 0.0))
PAIRS = {math.atan2: "atan2", math.copysign: "copysign", math.nextafter: "nextafter"}
ROUNDING: dict[Callable[[Any], Any], str] = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc"}
DIVISORS = {math.gcd: "gcd", math.lcm: "lcm"}


def _known(b: Builder, function: Callable[..., Any], *values: Value) -> Value | None:
    """Computed now where all arguments are known."""
    if not all(isinstance(value, Static) and is_number(value) for value in values):
        return None
    try:
        return Static(function(*(value.value for value in values if isinstance(value, Static))))
    except (ArithmeticError, TypeError, ValueError) as error:
        note = f"Python raises {type(error).__name__} here"
        raise b.error(f"math.{function.__name__}: {error}", notes=(note,)) from None


def _float(b: Builder, value: Value, name: str) -> ScalarExpr:
    """An argument as float64, computed once."""
    if isinstance(value, ArrayValue) and all(size is ONE for size in value.shape):
        value = Scalar(value.load([ZERO] * value.rank))
    if not is_number(value) or dtype_of(value).kind == "c":
        raise b.error(
            f"math.{name} does not take {kind_of(value)}", help=f"use np.{name} for arrays and complex numbers"
        )
    return scalar_expr(b.hold(Scalar(convert(scalar_expr(value), types.float64))))


def _checked(b: Builder, rule: Function, x: ScalarExpr) -> Value:
    if rule.domain is not None:
        b.check(rule.domain(x), "ValueError", "math domain error")
    if rule.range is not None:
        b.check(rule.range(x), "OverflowError", "math range error")
    return Scalar(op(rule.op, x), weak=True)


def _one(function: Callable[[Any], Any], rule: Function) -> Implementation:
    def call(b: Builder, x: Value, /) -> Value:
        return _known(b, function, x) or _checked(b, rule, _float(b, x, function.__name__))

    return call


def _pair(function: Callable[[Any, Any], Any], name: str) -> Implementation:
    def call(b: Builder, x: Value, y: Value, /) -> Value:
        known = _known(b, function, x, y)
        return known or Scalar(op(name, *(_float(b, value, function.__name__) for value in (x, y))), weak=True)

    return call


def _rounding(function: Callable[[Any], Any], name: str) -> Implementation:
    def call(b: Builder, x: Value, /) -> Value:
        known = _known(b, function, x)
        if known is not None:
            return known
        if is_number(x) and dtype_of(x).kind in "iub":
            whole = Scalar(cast(scalar_expr(x), types.int64), weak=True)
            return python_number(b, x) if dtype_of(x).is_integer else whole
        return as_integer_part(b, Scalar(op(name, _float(b, x, function.__name__))))

    return call


def _require_multiple(b: Builder, x: Value, y: Value) -> None:
    """That the least common multiple of `x` and `y` fits."""
    left, right = scalar_expr(x), cast(scalar_expr(y), types.int64)
    divisor = op("max", op("gcd", left, right), Const(1, types.int64))
    test = op("mul_fits", op("floordiv", left, divisor), right)
    require_bits(b, test, "the least common multiple of {0} and {1}", [left, right])


def _divisor(function: Callable[..., int], name: str) -> Implementation:
    def call(b: Builder, *integers: Value) -> Value:
        known = _known(b, function, *integers)
        if known is not None:
            return known
        if not all(is_number(value) and dtype_of(value).kind in "iub" for value in integers):
            raise b.error(f"math.{name} takes integers", notes=("Python raises TypeError here",))
        numbers = [python_number(b, value) for value in integers]
        found: Value = Scalar(op("abs", cast(scalar_expr(numbers[0]), types.int64)), weak=True)
        for number in numbers[1:]:
            if name == "lcm":
                _require_multiple(b, found, number)
            found = Scalar(op(name, scalar_expr(found), cast(scalar_expr(number), types.int64)), weak=True)
        return found

    return call


for _function, _rule in FUNCTIONS.items():
    implements(_function)(_one(_function, _rule))
for _pair_function, _name in PAIRS.items():
    implements(_pair_function)(_pair(_pair_function, _name))
for _rounding_function, _name in ROUNDING.items():
    implements(_rounding_function)(_rounding(_rounding_function, _name))
for _divisor_function, _name in DIVISORS.items():
    implements(_divisor_function)(_divisor(_divisor_function, _name))


@implements(math.log)
def log(b: Builder, x: Value, base: Value = BASE_E, /) -> Value:
    """The natural logarithm, or to a base."""
    known = _known(b, math.log, *((x,) if base == BASE_E else (x, base)))
    if known is not None:
        return known
    top = _checked(b, NATURAL_LOGARITHM, _float(b, x, "log"))
    if base == BASE_E:
        return top
    bottom = _known(b, math.log, base) or _checked(b, NATURAL_LOGARITHM, _float(b, base, "log"))
    return b.operator("/", b.hold(top), b.hold(bottom))


@implements(math.hypot)
def hypot(b: Builder, *coordinates: Value) -> Value:
    """The length of a vector."""
    known = _known(b, math.hypot, *coordinates)
    if known is not None:
        return known
    parts = [_float(b, value, "hypot") for value in coordinates]
    return Scalar(functools.reduce(lambda x, y: op("hypot", x, y), parts[1:], op("abs", parts[0])), weak=True)


@implements(math.pow)
def pow_(b: Builder, x: Value, y: Value, /) -> Value:
    """``x ** y`` on floats."""
    known = _known(b, math.pow, x, y)
    if known is not None:
        return known
    base, exponent = _float(b, x, "pow"), _float(b, y, "pow")
    value = scalar_expr(b.hold(Scalar(op("pow", base, exponent))))
    finite = op("and", op("isfinite", base), op("isfinite", exponent))
    infinite = op("and", op("isinf", value), finite)
    pole = op("and", infinite, op("eq", base, _const(0.0)))
    b.check(op("not", op("or", _new_nan(value, base, exponent), pole)), "ValueError", "math domain error")
    b.check(op("not", infinite), "OverflowError", "math range error")
    return Scalar(value, weak=True)


@implements(math.fmod)
def fmod(b: Builder, x: Value, y: Value, /) -> Value:
    """The remainder with the sign of `x`, as in C."""
    known = _known(b, math.fmod, x, y)
    if known is not None:
        return known
    left, right = _float(b, x, "fmod"), _float(b, y, "fmod")
    value = scalar_expr(b.hold(Scalar(op("fmod", left, right))))
    b.check(op("not", _new_nan(value, left, right)), "ValueError", "math domain error")
    return Scalar(value, weak=True)


def _new_nan(value: ScalarExpr, *arguments: ScalarExpr) -> ScalarExpr:
    """Whether the value is NaN though no argument is."""
    tests = [op("not", op("isnan", argument)) for argument in arguments]
    return functools.reduce(lambda x, y: op("and", x, y), tests, op("isnan", value))


@implements(math.modf)
def modf(b: Builder, x: Value, /) -> Value:
    """Fractional and integral parts."""
    known = _known(b, math.modf, x)
    if isinstance(known, Static):
        return TupleValue(tuple(map(Static, known.value)))
    value = _float(b, x, "modf")
    whole = op("trunc", value)
    fraction = op("select", op("isinf", value), _const(0.0), op("sub", value, whole))
    return TupleValue((Scalar(op("copysign", fraction, value), weak=True), Scalar(whole, weak=True)))


@implements(math.isclose)
def isclose(b: Builder, a: Value, b_: Value, /, *, rel_tol: Value = RELATIVE, abs_tol: Value = ABSOLUTE) -> Value:
    """Whether two floats are close, relative to the larger one."""
    x, y, relative, absolute = (_float(b, value, "isclose") for value in (a, b_, rel_tol, abs_tol))
    size = op("mul", relative, op("fmax", op("abs", x), op("abs", y)))
    near = op("le", op("abs", op("sub", x, y)), op("fmax", size, absolute))
    finite = op("and", op("isfinite", x), op("isfinite", y))
    return Scalar(op("or", op("eq", x, y), op("and", finite, near)), weak=True)


@implements(math.prod)
def prod(b: Builder, iterable: Value, /, *, start: Value = START) -> Value:
    """The product of items of known number."""
    return functools.reduce(lambda x, y: b.hold(b.operator("*", x, y)), sequences.items(b, iterable), start)
