"""Range checks: Python's integers stored into NumPy's dtypes, floats into arrays of integers.

NumPy raises `OverflowError` for an integer of Python's own that a dtype cannot hold. What is known is refused when the
program is compiled; the rest is checked at run time, unless the bounds of the expression prove that it fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import Scalar, Static, Value, dtype_of, is_number, is_weak, scalar_expr
from dcpy.frontend.lower.lowering_signals import raised_by
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Cast, Const, Index, Op, ScalarExpr, cast, op
from dcpy.ir.symbolic import Ranges
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter


def fits(value: Value, dtype: DType) -> bool:
    """Return whether a known Python int is a number of `dtype`; True for everything else."""
    if not isinstance(value, Static) or type(value.value) is not int or not dtype.is_integer:
        return True
    low, high = limits(dtype)
    return low <= value.value <= high


def limits(dtype: DType) -> tuple[int, int]:
    """The smallest and the largest number of an integer dtype."""
    info = np.iinfo(dtype.numpy)
    return int(info.min), int(info.max)


def require_fit(b: TypedEmitter, value: Value, dtype: DType) -> Value:
    """The operand of an operation in `dtype`; NumPy's `OverflowError` for ``uint8_array + 300``."""
    if not is_weak(value) or not dtype.is_integer or dtype_of(value) != types.int64:
        return value
    low, high = limits(dtype)
    message = f"Python integer {{0}} out of bounds for {dtype.numpy_name}"
    if isinstance(value, Static):
        if not fits(value, dtype):
            raise FrontendError(
                message.format(value.value),
                notes=("NumPy raises OverflowError here",),
                help=f"use a wider dtype, for example np.int64({value.value})",
            )
        return value
    sides = ((low, "ge", False), (high, "le", True))
    expr, ranges = scalar_expr(value), b.emit.ranges
    open_ = [(limit, name) for limit, name, above in sides if not _proved(expr, limit, ranges, above=above)]
    if not open_:
        return value
    value = b.hold(value)
    expr = scalar_expr(value)
    tests = [op(name, expr, Const(limit, types.int64)) for limit, name in open_]
    b.check(tests[0] if len(tests) == 1 else op("and", *tests), "OverflowError", message, [expr])
    return value


def stored(b: TypedEmitter, value: Value, dtype: DType) -> Value:
    """A number as NumPy stores it into an array: a float becomes an integer as ``int(x)`` does, then it must fit.

    NumPy goes the same way for its own floats where the integers are signed; for unsigned ones it converts as `astype`.
    """
    if not is_number(value) or not dtype.is_integer:
        return value
    if dtype_of(value).kind == "f" and (is_weak(value) or dtype.kind == "i"):
        value = as_integer_part(b, value)
    return require_fit(b, value, dtype)


def as_integer_part(b: TypedEmitter, value: Value) -> Value:
    """``int(x)`` of a float: rounded towards zero; NaN and infinities raise as in Python."""
    if isinstance(value, Static):
        with raised_by("Python"):
            return Static(int(value.value))
    held = b.hold(value)
    expr = scalar_expr(held)
    b.check(op("not", op("isnan", expr)), "ValueError", "cannot convert float NaN to integer")
    wide = cast(expr, types.float64)
    least, beyond = Const(-(2.0**63), types.float64), Const(2.0**63, types.float64)
    inside = op("and", op("ge", wide, least), op("lt", wide, beyond))
    b.check(inside, "OverflowError", "cannot convert float infinity to integer, nor a float beyond 64 bits")
    return Scalar(cast(expr, types.int64), weak=True)


def _proved(expr: ScalarExpr, limit: int, ranges: Ranges, *, above: bool) -> bool:
    """Return whether an integer is known to be at most `limit` (`above`), or at least."""
    smallest, largest = limits(types.int64)
    if limit >= largest if above else limit <= smallest:
        return True
    match expr:
        case Const(value=int() as number):
            return number <= limit if above else number >= limit
        case Index(value=number):
            return ranges.proves_nonneg(limit - number if above else number - limit)
        case Op(name="bitand" | "mod" as name, args=(_, Const(value=int() as number))) if number > 0:
            return number - (name == "mod") <= limit if above else limit <= 0
        case Op(name="floordiv" | "rshift", args=(inner, Const(value=int() as number))) if number > 0:
            return (limit >= 0 if above else limit <= 0) and _proved(inner, limit, ranges, above=above)
        case Op(name="min" | "max" as name, args=args):
            enough = any if (name == "min") == above else all
            return enough(_proved(arg, limit, ranges, above=above) for arg in args)
        case Op(name="select", args=(_, *args)):
            return all(_proved(arg, limit, ranges, above=above) for arg in args)
        case Cast(arg=Op() | Index() as inner) if inner.dtype.is_integer and inner.dtype != types.uint64:
            return _proved(inner, limit, ranges, above=above)
    source = expr.arg.dtype if isinstance(expr, Cast) else expr.dtype
    low, high = limits(source) if source.is_integer else (0, 1)
    return source.kind in "iub" and (high <= limit if above else low >= limit)
