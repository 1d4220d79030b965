"""Scalar operations as LIR: numbers, conversions and operations. How each is written is the dialect's."""

from __future__ import annotations

from dcpy.codegen.lir.expr import Aggregate, Cast, Conditional, LirExpr, Literal, Operation
from dcpy.ir.expressions.scalar import Number, Op
from dcpy.ir.types import DType

PYTHON = {"b": bool, "i": int, "u": int, "f": float}


def literal(value: Number, dtype: DType) -> LirExpr:
    """`value` as a literal of `dtype`, exactly."""
    if dtype.kind == "c":
        part = dtype.real
        number = complex(value)
        return Aggregate((literal(number.real, part), literal(number.imag, part)), dtype)
    return Literal(PYTHON[dtype.kind](value), dtype)


def convert(expr: LirExpr, source: DType, target: DType) -> LirExpr:
    """`expr`, of dtype `source`, as `target`."""
    return expr if source == target else Cast(expr, source, target)


def lower_operation(operation: Op, args: tuple[LirExpr, ...]) -> LirExpr:
    """An operation on lowered arguments."""
    if operation.name == "select":
        return Conditional(args[0], args[1], args[2], operation.dtype)
    return Operation(operation.name, args, operation.args[0].dtype, operation.dtype)
