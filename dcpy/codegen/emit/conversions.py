"""``astype`` in the dialects of C: NumPy's conversions between any two dtypes, on x86."""

from __future__ import annotations

import math

import numpy as np

from dcpy.codegen.lir.expr import Aggregate, Convert, Field, Infix, Intrinsic, LirExpr, Literal, Operation
from dcpy.codegen.lir.types import TRUTH, Basic
from dcpy.ir import types
from dcpy.ir.types import DType


def converted(expr: LirExpr, source: DType, target: DType) -> LirExpr:
    """`expr`, of dtype `source`, as `target`: in terms of C."""
    if source == target:
        return expr
    if source.kind == "c":
        return _from_complex(expr, source, target)
    if target.kind == "c":
        part = target.real
        return Aggregate((converted(expr, source, part), Literal(0, Basic.INT)), target)
    if target == types.bool_:
        return Infix("!=", expr, Literal(0, Basic.INT), TRUTH)
    if source == types.float16 and target.kind in "iu":
        return converted(converted(expr, source, types.float32), types.float32, target)
    if target == types.float16 and source.kind in "biu":
        return converted(converted(expr, source, types.float32), types.float32, target)
    if source.kind == "f" and target.kind in "iu":
        known = _bounds(expr, source)
        fits = known is not None and known[0] >= -(2.0**31) and known[1] < 2.0**31
        return Intrinsic("truncate_number" if fits else "truncate", (expr,), target, target)
    return Convert(expr, target)


def _bounds(expr: LirExpr, dtype: DType) -> tuple[float, float] | None:
    """Between which numbers a float lies that is one, by extrema with numbers in its expression; None: not known.

    The numbers are rounded to the dtype: 2**31 - 1 is 2**31 as float32.
    """
    match expr:
        case Literal(value=bool() | int() | float() as value) if not math.isnan(value):
            with np.errstate(over="ignore"):
                rounded = float(dtype.numpy.type(value))
            return rounded, rounded
        case Operation(name="min" | "max" as name, args=(one, other)):
            sides = [_bounds(side, dtype) or (-math.inf, math.inf) for side in (one, other)]
            pick = min if name == "min" else max
            return pick(low for low, _ in sides), pick(high for _, high in sides)
        case Operation(name="rint" | "floor" | "ceil" | "trunc", args=(arg,)):
            inner = _bounds(arg, dtype)
            return inner and (inner[0] - 1, inner[1] + 1)
    return None


def _from_complex(expr: LirExpr, source: DType, target: DType) -> LirExpr:
    if target == types.bool_:
        return Intrinsic("truth", (expr,), TRUTH)
    if target.kind == "c":
        return Intrinsic("convert", (expr,), target, target)
    part = source.real
    return converted(Field(expr, "real", part), part, target)
