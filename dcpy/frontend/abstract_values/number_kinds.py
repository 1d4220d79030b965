"""Kinds of numbers: how NumPy's promotion and Python see them, on this path and on others."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.kinds_by_path import NONE, Kinds, is_numpy
from dcpy.frontend.abstract_values.values import Scalar, Value, dtype_of, is_weak
from dcpy.ir import types
from dcpy.ir.types import DType


def numpy_kind(value: Value) -> Any:
    """Return the type of the value in NumPy's promotion: a Python type where it is weak, else a dtype."""
    dtype = dtype_of(value)
    if is_weak(value) and dtype != types.bool_:
        return {"i": int, "f": float, "c": complex}[dtype.kind]
    return dtype.numpy


def kinds_of(value: Value) -> tuple[Any, ...]:
    """`numpy_kind` of a value on every path through the program."""
    return (numpy_kind(value), *(np.dtype(kind) if is_numpy(kind) else kind for kind in instead_of(value)))


def instead_of(value: Value) -> Kinds:
    """The kinds that a number has on other paths."""
    return value.other_kinds if isinstance(value, Scalar) else NONE


def kind_of_number(value: Value) -> type:
    """The type of a number on this path."""
    return python_type(dtype_of(value)) if is_weak(value) else dtype_of(value).numpy.type


def type_name(value: Value) -> str:
    """The name of a number's type, as Python's messages have it: ``float``, ``numpy.float64``."""
    kind = kind_of_number(value)
    return f"numpy.{kind.__name__}" if is_numpy(kind) else kind.__name__


def types_of(value: Value) -> tuple[type, ...]:
    """The types of a number on every path."""
    return (kind_of_number(value), *instead_of(value))


def python_types(value: Value) -> tuple[type, ...]:
    """The types of Python's own that a number may have."""
    others = tuple(kind for kind in instead_of(value) if not is_numpy(kind))
    return tuple(dict.fromkeys((python_type(dtype_of(value)), *others))) if is_weak(value) else others


def python_type(dtype: DType) -> type:
    """The type of Python's own that numbers of a dtype have where they are weak."""
    return {"b": bool, "i": int, "f": float, "c": complex}[dtype.kind]
