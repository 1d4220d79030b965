"""Lists of floats as arrays of integers: each item is stored as ``int(x)``, which raises for NaN and infinities.

NumPy does so for numbers that are in the list itself. Arrays in it are cast, and so are its own floats where the
integers have no sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.packed_items import PackedNumber, PackedTuple
from dcpy.frontend.abstract_values.values import Static, TupleValue, Value, dtype_of, is_number
from dcpy.frontend.lower.functions import numpy_arguments
from dcpy.ir.symbolic import as_expr
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder


def with_integers(b: OpBuilder, value: Value, dtype: DType | None) -> Value:
    """Return the array of integers that NumPy makes of a list of floats; any other value as it is."""
    if dtype is None or not dtype.is_integer:
        return value
    if isinstance(value, TupleValue) and _holds_real_numbers(value):
        return numpy_arguments.array(b, value, dtype)
    if not isinstance(value, ListValue):
        return value
    if len(value.levels) == 2 and value.packed_tuple is not None:
        return _of_tuples(b, value, value.packed_tuple, dtype)
    if value.union is None and value.array.dtype.kind != "f":
        return value
    if not value.holds_numbers or (dtype.kind == "u" and not value.weak):
        return value
    shape = value.array.shape if value.union is None else value.array.shape[:-1]
    found = b.empty([b.exact(size) for size in shape], dtype)
    b.call(Static(_store), found, value)
    return found


def _of_tuples(b: OpBuilder, value: ListValue, packed: PackedTuple, dtype: DType) -> Value:
    if not all(isinstance(part, PackedNumber) and part.dtype.kind != "c" for part in packed.parts):
        return value
    found = b.empty([b.exact(value.array.shape[0]), as_expr(len(packed.parts))], dtype)
    b.call(Static(_store_tuples), found, value)
    return found


def _holds_real_numbers(value: TupleValue) -> bool:
    return all(
        _holds_real_numbers(item) if isinstance(item, TupleValue) else is_number(item) and dtype_of(item).kind != "c"
        for item in value.items
    )


def _store_tuples(found: Any, items: Any) -> None:
    for k in range(len(items)):
        for place, number in enumerate(items[k]):
            found[k, place] = number


def _store(found: Any, items: Any) -> None:
    for k in range(len(items)):
        if found.ndim == 1:
            found[k] = items[k]
        else:
            _store(found[k], items[k])
