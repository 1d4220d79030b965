"""Identity elements: the values that reductions start from, which every other value replaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.ir.types import DType


def extreme_value(op: str, dtype: DType | np.dtype[Any]) -> Any:
    """The identity of ``min`` or ``max`` in a dtype: what any other value replaces."""
    numpy = dtype.numpy if isinstance(dtype, DType) else np.dtype(dtype)
    largest = op == "min"
    if numpy.kind == "b":
        return largest
    if numpy.kind in "iu":
        limits = np.iinfo(numpy)
        return int(limits.max if largest else limits.min)
    infinity = float("inf") if largest else float("-inf")
    return complex(infinity, infinity) if numpy.kind == "c" else infinity


#: operations that have an identity, with the number that is it; min and max have one in each dtype
IDENTITIES = {"add": 0, "mul": 1, "and": 1, "or": 0, "min": None, "max": None}


def identity_value(op: str, dtype: DType) -> Any:
    """The value that an accumulator of this dtype starts from."""
    number = IDENTITIES[op]
    if number is None:
        return extreme_value(op, dtype)
    return {"b": bool, "f": float, "c": complex}.get(dtype.kind, int)(number)


def neutral_value(operation: str, dtype: DType) -> bool | int | float | complex:
    """What changes no value that it is combined with, not even the sign of zero."""
    if operation == "add" and dtype.is_inexact:
        return complex(-0.0, -0.0) if dtype.kind == "c" else -0.0
    if operation in ("xor", "bitor", "bitxor"):
        return False if dtype.kind == "b" else 0
    if operation == "bitand":  # all bits
        largest: int = extreme_value("min", dtype)
        return {"b": True, "i": -1}.get(dtype.kind, largest)
    value: bool | int | float | complex = identity_value(operation, dtype)
    return value
