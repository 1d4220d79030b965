"""Numbers as literals."""

from __future__ import annotations

from dcpy.codegen.lir.expr import Aggregate, LirExpr, Literal
from dcpy.ir.expr import Number
from dcpy.ir.types import DType

PYTHON = {"b": bool, "i": int, "u": int, "f": float}


def literal(value: Number, dtype: DType) -> LirExpr:
    """`value` as a literal of `dtype`, exactly."""
    if dtype.kind == "c":
        part = dtype.real
        number = complex(value)
        return Aggregate((literal(number.real, part), literal(number.imag, part)), dtype)
    return Literal(PYTHON[dtype.kind](value), dtype)
