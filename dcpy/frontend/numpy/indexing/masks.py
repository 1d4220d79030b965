"""Positions of what is not zero: ``nonzero`` and its relatives, and what a boolean mask selects.

How many there are is known at run time only, so the count becomes a symbol, and arrays of that size follow. A mask as
an index stands for the arrays that `nonzero` gives (`frontend.lower.arrays.gather` asks for them).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.numpy.array_creation.creation import size_of
from dcpy.frontend.numpy.defaults import NONE
from dcpy.frontend.numpy.ufuncs.outputs import into
from dcpy.frontend.values import ArrayValue, Static, TupleValue, Value, integer, scalar_expr
from dcpy.ir import types
from dcpy.ir.expressions.scalar import cast
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, as_expr

BLOCK = 64  #: flags that are counted, and skipped where none of them holds, together


def _count(flags: Any, counts: Any) -> Any:
    """How many flags hold, of which whole blocks are counted already; the body is lowered like a user's."""
    total = 0
    for block in range(len(counts)):
        total += int(counts[block])
    for i in range(BLOCK * len(counts), len(flags)):
        total += int(flags[i])
    return total


def _fill_positions(out: Any, flags: Any, counts: Any) -> None:
    """Writes the positions where the flags hold."""
    k = 0
    for block in range(len(counts)):
        if counts[block]:
            for i in range(BLOCK * block, BLOCK * block + BLOCK):
                if flags[i]:
                    out[k] = i
                    k += 1
    for i in range(BLOCK * len(counts), len(flags)):
        if flags[i]:
            out[k] = i
            k += 1


@implements(np.flatnonzero)
def flatnonzero(b: Builder, a: Value) -> Value:
    """Positions in C order of the elements that are not zero."""
    flags = b.array(b.cast(b.array(a), types.bool_))
    size = b.integer(size_of(b, flags))
    flat = flags if flags.rank == 1 else b.reshape(flags, [size])
    flat = flat if b.contiguous(flat) else b.copy(flat)
    blocks, whole = size // BLOCK, Range(ZERO, size // BLOCK * BLOCK)
    table = b.reshape(replace(flat, shape=(whole.size,), window=flat.subset([whole])), [blocks, as_expr(BLOCK)])
    counts = b.reduce("add", table, [1], dtype=types.uint8)  # in 8 bits: a vector instruction adds many
    with b.emit.unchecked():
        count = b.call(Static(_count), flat, counts)
        found = b.empty([b.emit.assign_symbol("n", cast(scalar_expr(count), types.int64), 0, size)], types.int64)
        b.call(Static(_fill_positions), found, flat, counts)
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
    if not b.array(a).rank:
        return b.empty([b.array(flatnonzero(b, a)).shape[0], 0], types.int64)
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
def compress(b: Builder, condition: Value, a: Value, axis: Value = NONE, out: Value = NONE) -> Value:
    """The slices along an axis where the condition holds; without axis, of all elements."""
    x = b.array(b.call(Static(np.ravel), a) if axis == NONE else a)
    place = 0 if axis == NONE else b.axis(axis, x.rank)
    keys: list[Value] = [Static(slice(None))] * place
    if b.array(condition).rank != 1:
        raise b.error("condition must be a 1-d array", notes=("NumPy raises ValueError here",))
    return into(b, out, b.subscript(x, [*keys, flatnonzero(b, condition)]), "compress")
