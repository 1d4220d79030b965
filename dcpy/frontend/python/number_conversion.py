"""Number conversion: NumPy scalars in ``int(x)`` and ``x.item()``, and ``pow(x, y, z)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dcpy.frontend.abstract_values.values import (
    Scalar,
    Static,
    SymInt,
    Value,
    dtype_of,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.lower.arithmetic.overflow import require_bits
from dcpy.frontend.lower.lowering_signals import raised_by
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, cast, op
from dcpy.ir.symbolic.intervals import LIMITS
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder


def python_number(b: OpBuilder, value: Value) -> Value:
    """A NumPy scalar as a Python bool, int, float or complex. The upper half of uint64 fits into no int64."""
    if isinstance(value, Static):
        return Static(value.value.item() if isinstance(value.value, np.generic) else value.value)
    if isinstance(value, SymInt):
        return SymInt(value.expr)
    assert isinstance(value, Scalar)
    if value.dtype == types.uint64:
        require_bits(b, op("le", value.expr, Const(LIMITS[1], types.uint64)), "the np.uint64", ())
    return Scalar(cast(value.expr, weak_dtype(value.dtype)), weak=True)


def weak_dtype(dtype: DType) -> DType:
    """The dtype of Python's numbers of the same kind."""
    return {"b": types.bool_, "f": types.float64, "c": types.complex128}.get(dtype.kind, types.int64)


def power_modulo(b: OpBuilder, base: Value, exponent: Value, modulus: Value) -> Value:
    """``pow(base, exponent, modulus)`` of integers, whose products are never too wide."""
    parts = (base, exponent, modulus)
    if all(isinstance(part, Static) for part in parts):
        with raised_by("Python"):
            return Static(pow(*(part.value for part in parts if isinstance(part, Static))))
    for part in parts:
        if not is_number(part) or dtype_of(part).kind not in "ib":
            raise b.error(
                f"pow() with a modulus takes integers, not {kind_of(part)}", notes=("Python raises TypeError here",)
            )
    x, y, z = (scalar_expr(b.hold(Scalar(cast(scalar_expr(part), types.int64), weak=True))) for part in parts)
    zero = Const(0, types.int64)
    b.check(op("ne", z, zero), "ValueError", "pow() 3rd argument cannot be 0")
    b.check(op("ge", y, zero), "ValueError", "pow() with a modulus takes no negative exponent in a program")
    return Scalar(op("powmod", x, y, z), weak=True)
