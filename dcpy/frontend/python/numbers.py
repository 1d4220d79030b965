"""Numbers of Python's own: what NumPy scalars become in ``int(x)`` and ``x.item()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dcpy.frontend.values import Scalar, Static, SymInt, Value
from dcpy.ir import types
from dcpy.ir.expr import cast
from dcpy.ir.types import DType

if TYPE_CHECKING:
    pass


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
