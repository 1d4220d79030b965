"""``astype`` in C++: NumPy's conversions between any two dtypes, on x86."""

from __future__ import annotations

from dcpy.codegen.lir.expr import Aggregate, Call, Convert, Field, Infix, LirExpr, Literal
from dcpy.ir import types
from dcpy.ir.types import DType


def convert(expr: LirExpr, source: DType, target: DType) -> LirExpr:
    """`expr`, of dtype `source`, as `target`."""
    if source == target:
        return expr
    if source.kind == "c":
        return _from_complex(expr, source, target)
    if target.kind == "c":
        part = target.real
        return Aggregate((convert(expr, source, part), Literal("0", part.ctype)), target.ctype)
    if target == types.bool_:
        return Infix("!=", expr, Literal("0", source.ctype), "bool")
    if source == types.float16 and target.kind in "iu":
        return convert(convert(expr, source, types.float32), types.float32, target)
    if target == types.float16 and source.kind in "biu":
        return convert(convert(expr, source, types.float32), types.float32, target)
    if source.kind == "f" and target.kind in "iu":
        return Call(f"dcpy_truncate<{target.ctype}>", (expr,), target.ctype)
    return Convert(expr, target.ctype)


def _from_complex(expr: LirExpr, source: DType, target: DType) -> LirExpr:
    if target == types.bool_:
        return Call("dcpy_truth", (expr,), "bool")
    if target.kind == "c":
        return Call(f"dcpy_convert<{target.ctype}>", (expr,), target.ctype)
    part = source.real
    return convert(Field(expr, "real", part.ctype), part, target)
