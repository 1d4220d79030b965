"""The module ``math``: on numbers, with Python floats as results and Python's exceptions outside of the domain."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dcpy.frontend.implements import implements
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.lower.elementwise import convert
from dcpy.frontend.values import (
    ArrayValue,
    Scalar,
    Static,
    Value,
    as_integer,
    dtype_of,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.ir import types
from dcpy.ir.expr import Const, Op, ScalarExpr, cast, op
from dcpy.ir.symbolic import ONE, ZERO

_PLAIN = {
    math.sin: "sin", math.cos: "cos", math.tan: "tan", math.atan: "atan", math.sinh: "sinh", math.cosh: "cosh",
    math.tanh: "tanh", math.asinh: "asinh", math.exp: "exp", math.exp2: "exp2", math.expm1: "expm1",
    math.fabs: "abs", math.radians: "deg2rad", math.degrees: "rad2deg", math.cbrt: "cbrt",
}  # fmt: skip
#: functions with a domain: operation, and the condition on the argument
_DOMAIN: dict[Any, tuple[str, Callable[[ScalarExpr], ScalarExpr]]] = {
    math.sqrt: ("sqrt", lambda x: _not(op("lt", x, _const(0.0)))),
    math.log: ("log", lambda x: _not(op("le", x, _const(0.0)))),
    math.log2: ("log2", lambda x: _not(op("le", x, _const(0.0)))),
    math.log10: ("log10", lambda x: _not(op("le", x, _const(0.0)))),
    math.log1p: ("log1p", lambda x: _not(op("le", x, _const(-1.0)))),
    math.asin: ("asin", lambda x: _not(op("gt", op("abs", x), _const(1.0)))),
    math.acos: ("acos", lambda x: _not(op("gt", op("abs", x), _const(1.0)))),
    math.acosh: ("acosh", lambda x: _not(op("lt", x, _const(1.0)))),
    math.atanh: ("atanh", lambda x: _not(op("ge", op("abs", x), _const(1.0)))),
}
_BINARY = {math.atan2: "atan2", math.copysign: "copysign", math.fmod: "fmod", math.hypot: "hypot"}
_ROUNDING = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc"}
_TESTS = {math.isnan: "isnan", math.isinf: "isinf", math.isfinite: "isfinite"}


def _const(value: float) -> ScalarExpr:
    return Const(value, types.float64)


def _not(test: ScalarExpr) -> Op:
    return op("not", test)


def _float(b: Builder, value: Value, name: str) -> ScalarExpr:
    if isinstance(value, ArrayValue) and all(size is ONE for size in value.shape):
        value = Scalar(value.load([ZERO] * value.rank))
    if not is_number(value) or dtype_of(value).kind == "c":
        raise b.error(
            f"math.{name} does not take {kind_of(value)}", help=f"use np.{name} for arrays and complex numbers"
        )
    return convert(scalar_expr(value), types.float64)


def _known(b: Builder, function: Any, *values: Value) -> Value | None:
    """Computed now where all arguments are known."""
    if not all(isinstance(value, Static) and is_number(value) for value in values):
        return None
    try:
        return Static(function(*(value.value for value in values if isinstance(value, Static))))
    except (ValueError, OverflowError, TypeError) as error:
        raise b.error(f"math.{function.__name__}: {error}") from None


def _register_plain(function: Any, name: str) -> None:
    @implements(function)
    def plain(b: Builder, x: Value) -> Value:
        """One operation on a Python float."""
        return _known(b, function, x) or Scalar(op(name, _float(b, x, function.__name__)), weak=True)


def _register_domain(function: Any, name: str, inside: Callable[[ScalarExpr], ScalarExpr]) -> None:
    def compute(b: Builder, x: Value) -> Value:
        known = _known(b, function, x)
        if known is not None:
            return known
        expr = scalar_expr(b.hold(Scalar(_float(b, x, function.__name__))))
        b.check(inside(expr), "ValueError", "math domain error")
        return Scalar(op(name, expr), weak=True)

    if function is math.log:

        @implements(math.log)
        def log(b: Builder, x: Value, base: Value = Static(math.e)) -> Value:
            """The natural logarithm, or to a base."""
            top = compute(b, x)
            return top if base == Static(math.e) else b.operator("/", b.hold(top), compute(b, base))
    else:

        @implements(function)
        def limited(b: Builder, x: Value) -> Value:
            """One operation on a Python float that must be in the domain."""
            return compute(b, x)


def _register_binary(function: Any, name: str) -> None:
    @implements(function)
    def binary(b: Builder, x: Value, y: Value) -> Value:
        """One operation on two Python floats."""
        known = _known(b, function, x, y)
        left, right = _float(b, x, function.__name__), _float(b, y, function.__name__)
        return known or Scalar(op(name, left, right), weak=True)


def _register_rounding(function: Any, name: str) -> None:
    @implements(function)
    def rounded(b: Builder, x: Value) -> Value:
        """A Python int."""
        known = _known(b, function, x)
        if known is not None:
            return known
        if is_number(x) and as_integer(x) is not None:
            return x
        return Scalar(cast(op(name, _float(b, x, function.__name__)), types.int64), weak=True)


def _register_test(function: Any, name: str) -> None:
    @implements(function)
    def test(b: Builder, x: Value) -> Value:
        """A Python bool."""
        return _known(b, function, x) or Scalar(op(name, _float(b, x, function.__name__)), weak=True)


@implements(math.pow)
def pow_(b: Builder, x: Value, y: Value) -> Value:
    """``x ** y`` on floats."""
    known = _known(b, math.pow, x, y)
    return known or Scalar(op("pow", _float(b, x, "pow"), _float(b, y, "pow")), weak=True)


@implements(math.gcd)
def gcd(b: Builder, x: Value, y: Value) -> Value:
    """The greatest common divisor of two integers."""
    known = _known(b, math.gcd, x, y)
    if known is not None:
        return known
    if not all(is_number(v) and dtype_of(v).is_integer for v in (x, y)):
        raise b.error("math.gcd takes integers")
    return Scalar(op("gcd", *(cast(scalar_expr(v), types.int64) for v in (x, y))), weak=True)


for _function, _name in _PLAIN.items():
    _register_plain(_function, _name)
for _function, (_name, _inside) in _DOMAIN.items():
    _register_domain(_function, _name, _inside)
for _function, _name in _BINARY.items():
    _register_binary(_function, _name)
for _function, _name in _ROUNDING.items():
    _register_rounding(_function, _name)
for _function, _name in _TESTS.items():
    _register_test(_function, _name)
