"""``astype`` in the dialects of C: NumPy's conversions between any two dtypes, on x86."""

from __future__ import annotations

from dcpy.codegen.lir.expr import Aggregate, Convert, Field, Infix, Intrinsic, LirExpr, Literal
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
        return Intrinsic("truncate", (expr,), target, target)
    return Convert(expr, target)


def _from_complex(expr: LirExpr, source: DType, target: DType) -> LirExpr:
    if target == types.bool_:
        return Intrinsic("truth", (expr,), TRUTH)
    if target.kind == "c":
        return Intrinsic("convert", (expr,), target, target)
    part = source.real
    return converted(Field(expr, "real", part), part, target)
