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


def identity_value(operation: str, dtype: DType) -> Any:
    """The value that an accumulator of this dtype starts from: ``operation(identity, x) == x``.

    Each of `ir.memlet.CONFLICT_RESOLUTIONS` has one.
    """
    match operation:
        case "min" | "max":
            return extreme_value(operation, dtype)
        case "bitand":  # all bits are set
            largest = extreme_value("min", dtype)
            return {"b": True, "i": -1}.get(dtype.kind, largest)
        case "mul" | "and":
            number = 1
        case "add" | "or" | "xor" | "bitor" | "bitxor":
            number = 0
        case _:
            raise ValueError(f"{operation!r} has no identity")
    return {"b": bool, "f": float, "c": complex}.get(dtype.kind, int)(number)


def neutral_value(operation: str, dtype: DType) -> Any:
    """The identity that keeps the sign of zero, too: that of sums of floats is -0.0, since ``0.0 + -0.0`` is 0.0."""
    if operation == "add" and dtype.is_inexact:
        return complex(-0.0, -0.0) if dtype.kind == "c" else -0.0
    return identity_value(operation, dtype)
