"""Lists of floats as arrays of integers: each item is stored as ``int(x)``, which raises for NaN and infinities.

NumPy does so for numbers that are in the list itself. Arrays in it are cast, and so are its own floats where the
integers have no sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import Static, TupleValue, Value, dtype_of, is_number
from dcpy.frontend.lower.functions import numpy_arguments
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder


def with_integers(b: OpBuilder, value: Value, dtype: DType | None) -> Value:
    """Return the array of integers that NumPy makes of a list of floats; any other value as it is."""
    if dtype is None or not dtype.is_integer:
        return value
    if isinstance(value, TupleValue) and _holds_real_numbers(value):
        return numpy_arguments.array(b, value, dtype)
    if not isinstance(value, ListValue) or value.array.dtype.kind != "f":
        return value
    if not value.holds_numbers or (dtype.kind == "u" and not value.weak):
        return value
    found = b.empty([b.exact(size) for size in value.array.shape], dtype)
    b.call(Static(_store), found, value)
    return found


def _holds_real_numbers(value: TupleValue) -> bool:
    return all(
        _holds_real_numbers(item) if isinstance(item, TupleValue) else is_number(item) and dtype_of(item).kind != "c"
        for item in value.items
    )


def _store(found: Any, items: Any) -> None:
    for k in range(len(items)):
        if found.ndim == 1:
            found[k] = items[k]
        else:
            _store(found[k], items[k])
