"""Elements at other places: padding by a rule, taking along an axis, rotating."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower import elementwise
from dcpy.frontend.lower.builder import Builder, items_of
from dcpy.frontend.numpy.defaults import NONE, NUMBER_0, NUMBER_1
from dcpy.frontend.numpy.joining import concatenate
from dcpy.frontend.numpy.manipulation import FULL, at_least, band, flip, ravel, swapaxes
from dcpy.frontend.numpy.outputs import into
from dcpy.frontend.values import ArrayValue, Static, TupleValue, Value, is_number, shape_of
from dcpy.ir.symbolic import ZERO, Expr, max_of, min_of, sym

CONSTANT = Static("constant")
RAISE = Static("raise")
PLANE = Static((0, 1))

Place = Callable[[Expr, Expr], Expr]  # a position counted from the first element, and the size: where to read


def _reflect(position: Expr, size: Expr) -> Expr:
    period = max_of(size * 2 - 2, 1)
    place = position % period
    return min_of(place, period - place)


def _symmetric(position: Expr, size: Expr) -> Expr:
    place = position % (size * 2)
    return min_of(place, size * 2 - 1 - place)


PLACES: dict[str, Place] = {
    "edge": lambda position, size: min_of(max_of(position, 0), size - 1),
    "wrap": lambda position, size: position % size,
    "reflect": _reflect,
    "symmetric": _symmetric,
}


@implements(np.pad)
def pad(
    b: Builder, array: Value, pad_width: Value, mode: Value = CONSTANT, *, constant_values: Value = NUMBER_0
) -> Value:
    """The array with more elements around it: a constant, or its own by a rule."""
    x = b.array(array)
    widths = _widths(b, pad_width, x.rank)
    shape = [b.exact(size) + before + after for size, (before, after) in zip(x.shape, widths, strict=True)]
    rule = b.static(mode, "mode")
    if rule == "constant":
        if not is_number(constant_values):
            raise b.error("np.pad takes one constant for all sides", help="fill the sides with a[:n] = ...")
        out = b.full(shape, x.dtype, b.cast(constant_values, x.dtype))
        inner = out
        for axis, (before, _) in enumerate(widths):
            inner = band(inner, axis, before, b.exact(x.shape[axis]))
        b.store(inner, x)
        return out
    if rule not in PLACES:
        raise b.error(f"np.pad does not take the mode {rule!r}", help=f"use constant, {', '.join(PLACES)}")
    return _padded(b, x, widths, shape, PLACES[rule])


def _padded(
    b: Builder, x: ArrayValue, widths: Sequence[tuple[Expr, Expr]], shape: Sequence[Expr], place: Place
) -> ArrayValue:
    out = b.empty(shape, x.dtype)
    params, domain = elementwise.domain(b, shape)
    places = []
    for axis, (name, (before, after)) in enumerate(zip(params, widths, strict=True)):
        size = b.exact(x.shape[axis])
        if before is ZERO and after is ZERO:
            places.append(sym(name))
            continue
        b.emit.require(size - 1, "ValueError", f"can't extend empty axis {axis} using modes other than 'constant'")
        places.append(place(sym(name) - before, size))
    elementwise.fill(b, out, params, domain, x.load(places))
    return out


def _widths(b: Builder, value: Value, rank: int) -> list[tuple[Expr, Expr]]:
    """Elements before and after each dimension: one number, a pair, or a pair per dimension."""
    parts = items_of(value)
    if parts is None:
        return [(b.integer(value, "pad_width"),) * 2] * rank
    if all(items_of(part) is None for part in parts):
        sides = b.shape_argument(TupleValue(parts))
        return [(sides[0], sides[-1])] * rank
    pairs = [b.shape_argument(part) for part in parts]
    if len(pairs) not in (1, rank):
        raise b.error(f"pad_width has {len(pairs)} pairs, but the array {rank} dimensions")
    return [(pair[0], pair[-1]) for pair in (pairs * rank if len(pairs) == 1 else pairs)]


@implements(np.take)
@method("take")
def take(b: Builder, a: Value, indices: Value, axis: Value = NONE, out: Value = NONE, mode: Value = RAISE) -> Value:
    """Elements at positions along an axis (of the flat array, by default)."""
    if mode != RAISE:
        raise b.error("np.take checks its indices", help="use indices % n, or np.clip(indices, 0, n - 1)")
    x = b.array(ravel(b, a) if axis == NONE else a)
    place = 0 if axis == NONE else b.axis(axis, x.rank)
    chosen = indices if is_number(indices) else b.array(indices)
    found = b.subscript(x, [*[FULL] * place, chosen])
    if isinstance(found, ArrayValue) and not shape_of(chosen):
        found = b.copy(found)  # a subscript by a number is a view
    return into(b, out, found, "take")


@implements(np.append)
def append(b: Builder, arr: Value, values: Value, axis: Value = NONE) -> Value:
    """A new array with more elements at the end."""
    return concatenate(b, TupleValue((b.array(arr), b.array(values))), axis)


@implements(np.dstack)
def dstack(b: Builder, tup: Value) -> Value:
    """Matrices behind each other."""
    parts = []
    for item in items_of(tup) or ():
        part = b.array(at_least(b, [item], 2))
        parts.append(b.expand(part, 2) if part.rank == 2 else part)
    return concatenate(b, TupleValue(tuple(parts)), Static(2))


@implements(np.rot90)
def rot90(b: Builder, m: Value, k: Value = NUMBER_1, axes: Value = PLANE) -> Value:
    """The view rotated by right angles in a plane."""
    first, second = b.static(axes, "axes")
    turns = b.static(k, "k") % 4
    if turns == 0:
        return b.array(m)
    if turns == 2:
        return flip(b, flip(b, m, Static(first)), Static(second))
    if turns == 1:
        return swapaxes(b, flip(b, m, Static(second)), Static(first), Static(second))
    return flip(b, swapaxes(b, m, Static(first), Static(second)), Static(second))
