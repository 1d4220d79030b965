"""Index tricks, NumPy's functions with square brackets: ``np.r_[1:4, 0, a]``, ``np.c_[x, y]``, ``np.s_[::2]``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, SliceValue, Static, TupleValue, Value, is_number
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.promotion import promoted
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_creation.coordinate_grids import span
from dcpy.frontend.numpy.array_manipulation.joining import concatenate
from dcpy.frontend.numpy.array_manipulation.shapes import at_least
from dcpy.frontend.numpy.parameter_defaults import LAST_AXIS


@implements(np.s_)
def s_(b: OpBuilder, *keys: Value) -> Value:
    """Return the keys in the brackets: a slice, an index, or a tuple of them."""
    return keys[0] if len(keys) == 1 else TupleValue(keys)


@implements(np.index_exp)
def index_exp(b: OpBuilder, *keys: Value) -> Value:
    """Return the keys in the brackets, as a tuple."""
    return TupleValue(keys)


@implements(np.r_)
def r_(b: OpBuilder, *keys: Value) -> Value:
    """Numbers, ranges and arrays one after the other, along the first dimension."""
    return concatenate(b, TupleValue(tuple(at_least(b, [part], 1) for part in _parts(b, keys))))


@implements(np.c_)
def c_(b: OpBuilder, *keys: Value) -> Value:
    """Numbers, ranges and arrays beside each other: vectors are columns."""
    parts = [b.array(at_least(b, [part], 1)) for part in _parts(b, keys)]
    columns = tuple(b.expand(part, 1) if part.rank == 1 else part for part in parts)
    return concatenate(b, TupleValue(columns), LAST_AXIS)


def _parts(b: OpBuilder, keys: Sequence[Value]) -> list[ArrayValue]:
    """Return the keys in the brackets as arrays of one dtype; numbers of Python's own do not promote the others."""
    values: list[Value] = []
    for key in keys:
        if isinstance(key, Static) and isinstance(key.value, str):
            raise b.error("np.r_ and np.c_ take no strings", help="use np.concatenate or np.stack")
        value = span(b, key) if isinstance(key, SliceValue) else key
        values.append(value if is_number(value) else b.array(value))
    dtype = promoted(tuple(values))[0]
    return [b.array(b.cast(value, dtype)) for value in values]
