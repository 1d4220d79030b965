"""Numbers of Python's own: what NumPy scalars become in ``int(x)`` and ``x.item()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dcpy.frontend.lower.elementwise import convert
from dcpy.frontend.values import Scalar, Static, SymInt, Value, scalar_expr
from dcpy.ir import types
from dcpy.ir.expr import Const, cast, op
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.builder import Builder


def python_number(value: Value) -> Value:
    """A NumPy scalar as a Python bool, int, float or complex."""
    if isinstance(value, Static):
        return Static(value.value.item() if isinstance(value.value, np.generic) else value.value)
    if isinstance(value, SymInt):
        return SymInt(value.expr)
    assert isinstance(value, Scalar)
    return Scalar(cast(value.expr, weak_dtype(value.dtype)), weak=True)


def weak_dtype(dtype: DType) -> DType:
    """The dtype of Python's numbers of the same kind."""
    return {"b": types.bool_, "f": types.float64, "c": types.complex128}.get(dtype.kind, types.int64)


def as_integer_part(b: Builder, value: Value) -> Value:
    """``int(x)`` of a float: rounded towards zero; NaN and infinities raise as in Python."""
    held = b.hold(value)
    expr = scalar_expr(held)
    b.check(op("not", op("isnan", expr)), "ValueError", "cannot convert float NaN to integer")
    wide = convert(expr, types.float64)
    limit = op("lt", op("abs", wide), Const(2.0**63, types.float64))
    b.check(limit, "OverflowError", "cannot convert float infinity to integer")
    return Scalar(cast(op("trunc", expr), types.int64), weak=True)
