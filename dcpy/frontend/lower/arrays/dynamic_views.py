"""Dynamic views: windows that move, ``x = x[1:]`` in a loop. Nothing is copied, as in Python.

All versions of the name show one container. What they do not agree on (where the window starts, how many elements it
has, its step) is in scalar containers; a name that is read shows a window with symbols for these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.dynamic_arrays import AxisWindow, SlidingWindow
from dcpy.frontend.abstract_values.values import ArrayValue
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, Load, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, Ranges

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Number = Expr | str  # an expression, or the scalar container that holds the number


def join_views(
    frame: Frame, name: str, versions: Sequence[ArrayValue | SlidingWindow], facts: Sequence[Ranges]
) -> SlidingWindow | None:
    """Return the view that a name is where these versions meet; None where they are no windows of one container."""
    values = [value.like if isinstance(value, SlidingWindow) else value for value in versions]
    if len(facts) != len(values) or not _is_one_container(frame, values) or not _have_one_form(frame, values):
        return None
    columns = list(zip(*map(lambda version: _numbers(frame, version), versions), strict=True))
    places = []
    for dim, column in enumerate(columns):
        starts, sizes, steps = zip(*column, strict=True)
        place = AxisWindow(*(_slot(frame, name, dim, what, numbers)
                        for what, numbers in (("start", starts), ("size", sizes), ("step", steps))))  # fmt: skip
        if place.step is not None and not all(map(_is_forward, steps, facts)):
            return None
        places.append(place)
    return SlidingWindow(_outside(frame, values[0], places), tuple(places))


def _is_one_container(frame: Frame, values: Sequence[ArrayValue]) -> bool:
    container = values[0].container
    if any(value.container != container for value in values) or not frame.emit.is_visible(container):
        return False
    return not frame.is_slot(frame.b.root(container))  # a slot changes where its name is assigned


def _have_one_form(frame: Frame, values: Sequence[ArrayValue]) -> bool:
    """Return whether windows differ in numbers only: the same dimensions, in the same order, with the same new ones."""
    first = values[0]
    kept = [isinstance(dim, Range) for dim in first.window.dims]
    for value in values:
        if value.axes != first.axes or [isinstance(dim, Range) for dim in value.window.dims] != kept:
            return False
        pairs = zip(first.axes, first.shape, value.shape, strict=True)
        if any(axis < 0 and (size is not wanted or not _is_known(frame, size)) for axis, wanted, size in pairs):
            return False
    return all(axis in first.axes for axis, is_range in enumerate(kept) if is_range)


def _numbers(frame: Frame, version: ArrayValue | SlidingWindow) -> list[tuple[Number, Number, Number]]:
    """Start, size and step along each dimension of the container; an index is a start."""
    if isinstance(version, ArrayValue):
        return [_of_dim(frame, version, dim) for dim in range(version.window.rank)]
    own = [_of_dim(frame, version.like, dim) for dim in range(version.like.window.rank)]
    return [
        (place.start or start, place.size or size, place.step or step)
        for place, (start, size, step) in zip(version.places, own, strict=True)
    ]


def _of_dim(frame: Frame, value: ArrayValue, dim: int) -> tuple[Expr, Expr, Expr]:
    part = value.window.dims[dim]
    if not isinstance(part, Range):
        return part, ONE, ONE
    return part.start, frame.b.exact(value.shape[value.axes.index(dim)]), part.step


def _slot(frame: Frame, name: str, dim: int, what: str, numbers: Sequence[Number]) -> str | None:
    """The scalar container of a number; None where all versions agree on one that is known here."""
    first = numbers[0]
    if isinstance(first, Expr) and all(number is first for number in numbers) and _is_known(frame, first):
        return None
    return frame.place_slot(name, what, dim)


def _is_forward(step: Number, ranges: Ranges) -> bool:
    """Return whether a step counts up; those that are held do."""
    return isinstance(step, str) or ranges.proves_nonneg(step - 1)


def _is_known(frame: Frame, value: Expr) -> bool:
    return all(symbol in frame.emit.sdfg.symbols or symbol in frame.emit.ranges.names for symbol in value.symbols)


def _outside(frame: Frame, value: ArrayValue, places: Sequence[AxisWindow]) -> ArrayValue:
    """The version that stands for all, without numbers that are held: they may not be known where the paths meet."""
    shape, dims = list(value.shape), list(value.window.dims)
    for dim, place in enumerate(places):
        start, size, step = _of_dim(frame, value, dim)
        start, step = ZERO if place.start else start, ONE if place.step else step
        if isinstance(dims[dim], Range):
            size = ZERO if place.size else size
            shape[value.axes.index(dim)] = size
            dims[dim] = Range(start, start + size * step, step)
        else:
            dims[dim] = start
    return replace(value, shape=tuple(shape), window=Subset(tuple(dims)), fresh=False)


def concrete(frame: Frame, value: SlidingWindow) -> ArrayValue:
    """The window as it is now, with symbols for what moves."""
    like, capacities = value.like, frame.b.desc(value.like).shape
    shape, dims = list(like.shape), list(like.window.dims)
    for dim, (place, capacity) in enumerate(zip(value.places, capacities, strict=True)):
        start, size, step = _of_dim(frame, like, dim)
        is_range = isinstance(dims[dim], Range)
        start = _symbol(frame, "start", place.start, start, ZERO, capacity if is_range else capacity - 1)
        if not is_range:
            dims[dim] = start
            continue
        size = _symbol(frame, "n", place.size, size, ZERO, capacity)
        step = _symbol(frame, "step", place.step, step, ONE, None)
        if step.constant is not None and step.constant > 0 and (place.start or place.size):
            frame.emit.ranges = frame.emit.ranges.assuming(capacity - 1 - start - (size - 1) * step)
        shape[like.axes.index(dim)], dims[dim] = size, Range(start, start + size * step, step)
    return replace(like, shape=tuple(shape), window=Subset(tuple(dims)))


def _symbol(frame: Frame, stem: str, slot: str | None, known: Expr, lower: Expr, upper: Expr | None) -> Expr:
    if slot is None:
        return known
    return frame.emit.assign_symbol(stem, Load(slot, (), types.int64), lower, upper)


def new_places(frame: Frame, target: SlidingWindow, source: ArrayValue) -> list[tuple[Memlet, ScalarExpr]]:
    """Return the values of the scalars of `target` when it becomes `source`. An empty window starts at 0."""
    found: list[tuple[Memlet, ScalarExpr]] = []
    capacities = frame.b.desc(source).shape
    empty = any(axis >= 0 and not frame.emit.ranges.proves_nonneg(size - 1)
                for axis, size in zip(source.axes, source.shape, strict=True))  # fmt: skip
    for dim, (place, capacity) in enumerate(zip(target.places, capacities, strict=True)):
        start, size, step = _of_dim(frame, source, dim)
        inside = frame.emit.ranges.proves_nonneg(start) and frame.emit.ranges.proves_le(start, capacity)
        number: ScalarExpr = Index(start)
        if empty and isinstance(source.window.dims[dim], Range) and not inside:
            some = op("lt", Const(0, types.int64), Index(size))
            number = op("select", some, Index(start), Const(0, types.int64))
        pairs = ((place.start, number), (place.size, Index(size)), (place.step, Index(step)))
        found += [(Memlet(slot, Subset()), expr) for slot, expr in pairs if slot is not None]
    return found
