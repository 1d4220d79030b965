"""Coordinate grids: ``np.mgrid[0:N, 0:M]``, ``meshgrid``, ``indices``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    IteratorValue,
    MapValue,
    Scalar,
    SliceValue,
    Static,
    TupleValue,
    Value,
    integer,
)
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.promotion import promoted
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_creation.creation import arange
from dcpy.frontend.numpy.array_creation.linear_ranges import linspace
from dcpy.frontend.numpy.array_manipulation.joining import stack
from dcpy.frontend.numpy.array_manipulation.shapes import flattened
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, NUMBER_0, NUMBER_1, TRUE
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, cast, op
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO
from dcpy.ir.types import DType

INT = Static(int)
XY = Static("xy")


@implements(np.mgrid)
def mgrid(b: OpBuilder, *keys: Value) -> Value:
    """Coordinates of a grid in an array with a leading dimension (none where there is one range)."""
    axes = _axes(b, keys)
    if len(keys) == 1:
        return axes[0]
    return stack(b, TupleValue(tuple(_full(b, axes))))


@implements(np.ogrid)
def ogrid(b: OpBuilder, *keys: Value) -> Value:
    """Coordinates of a grid, each along its own dimension."""
    axes = _axes(b, keys)
    return axes[0] if len(keys) == 1 else TupleValue(tuple(_open(b, axes)))


def _axes(b: OpBuilder, keys: Sequence[Value]) -> list[ArrayValue]:
    """One range per key, of a common dtype; an imaginary step counts the samples, ends included."""
    found = []
    for key in keys:
        if not isinstance(key, SliceValue):
            raise b.error("np.mgrid and np.ogrid take ranges", help="write np.mgrid[0:N, 0:M]")
        found.append(b.array(span(b, key)))
    dtype: DType = promoted(tuple(found))[0]
    return [b.array(b.cast(axis, dtype)) for axis in found]


def span(b: OpBuilder, key: SliceValue) -> Value:
    """The numbers of a range; an imaginary step counts them, ends included."""
    if key.stop == NONE:
        raise b.error("a range of numbers needs an end", help="write start:stop")
    start = NUMBER_0 if key.start == NONE else key.start
    step = NUMBER_1 if key.step == NONE else key.step
    if isinstance(step, Static) and isinstance(step.value, complex):
        return linspace(b, start, key.stop, Static(int(abs(step.value))))
    if isinstance(step, Scalar) and step.dtype.kind == "c":
        count = op("max", cast(op("cabs", step.expr), types.int64), Const(0, types.int64))
        return linspace(b, start, key.stop, integer(b.emit.assign_symbol("n", count, 0)))
    return arange(b, start, key.stop, step)


def _open(b: OpBuilder, axes: Sequence[ArrayValue]) -> list[ArrayValue]:
    """Each axis with dimensions of size 1 at the places of the others."""
    opened = []
    for place, axis in enumerate(axes):
        for other in range(len(axes)):
            if other != place:
                axis = b.expand(axis, other)
        opened.append(axis)
    return opened


def _full(b: OpBuilder, axes: Sequence[ArrayValue]) -> list[ArrayValue]:
    shape = [b.exact(axis.shape[0]) for axis in axes]
    return [b.broadcast_to(axis, shape) for axis in _open(b, axes)]


@implements(np.meshgrid)
def meshgrid(b: OpBuilder, *xi: Value, copy: Value = TRUE, sparse: Value = FALSE, indexing: Value = XY) -> Value:
    """Coordinates of a grid from those of its axes; the first two exchanged unless indexing is "ij"."""
    axes = [flattened(b, b.array(axis)) for axis in xi]
    grids = _open(b, axes) if b.static(sparse, "sparse") else _full(b, axes)
    if b.static(indexing, "indexing") == "xy" and len(grids) > 1:
        order = [1, 0, *range(2, len(grids))]
        grids = [b.transpose(grid, order) for grid in grids]
    if copy == TRUE:
        grids = [b.copy(grid) for grid in grids]
    return TupleValue(tuple(grids))


@implements(np.ndindex)
def ndindex(b: OpBuilder, *shape: Value) -> Value:
    """All positions of an array of a shape, one after the other, each a tuple."""
    sizes = b.shape_argument(shape[0] if len(shape) == 1 else TupleValue(shape))
    if not sizes:
        return TupleValue((TupleValue(()),))
    return IteratorValue("points", (MapValue(tuple(Range(ZERO, size) for size in sizes)),))


@implements(np.ndenumerate)
def ndenumerate(b: OpBuilder, arr: Value) -> Value:
    """All positions of an array, each with its element."""
    x = b.array(arr)
    points = ndindex(b, TupleValue(tuple(integer(b.exact(size)) for size in x.shape)))
    if not x.rank:
        return TupleValue((TupleValue((TupleValue(()), Scalar(x.load(())))),))
    return IteratorValue("zip", (points, flattened(b, x)))


@implements(np.indices)
def indices(b: OpBuilder, dimensions: Value, dtype: Value = INT, sparse: Value = FALSE) -> Value:
    """Coordinates of the elements of an array of a shape."""
    sizes = b.shape_argument(dimensions)
    axes = [b.array(arange(b, integer(size), dtype=dtype)) for size in sizes]
    if b.static(sparse, "sparse"):
        return TupleValue(tuple(_open(b, axes)))
    return stack(b, TupleValue(tuple(_full(b, axes))))
