"""Positions of nonzero elements: ``nonzero`` and its relatives; ``compress`` and ``extract``."""

from __future__ import annotations

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, TupleValue, Value
from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower.arrays import boolean_indexing
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_creation.creation import size_of
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.ir import types
from dcpy.ir.symbolic import Expr


@implements(np.flatnonzero)
def flatnonzero(b: OpBuilder, a: Value) -> Value:
    """Positions in C order of the elements that are not zero."""
    flags = _flags(b, a)
    flat = flags if flags.rank == 1 else b.reshape(flags, [b.integer(size_of(b, flags))])
    return boolean_indexing.new_positions(b, flat)[0]


@implements(np.nonzero)
def nonzero(b: OpBuilder, a: Value) -> Value:
    """The positions of the elements that are not zero, along each dimension."""
    flags = b.array(a)
    if not flags.rank:
        raise b.error("np.nonzero of a number", notes=("NumPy raises ValueError here",), help="compare it with 0")
    return TupleValue(boolean_indexing.new_positions(b, _flags(b, flags)))


def _flags(b: OpBuilder, a: Value) -> ArrayValue:
    """Return whether elements are not zero."""
    return b.array(b.cast(b.array(a), types.bool_))


@method("nonzero")
def nonzero_method(b: OpBuilder, a: Value) -> Value:
    """``a.nonzero()``."""
    return nonzero(b, a)


@implements(np.argwhere)
def argwhere(b: OpBuilder, a: Value) -> Value:
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
def extract(b: OpBuilder, condition: Value, arr: Value) -> Value:
    """The elements where the condition holds."""
    x, flags = b.array(b.call(Static(np.ravel), arr)), _flags(b, b.call(Static(np.ravel), condition))
    return b.subscript(x, [_selecting(b, flags, x.shape[0])])


def _selecting(b: OpBuilder, flags: ArrayValue, size: Expr) -> ArrayValue:
    """A key for elements of a dimension: the flags where they are as many, else the positions where they hold."""
    return flags if b.exact(flags.shape[0]) is b.exact(size) else boolean_indexing.positions(b, flags)[0]


@implements(np.compress)
def compress(b: OpBuilder, condition: Value, a: Value, axis: Value = NONE, out: Value = NONE) -> Value:
    """The slices along an axis where the condition holds; without axis, of all elements."""
    x = b.array(b.call(Static(np.ravel), a) if axis == NONE else a)
    place = 0 if axis == NONE else b.axis(axis, x.rank)
    keys: list[Value] = [Static(slice(None))] * place
    if b.array(condition).rank != 1:
        raise b.error("condition must be a 1-d array", notes=("NumPy raises ValueError here",))
    return into(b, out, b.subscript(x, [*keys, _selecting(b, _flags(b, condition), x.shape[place])]), "compress")
