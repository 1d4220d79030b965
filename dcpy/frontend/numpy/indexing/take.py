"""``np.take``: elements at positions along an axis."""

from __future__ import annotations

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value, dtype_of, integer, is_number, shape_of
from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower.arrays.subscript_keys import index_array, is_sequence
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_manipulation.shapes import FULL, flattened
from dcpy.frontend.numpy.parameter_defaults import NONE, NUMBER_0
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.ir import types

RAISE = Static("raise")


@implements(np.take)
@method("take")
def take(b: OpBuilder, a: Value, indices: Value, axis: Value = NONE, out: Value = NONE, mode: Value = RAISE) -> Value:
    """Elements at positions along an axis (of the flat array, by default)."""
    x = flattened(b, b.array(a)) if axis == NONE else b.array(a)
    place = 0 if axis == NONE else b.axis(axis, x.rank)
    chosen = index_array(b, indices) if is_sequence(indices) else indices
    chosen = chosen if is_number(chosen) else b.array(chosen)
    if dtype_of(chosen).kind not in "iub":
        raise b.error("the indices of np.take must be integers", notes=("NumPy raises TypeError here",))
    if dtype_of(chosen) == types.bool_:  # as an index, a truth value would be a mask
        chosen = b.cast(chosen, types.int64)
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
