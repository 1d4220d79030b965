"""Positions of what is not zero: ``nonzero`` and its relatives, and what a boolean mask selects.

How many there are is known at run time only, so the count becomes a symbol, and arrays of that size follow. A mask as
an index stands for the arrays that `nonzero` gives (`frontend.lower.gather` asks for them).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.numpy.creation import size_of
from dcpy.frontend.numpy.defaults import NONE
from dcpy.frontend.numpy.reductions import count_nonzero
from dcpy.frontend.values import ArrayValue, Static, TupleValue, Value, integer, scalar_expr
from dcpy.ir import types
from dcpy.ir.expr import cast


def _fill_positions(out: Any, flags: Any) -> None:
    """Writes the positions where the flags hold; the body is lowered like a user's."""
    k = 0
    for i in range(len(flags)):
        if flags[i]:
            out[k] = i
            k += 1


@implements(np.flatnonzero)
def flatnonzero(b: Builder, a: Value) -> Value:
    """Positions in C order of the elements that are not zero."""
    flags = b.array(b.cast(b.array(a), types.bool_))
    count = cast(scalar_expr(count_nonzero(b, flags)), types.int64)
    size = b.integer(size_of(b, flags))
    found = b.empty([b.emit.assign_symbol("n", count, 0, size)], types.int64)
    b.call(Static(_fill_positions), found, flags if flags.rank == 1 else b.reshape(flags, [size]))
    return found


@implements(np.nonzero)
def nonzero(b: Builder, a: Value) -> Value:
    """For each dimension, the positions along it of the elements that are not zero."""
    flags = b.array(a)
    if not flags.rank:
        raise b.error("np.nonzero of a number", notes=("NumPy raises ValueError here",), help="compare it with 0")
    rest = flatnonzero(b, flags)
    positions: list[Value] = []
    for size in reversed(flags.shape[1:]):
        length = integer(b.exact(size))
        positions.append(b.ufunc(np.remainder, rest, length))
        rest = b.ufunc(np.floor_divide, rest, length)
    return TupleValue((rest, *reversed(positions)))


@method("nonzero")
def nonzero_method(b: Builder, a: Value) -> Value:
    """``a.nonzero()``."""
    return nonzero(b, a)


@implements(np.argwhere)
def argwhere(b: Builder, a: Value) -> Value:
    """The positions of the elements that are not zero, one per row."""
    columns = nonzero(b, a)
    assert isinstance(columns, TupleValue)
    first = columns.items[0]
    assert isinstance(first, ArrayValue)
    rows = b.empty([first.shape[0], len(columns.items)], types.int64)
    for k, column in enumerate(columns.items):
        target = b.subscript(rows, [Static(slice(None)), Static(k)])
        assert isinstance(target, ArrayValue)
        b.store(target, column)
    return rows


@implements(np.extract)
def extract(b: Builder, condition: Value, arr: Value) -> Value:
    """The elements where the condition holds."""
    places = flatnonzero(b, condition)
    return b.subscript(b.call(Static(np.ravel), arr), [places])


@implements(np.compress)
def compress(b: Builder, condition: Value, a: Value, axis: Value = NONE) -> Value:
    """The slices along an axis where the condition holds; without axis, of all elements."""
    x = b.array(b.call(Static(np.ravel), a) if axis == NONE else a)
    place = 0 if axis == NONE else b.axis(axis, x.rank)
    keys: list[Value] = [Static(slice(None))] * place
    return b.subscript(x, [*keys, flatnonzero(b, condition)])
