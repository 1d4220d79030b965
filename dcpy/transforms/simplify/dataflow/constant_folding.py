"""Constant folding: scalar expressions computed at compile time, with NumPy's own functions on the exact dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.ir import types
from dcpy.ir.expressions.ops import op_info
from dcpy.ir.expressions.scalar import Cast, Const, Index, Op, ScalarExpr, as_symbolic, rewrite
from dcpy.ir.symbolic import ZERO, Expr, Ranges, const


def fold(expr: ScalarExpr) -> ScalarExpr:
    """The expression with every part computed that depends on nothing, and arithmetic on symbols made symbolic."""
    return rewrite(expr, _fold_part)


def decide(condition: ScalarExpr, ranges: Ranges) -> bool | None:
    """Return whether a condition always holds (True) or never does (False), as far as `ranges` prove it; else None."""
    match fold(condition):
        case Const(value=value):
            return bool(value)
        case Op(name="not", args=(arg,)):
            inner = decide(arg, ranges)
            return None if inner is None else not inner
        case Op(name="and" | "or" as name, args=args):
            return _decide_both(name, [decide(arg, ranges) for arg in args])
        case Op(name="add_fits", args=(left, right)):
            return _fits_surely(as_symbolic(left), as_symbolic(right), ranges) or None
        case Op(name=name, args=(left, right)) if name in _COMPARISONS:
            return _decide_comparison(name, left, right, ranges)
    return None


def _fold_part(part: ScalarExpr) -> ScalarExpr | None:
    match part:
        case Index(value=value, dtype=dtype) if value.constant is not None:
            return Const(value.constant, dtype) if _fits(value.constant, dtype) else None
        case Cast(arg=Const(value=value, dtype=source), dtype=dtype) if source.kind != "c" or dtype.kind == "c":
            with np.errstate(all="ignore"):
                return _const(np.array(value, source.numpy).astype(dtype.numpy), dtype)
        case Op(name="select", args=(Const(value=condition), yes, no)):
            return yes if condition else no
        case Op(name="and" | "or" as name, args=(Const(value=value, dtype=types.bool_), other)):
            return other if bool(value) == (name == "and") else Const(bool(value), types.bool_)
        case Op(args=args) if all(isinstance(arg, Const) for arg in args):
            return _compute(part)
        case Op(dtype=types.int64):
            symbolic = as_symbolic(part)
            return None if symbolic is None else Index(symbolic)
    return None


def _compute(part: Op) -> Const | None:
    """The value of an operation on numbers; None where NumPy raises or answers in another dtype."""
    numbers = [np.array(arg.value, arg.dtype.numpy)[()] for arg in part.args if isinstance(arg, Const)]
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(op_info(part.name).numpy()(*numbers))
    except (TypeError, ValueError):
        return None
    return _const(value, part.dtype) if value.dtype == part.dtype.numpy else None


def _const(value: np.ndarray[Any, Any], dtype: types.DType) -> Const:
    return Const(value.item(), dtype)


def _fits(value: int, dtype: types.DType) -> bool:
    if not dtype.is_integer:
        return False
    limits = np.iinfo(dtype.numpy)
    return bool(limits.min <= value <= limits.max)


def _fits_surely(left: Expr | None, right: Expr | None, ranges: Ranges) -> bool:
    """Return whether a sum surely is an int64."""
    if left is None or right is None:
        return False
    limits, total = np.iinfo(np.int64), left + right
    return ranges.proves_le(const(int(limits.min)), total) and ranges.proves_le(total, const(int(limits.max)))


def _decide_both(name: str, parts: list[bool | None]) -> bool | None:
    decisive = name == "or"  # one True decides an or, one False an and
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def _decide_comparison(name: str, left: ScalarExpr, right: ScalarExpr, ranges: Ranges) -> bool | None:
    a, b = as_symbolic(left), as_symbolic(right)
    if a is None or b is None:
        return None
    match name:
        case "lt" | "ge":
            holds, fails = ranges.proves_lt(a, b), ranges.proves_le(b, a)
        case "gt" | "le":
            holds, fails = ranges.proves_lt(b, a), ranges.proves_le(a, b)
        case _:
            holds, fails = _are_equal(a, b, ranges), ranges.proves_ne(a, b)
    if not holds and not fails:
        return None
    return holds if name in ("lt", "gt", "eq") else fails


def _are_equal(left: Expr, right: Expr, ranges: Ranges) -> bool:
    return ranges.simplify(left - right) is ZERO or (ranges.proves_le(left, right) and ranges.proves_le(right, left))
