"""Positions of what is not zero: ``nonzero`` and its relatives; what conditions select along an axis."""

from __future__ import annotations

import numpy as np

from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower.arrays import masks
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.numpy.array_creation.creation import size_of
from dcpy.frontend.numpy.defaults import NONE
from dcpy.frontend.numpy.ufuncs.outputs import into
from dcpy.frontend.values import ArrayValue, Static, TupleValue, Value
from dcpy.ir import types
from dcpy.ir.symbolic import Expr


@implements(np.flatnonzero)
def flatnonzero(b: Builder, a: Value) -> Value:
    """Positions in C order of the elements that are not zero."""
    flags = _flags(b, a)
    flat = flags if flags.rank == 1 else b.reshape(flags, [b.integer(size_of(b, flags))])
    return masks.new_positions(b, flat)[0]


@implements(np.nonzero)
def nonzero(b: Builder, a: Value) -> Value:
    """For each dimension, the positions along it of the elements that are not zero."""
    flags = b.array(a)
    if not flags.rank:
        raise b.error("np.nonzero of a number", notes=("NumPy raises ValueError here",), help="compare it with 0")
    return TupleValue(masks.new_positions(b, _flags(b, flags)))


def _flags(b: Builder, a: Value) -> ArrayValue:
    """Whether elements are not zero."""
    return b.array(b.cast(b.array(a), types.bool_))


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
    rows = b.empty([first.shape[0], len(columns.items)], types.int64, order="F")  # NumPy transposes columns
    for k, column in enumerate(columns.items):
        target = b.subscript(rows, [Static(slice(None)), Static(k)])
        assert isinstance(target, ArrayValue)
        b.store(target, column)
    return rows


@implements(np.extract)
def extract(b: Builder, condition: Value, arr: Value) -> Value:
    """The elements where the condition holds."""
    x, flags = b.array(b.call(Static(np.ravel), arr)), _flags(b, b.call(Static(np.ravel), condition))
    return b.subscript(x, [_selecting(b, flags, x.shape[0])])


def _selecting(b: Builder, flags: ArrayValue, size: Expr) -> ArrayValue:
    """A key for elements of a dimension: the flags where they are as many, else the positions where they hold."""
    return flags if b.exact(flags.shape[0]) is b.exact(size) else masks.positions(b, flags)[0]


@implements(np.compress)
def compress(b: Builder, condition: Value, a: Value, axis: Value = NONE, out: Value = NONE) -> Value:
    """The slices along an axis where the condition holds; without axis, of all elements."""
    x = b.array(b.call(Static(np.ravel), a) if axis == NONE else a)
    place = 0 if axis == NONE else b.axis(axis, x.rank)
    keys: list[Value] = [Static(slice(None))] * place
    if b.array(condition).rank != 1:
        raise b.error("condition must be a 1-d array", notes=("NumPy raises ValueError here",))
    return into(b, out, b.subscript(x, [*keys, _selecting(b, _flags(b, condition), x.shape[place])]), "compress")
