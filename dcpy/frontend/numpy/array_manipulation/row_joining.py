"""Row joining: one copy joins the rows of an array, where they are many, or their number is known at run time only.

``np.concatenate([f(i) for i in range(n)])`` gets its list as an array of one dimension more. What NumPy does with the
list is then a transposition and a reshape of that array.
"""

from __future__ import annotations

import math

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.ir.symbolic import Expr

MOST_BY_THEMSELVES = 64  # rows that are copied one by one: more would be as many statements


def counted_rows(b: OpBuilder, value: Value, name: str) -> ArrayValue | None:
    """The array, where its rows are to be joined and there are many, or only the program knows how many."""
    if not isinstance(value, ArrayValue) or not value.rank:
        return None
    rows = value.shape[0].constant
    if rows is not None and rows <= MOST_BY_THEMSELVES:
        return None
    b.emit.require(b.exact(value.shape[0]) - 1, "ValueError", f"need at least one array to {name}")
    return value


def concatenated(b: OpBuilder, rows: ArrayValue, axis: Value) -> ArrayValue:
    """The rows one behind the other along a dimension of theirs."""
    if rows.rank < 2:
        raise b.error(
            "zero-dimensional arrays cannot be concatenated",
            notes=("NumPy raises ValueError here",),
            help="give all arrays as one tuple: np.concatenate((x, y))",
        )
    sizes = [b.exact(size) for size in rows.shape]
    if axis == NONE:
        return _reshaped(b, rows, [math.prod(sizes[1:], start=sizes[0])])
    place = b.axis(axis, rows.rank - 1)
    order = [*range(1, rows.rank)]
    order.insert(place, 0)
    shape = sizes[1:]
    shape[place] = sizes[0] * shape[place]
    return _reshaped(b, b.transpose(rows, order) if place else rows, shape)


def stacked(b: OpBuilder, rows: ArrayValue, axis: Value) -> ArrayValue:
    """The rows along a new dimension."""
    place = b.axis(axis, rows.rank)
    order = [*range(1, rows.rank)]
    order.insert(place, 0)
    return b.copy(b.transpose(rows, order)) if place else own(b, rows)


def below(b: OpBuilder, rows: ArrayValue) -> ArrayValue:
    """The rows below each other, as `np.vstack` has it."""
    if rows.rank == 1:
        return own(b, b.expand(rows, 1))
    return own(b, rows) if rows.rank == 2 else concatenated(b, rows, Static(0))


def beside(b: OpBuilder, rows: ArrayValue) -> ArrayValue:
    """The rows beside each other, as `np.hstack` has it."""
    return own(b, rows) if rows.rank == 1 else concatenated(b, rows, Static(0 if rows.rank == 2 else 1))


def columns(b: OpBuilder, rows: ArrayValue) -> ArrayValue:
    """The rows as columns, as `np.column_stack` has it."""
    if rows.rank > 2:
        return concatenated(b, rows, Static(1))
    return b.copy(b.transpose(rows if rows.rank == 2 else b.expand(rows, 1), [1, 0]))


def behind(b: OpBuilder, rows: ArrayValue) -> ArrayValue:
    """The rows behind each other, as `np.dstack` has it."""
    if rows.rank == 1:
        return own(b, b.expand(b.expand(rows, 0), 0))
    if rows.rank > 3:
        return concatenated(b, rows, Static(2))
    return b.copy(b.transpose(rows if rows.rank == 3 else b.expand(rows, 1), [1, 2, 0]))


def own(b: OpBuilder, rows: ArrayValue) -> ArrayValue:
    """A new array, unless it is one without another name."""
    return rows if rows.fresh else b.copy(rows)


def _reshaped(b: OpBuilder, rows: ArrayValue, shape: list[Expr]) -> ArrayValue:
    return b.reshape(own(b, rows), shape)
