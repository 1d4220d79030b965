"""Operand classes: what Python calls operands, and its words for operations that they do not have."""

from __future__ import annotations

import numpy as np

from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.number_kinds import python_type
from dcpy.frontend.abstract_values.values import (
    DictValue,
    Static,
    TupleValue,
    Value,
    dtype_of,
    is_number,
    is_weak,
)

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def class_in_python(value: Value) -> str:
    """The name of the class of an operand that leaves an operation to Python; "" for NumPy's numbers and arrays."""
    match value:
        case TupleValue(cls=cls, is_list=is_list):
            return cls.__name__ if cls is not None else "list" if is_list else "tuple"
        case ListValue(levels=levels):
            return "list" if levels[0] else "tuple"
        case Static(value=known):
            return "" if isinstance(known, np.ndarray | np.generic) else type(known).__name__
        case DictValue():
            return "dict"
    return python_type(dtype_of(value)).__name__ if is_number(value) and is_weak(value) else ""


def _class_name(value: Value) -> str:
    return class_in_python(value) or f"numpy.{dtype_of(value).numpy_name}"


def unsupported(symbol: str, left: Value, right: Value) -> str:
    """Python's words for an operation that lists and tuples do not have."""
    mine, other = _class_name(left), _class_name(right)
    is_first = isinstance(left, TupleValue | ListValue)
    if symbol == "+" and is_first:
        kind = "list" if mine == "list" else "tuple"
        return f'can only concatenate {kind} (not "{other}") to {kind}'
    if symbol == "*" and {mine, other} & {"list", "tuple", "str"}:
        return f"can't multiply sequence by non-int of type {other if is_first else mine!r}"
    if symbol in COMPARISONS:
        return f"{symbol!r} not supported between instances of {mine!r} and {other!r}"
    return f"unsupported operand type(s) for {'** or pow()' if symbol == '**' else symbol}: {mine!r} and {other!r}"
