"""Basic indexing: slices and integers, the places that they name, and the view that they give.

Indices proved in range cost nothing. One that cannot be proved is checked where it is used; one whose sign is not known
wraps at run time, through a symbol. Slices clamp as NumPy's do; a slice that is inside out is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    SliceValue,
    Static,
    Value,
    as_integer,
    dtype_of,
    scalar_expr,
)
from dcpy.frontend.lower.arithmetic.overflow import ValueIntervals
from dcpy.frontend.lower.arrays.subscript_keys import NEW
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.ir import types
from dcpy.ir.data import View
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, WrapIndex, cast, op
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, ceil_div, max_of, min_of
from dcpy.ir.symbolic.intervals import LIMITS, Interval

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter


def basic(b: TypedEmitter, value: ArrayValue, keys: Sequence[Value]) -> ArrayValue:
    """Return the view that slices and integers, one for each dimension, and None for each new one, select."""
    window = list(value.window.dims)
    shape: list[Expr] = []
    axes: list[int] = []
    position = 0
    for key in keys:
        if key == NEW:
            shape.append(ONE)
            axes.append(-1)
            continue
        size, axis = value.shape[position], value.axes[position]
        position += 1
        if isinstance(key, SliceValue):
            part = slice_range(b, key, size)
            shape.append(part.size)
            axes.append(axis)
        else:
            part = element_index(b, key, size, position - 1)  # type: ignore[assignment]
        if axis >= 0:
            window[axis] = _within(window[axis], part)
    return replace(value, shape=tuple(shape), window=Subset(tuple(window)), axes=tuple(axes), fresh=False)


def at_points(value: ArrayValue, points: Mapping[int, Expr]) -> ArrayValue:
    """The view without the dimensions that have one index each, which is in range."""
    window = list(value.window.dims)
    for dimension, point in points.items():
        axis = value.axes[dimension]
        if axis >= 0:
            window[axis] = _within(window[axis], point)
    kept = [k for k in range(value.rank) if k not in points]
    shape, axes = tuple(value.shape[k] for k in kept), tuple(value.axes[k] for k in kept)
    return replace(value, shape=shape, window=Subset(tuple(window)), axes=axes, fresh=False)


def _within(dim: Expr | Range, part: Expr | Range) -> Expr | Range:
    assert isinstance(dim, Range)
    if isinstance(part, Expr):
        return dim.at(part)
    return Range(dim.at(part.start), dim.at(part.stop), dim.step * part.step)


def element_index(b: TypedEmitter, key: Value, size: Expr, axis: int) -> Expr:
    """An integer index, proved or checked to be in range, counted from the front."""
    size = b.exact(size)
    index = as_integer(key)
    emit = b.emit
    if index is None and dtype_of(key) == types.uint64 and emit.options.cpu.bounds_check:
        index = emit.assign_symbol("n", cast(scalar_expr(key), types.int64))
        emit.require(index, "OverflowError", "Python int too large to convert to C long")  # it has become negative
    if index is None:
        return _wrapped(b, cast(scalar_expr(key), types.int64), size, axis)
    message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
    negative = emit.is_negative(index)
    if negative is False:
        if emit.ranges.proves_le(size, index):
            raise WillRaise("IndexError", message, (index, size))
        if emit.options.cpu.bounds_check:
            emit.require(size - 1 - index, "IndexError", message, (index, size))
        return index
    if negative:
        if emit.ranges.proves_lt(index + size, 0):
            raise WillRaise("IndexError", message, (index, size))
        if emit.options.cpu.bounds_check:
            emit.require(index + size, "IndexError", message, (index, size))
        return index + size
    return _wrapped(b, Index(index), size, axis, _wrap(index, size))


def is_surely_inside(b: TypedEmitter, values: Interval, size: Expr) -> bool:
    """Return whether indices in an interval are in range, and count from the front: bytes are, of 256 elements."""
    return values[0] >= 0 and b.emit.ranges.proves_lt(as_expr(values[1]), size)


def _wrapped(b: TypedEmitter, index: ScalarExpr, size: Expr, axis: int, definition: Expr | None = None) -> Expr:
    if is_surely_inside(b, ValueIntervals(b.emit).of(index), size):
        return b.emit.assign_symbol("k", index, 0, size - 1, definition)
    b.emit.holds(size - 1)  # so that min(max(k, 0), size - 1) is inside
    if b.emit.options.cpu.bounds_check:
        return b.emit.assign_symbol("k", WrapIndex(index, size, axis), 0, size - 1, definition)
    negative = op("lt", index, Const(0, types.int64))
    wrapped = op("select", negative, op("add", index, Index(size)), index)
    return b.emit.assign_symbol("k", wrapped, 0, size - 1, definition)


def _wrap(index: Expr, size: Expr) -> Expr:
    """``index + size if index < 0 else index``, in arithmetic."""
    return index + size * max_of(0, min_of(1, -index))


def slice_range(b: TypedEmitter, key: SliceValue, size: Expr) -> Range:
    """The elements that a slice of a dimension of `size` names; inside out where it is empty."""
    step = ONE if key.step == Static(None) else _saturated(b, key.step, "the step of a slice")
    if step.constant == 0:
        raise FrontendError("slice step cannot be zero", notes=("NumPy raises ValueError here",))
    size = b.exact(size)
    forward = b.emit.holds(step - 1)
    if not forward and not b.emit.holds(-step - 1):
        return _of_either_direction(b, key, step, size)
    if step.constant is None:  # sizes of results are computed before a check has seen the step
        step = max_of(step, 1) if forward else min_of(step, -1)
    start = _bound(b, key.start, size, forward, low=0 if forward else -1, is_start=True)
    stop = _bound(b, key.stop, size, forward, low=0 if forward else -1, is_start=False)
    part = Range(start, stop, step)
    if _is_negative(part.size):
        return Range(start, start, step)
    return part


def not_inside_out(value: ArrayValue) -> ArrayValue:
    """The window as it is once its bounds are known: an empty one where its start is behind its end."""
    dims = tuple(
        Range(dim.start, dim.start, dim.step) if isinstance(dim, Range) and _is_negative(dim.size) else dim
        for dim in value.window.dims
    )
    shape = tuple(ZERO if _is_negative(size) else size for size in value.shape)
    return replace(value, window=Subset(dims), shape=shape)


def _is_negative(size: Expr) -> bool:
    return size.constant is not None and size.constant < 0


def _of_either_direction(b: TypedEmitter, key: SliceValue, step: Expr, size: Expr) -> Range:
    """A slice whose step may count up or down, which is found out at run time."""
    zero = Const(0, types.int64)
    b.check(op("ne", Index(step), zero), "ValueError", "slice step cannot be zero")
    bounds = {
        is_start: [_bound(b, value, size, forward, low=0 if forward else -1, is_start=is_start)
                   for forward in (True, False)]
        for is_start, value in ((True, key.start), (False, key.stop))
    }  # fmt: skip
    start, stop = (
        b.emit.assign_symbol(stem, op("select", op("gt", Index(step), zero), Index(up), Index(down)), -1, size)
        for stem, (up, down) in (("start", bounds[True]), ("stop", bounds[False]))
    )
    step = b.emit.assign_symbol("step", op("select", op("eq", Index(step), zero), Const(1, types.int64), Index(step)))
    count = b.emit.assign_symbol("n", Index(max_of(ceil_div(stop - start, step), 0)), 0, size)
    return Range(start, start + count * step, step)


def _saturated(b: TypedEmitter, value: Value, what: str) -> Expr:
    """A bound or step of a slice; the largest int64 for unsigned ones above, which names as much."""
    most = Const(LIMITS[1], types.uint64)
    if isinstance(value, Static) and isinstance(value.value, int | np.integer):
        return as_expr(max(LIMITS[0], min(int(value.value), LIMITS[1])))
    if isinstance(value, ArrayValue) and not value.shape:
        value = Scalar(value.load(()))
    if isinstance(value, Scalar) and value.dtype == types.uint64:
        return b.emit.assign_symbol("n", cast(op("min", value.expr, most), types.int64), 0)
    return b.integer(value, what)


def _bound(b: TypedEmitter, value: Value, size: Expr, forward: bool, *, low: int, is_start: bool) -> Expr:
    """A start or stop, from the front. Only the side that would reach outside is clamped: the other only empties."""
    if value == Static(None):
        first, last = (ZERO, size) if forward else (size - 1, as_expr(-1))
        return first if is_start else last
    bound = _saturated(b, value, "a bound of a slice")
    clamp_high = is_start != forward  # stop of a forward slice, start of a backward one
    negative = b.emit.is_negative(bound)
    if negative is False:
        high = size if forward else size - 1
        if not clamp_high or b.emit.holds(high - bound):
            return bound
        return b.emit.ranges.simplify(min_of(bound, high))
    if negative:
        if clamp_high or b.emit.holds(bound + size - low):
            return bound + size
        return b.emit.ranges.simplify(max_of(bound + size, as_expr(low)))
    return _run_time_bound(b, bound, size, low, forward)


def _run_time_bound(b: TypedEmitter, bound: Expr, size: Expr, low: int, forward: bool) -> Expr:
    """A bound of unknown sign: wrapped and clamped at run time. Equal bounds have one symbol (value numbering)."""
    emit = b.emit
    key = bound, size, low, forward
    known = next(
        (
            emit.slice_bounds[region, key]
            for region in reversed(emit.open_regions)
            if (region, key) in emit.slice_bounds
        ),
        None,
    )
    if known is not None:
        return known
    index = Index(bound)
    high = size if forward else size - 1
    wrapped = op("max", Index(bound + size), Const(low, types.int64))
    clamped = op("min", index, Index(high))
    value = op("select", op("lt", index, Const(0, types.int64)), wrapped, clamped)
    definition = max_of(low, min_of(_wrap(bound, size), high))
    place = emit.region, key
    found = emit.slice_bounds[place] = emit.assign_symbol("bound", value, low, high, definition)
    emit.on_undo(lambda: emit.slice_bounds.pop(place, None))
    return found


def reshape(b: TypedEmitter, value: ArrayValue, shape: tuple[Expr, ...]) -> ArrayValue:
    """The elements in C order in another shape of as many; a view where they lie so already."""
    if value.shape == shape:
        return replace(value, fresh=False)
    if not b.contiguous(value):
        value = b.copy(value)
    if not value.is_all_of(b.desc(value)):
        name = b.emit.view(value.as_view(b.desc(value)))
        value = ArrayValue.whole(name, b.desc(name))
    name = b.emit.view(View.reshape(value.container, b.desc(value), shape, span=b.emit.span))
    return ArrayValue.whole(name, b.desc(name), fresh=value.fresh)
