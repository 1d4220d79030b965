"""Elements at other places: taken along an axis, put together, rotated."""

from __future__ import annotations

import numpy as np

from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower.builder import Builder, items_of
from dcpy.frontend.numpy.defaults import NONE, NUMBER_0, NUMBER_1
from dcpy.frontend.numpy.joining import concatenate
from dcpy.frontend.numpy.manipulation import FULL, at_least, flip, ravel, swapaxes
from dcpy.frontend.numpy.outputs import into
from dcpy.frontend.values import ArrayValue, Static, TupleValue, Value, dtype_of, integer, is_number, shape_of

RAISE = Static("raise")
PLANE = Static((0, 1))


@implements(np.take)
@method("take")
def take(b: Builder, a: Value, indices: Value, axis: Value = NONE, out: Value = NONE, mode: Value = RAISE) -> Value:
    """Elements at positions along an axis (of the flat array, by default)."""
    x = b.array(ravel(b, a) if axis == NONE else a)
    place = 0 if axis == NONE else b.axis(axis, x.rank)
    chosen = indices if is_number(indices) else b.array(indices)
    if dtype_of(chosen).kind not in "iub":
        raise b.error("the indices of np.take must be integers", notes=("NumPy raises TypeError here",))
    size = integer(b.exact(x.shape[place]))
    match b.static(mode, "mode"):
        case "wrap":
            chosen = b.ufunc(np.remainder, chosen, size)
        case "clip":
            last = b.ufunc(np.subtract, size, Static(1))
            chosen = b.ufunc(np.minimum, b.ufunc(np.maximum, chosen, NUMBER_0), last)
        case found if found != "raise":
            raise b.error(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {found!r})")
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
