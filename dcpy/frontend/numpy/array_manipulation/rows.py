"""Joining the rows of one array, where how many there are is known at run time only: no copy per row, but one of all.

``np.concatenate([f(i) for i in range(n)])`` gets its list as an array of one dimension more. What NumPy does with the
list is then a transposition and a reshape of that array.
"""

from __future__ import annotations

import math

from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.numpy.defaults import NONE
from dcpy.frontend.values import ArrayValue, Static, Value
from dcpy.ir.symbolic import Expr


def counted_rows(b: Builder, value: Value, name: str) -> ArrayValue | None:
    """The array, where its rows are to be joined and only the program knows how many there are."""
    if not isinstance(value, ArrayValue) or not value.rank or value.shape[0].constant is not None:
        return None
    b.emit.require(b.exact(value.shape[0]) - 1, "ValueError", f"need at least one array to {name}")
    return value


def concatenated(b: Builder, rows: ArrayValue, axis: Value) -> ArrayValue:
    """The rows one behind the other along a dimension of theirs."""
    if rows.rank < 2:
        raise b.error("zero-dimensional arrays cannot be concatenated", notes=("NumPy raises ValueError here",))
    sizes = [b.exact(size) for size in rows.shape]
    if axis == NONE:
        return _reshaped(b, rows, [math.prod(sizes[1:], start=sizes[0])])
    place = b.axis(axis, rows.rank - 1)
    order = [*range(1, rows.rank)]
    order.insert(place, 0)
    shape = sizes[1:]
    shape[place] = sizes[0] * shape[place]
    return _reshaped(b, b.transpose(rows, order) if place else rows, shape)


def stacked(b: Builder, rows: ArrayValue, axis: Value) -> ArrayValue:
    """The rows along a new dimension."""
    place = b.axis(axis, rows.rank)
    order = [*range(1, rows.rank)]
    order.insert(place, 0)
    return b.copy(b.transpose(rows, order)) if place else own(b, rows)


def below(b: Builder, rows: ArrayValue) -> ArrayValue:
    """The rows below each other, as `np.vstack` has it."""
    if rows.rank == 1:
        return own(b, b.expand(rows, 1))
    return own(b, rows) if rows.rank == 2 else concatenated(b, rows, Static(0))


def beside(b: Builder, rows: ArrayValue) -> ArrayValue:
    """The rows beside each other, as `np.hstack` has it."""
    return own(b, rows) if rows.rank == 1 else concatenated(b, rows, Static(0 if rows.rank == 2 else 1))


def columns(b: Builder, rows: ArrayValue) -> ArrayValue:
    """The rows as columns, as `np.column_stack` has it."""
    if rows.rank > 2:
        return concatenated(b, rows, Static(1))
    return b.copy(b.transpose(rows if rows.rank == 2 else b.expand(rows, 1), [1, 0]))


def behind(b: Builder, rows: ArrayValue) -> ArrayValue:
    """The rows behind each other, as `np.dstack` has it."""
    if rows.rank == 1:
        return own(b, b.expand(b.expand(rows, 0), 0))
    if rows.rank > 3:
        return concatenated(b, rows, Static(2))
    return b.copy(b.transpose(rows if rows.rank == 3 else b.expand(rows, 1), [1, 2, 0]))


def own(b: Builder, rows: ArrayValue) -> ArrayValue:
    """A new array, unless it is one that nobody else has."""
    return rows if rows.fresh else b.copy(rows)


def _reshaped(b: Builder, rows: ArrayValue, shape: list[Expr]) -> ArrayValue:
    return b.reshape(own(b, rows), shape)
