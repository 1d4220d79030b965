"""``reduce``, ``accumulate`` and ``reduceat`` of all ufuncs of two operands that have them.

The reductions that have library nodes of their own (sums, extremes, …) are in `reductions`; here one element after the
other is combined, in the order in which NumPy does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Static, Value
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.elementwise import OF_NUMPY, UFUNCS
from dcpy.frontend.lower.arithmetic.promotion import result_of, ufunc_dtypes
from dcpy.frontend.lower.emitter import tasklet
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_manipulation.shapes import reshaped
from dcpy.frontend.numpy.indexing.gather_and_scatter import require_safe
from dcpy.frontend.numpy.mathematics import cumulative
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, NUMBER_0, TRUE
from dcpy.frontend.numpy.python_implementations import call_body
from dcpy.frontend.numpy.statistics.reductions import KINDS, axes_of, count_of, reduced, require_first
from dcpy.frontend.numpy.ufuncs.out_and_where import dtype_with_out, into, mask_of
from dcpy.ir.expressions.scalar import cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Loop, Region
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, sym
from dcpy.ir.types import DType

#: what has a library node of its own
_NODES = {kind.ufunc: kind for kind in KINDS}
#: of those without identity, the ones whose result does not depend on the order of the operands
_REORDERABLE = (np.fmax, np.fmin)

# -- reduce ----------------------------------------------------------------------------------------------------------


def _reduce(function: np.ufunc) -> Implementation:
    def call(
        b: OpBuilder,
        array: Value,
        /,
        axis: Value = NUMBER_0,
        dtype: Value = NONE,
        out: Value = NONE,
        keepdims: Value = FALSE,
        initial: Value = NONE,
        where: Value = TRUE,
    ) -> Value:
        if function in _NODES:
            return reduced(b, _NODES[function], array, axis, dtype, out, keepdims, initial, where)
        x = b.array(array)
        axes = axes_of(b, axis, x)
        if len(axes) > 1 and function.identity is None and function not in _REORDERABLE:
            message = f"reduction operation '{function.__name__}' is not reorderable, so at most one axis may be given"
            raise b.error(message, notes=("NumPy raises ValueError here",))
        wanted = _loop_dtype(b, function, function.reduce, x, dtype, out)
        mask = None if where == TRUE else b.broadcast_to(b.array(mask_of(b, where)), x.shape)
        start = _start(b, function, x, axes, initial, where)
        if not axes:
            found = b.cast(x if x.rank else Scalar(x.load(())), wanted)
        else:
            x, mask = _merged(b, x, axes), None if mask is None else _merged(b, mask, axes)
            found = _folded(b, function, x, wanted, start, mask)
        if axes and b.static(keepdims, "keepdims"):
            found = b.array(found)
            for place in axes:
                found = b.expand(found, place)
        return into(b, out, found, function.__name__, casting="unsafe")

    return call


def _loop_dtype(b: OpBuilder, function: np.ufunc, method: Any, x: ArrayValue, dtype: Value, out: Value) -> DType:
    """The dtype in which elements are combined, which both operands and the result have."""
    try:
        wanted = dtype_with_out(b, x, dtype, out) or result_of(method, x.dtype)
    except TypeError as error:
        raise b.error(str(error), notes=("NumPy raises TypeError here",)) from None
    number = Static(wanted.numpy.type(0))
    if set(ufunc_dtypes(function, (number, number))) != {wanted} or (function is np.power and wanted.is_integer):
        raise b.error(f"np.{function.__name__} does not combine elements of {x.dtype.numpy_name} here")
    return wanted


def _start(
    b: OpBuilder, function: np.ufunc, x: ArrayValue, axes: Sequence[int], initial: Value, where: Value
) -> Value | None:
    """Return the start of the reduction: `initial`, the identity, or None (the first element)."""
    if initial != NONE:
        return b.hold(initial)
    if function.identity is not None:
        return Static(function.identity)
    require_first(b, function, x, axes, where)
    return None


def _merged(b: OpBuilder, x: ArrayValue, axes: Sequence[int]) -> ArrayValue:
    """The array with the axes that are reduced as one, at the end."""
    kept = [k for k in range(x.rank) if k not in axes]
    moved = b.transpose(x, [*kept, *axes])
    if len(axes) == 1:
        return moved
    return reshaped(b, moved, (*(b.exact(x.shape[k]) for k in kept), count_of(b, x, axes)))


def _folded(
    b: OpBuilder, function: np.ufunc, x: ArrayValue, dtype: DType, start: Value | None, mask: ArrayValue | None
) -> Value:
    """The elements along the last axis combined, one after the other: a loop around a map over the others."""
    shape = [b.exact(size) for size in x.shape[:-1]]
    out, result = (b.empty(shape, dtype), None) if shape else b.scalar_container(dtype)
    params, domain = elementwise.domain(b, out.shape)
    if start is None:
        elementwise.fill(b, out, params, domain, cast(x.load([*map(sym, params), ZERO]), dtype))
        params, domain = elementwise.domain(b, out.shape)  # each map has parameters of its own
    else:
        b.store(out, b.cast(start, dtype))
    points = [sym(name) for name in params]
    step = b.emit.parameter("k")
    at = [*points, sym(step)]
    so_far = out.load(points)
    value = cast(UFUNCS[function](so_far, cast(x.load(at), dtype)), dtype)
    if mask is not None:
        value = op("select", mask.load(at), value, so_far)
    node = tasklet([(Memlet(out.container, out.subset(points)), value)], b.emit.span)
    body = Region()
    with b.emit.inside(body):
        if params:
            b.emit.map(params, domain, [node])
        else:
            b.emit.node(node)
    b.emit.block(Loop(step, Range(ZERO if start is not None else ONE, b.exact(x.shape[-1])), body))
    return out if result is None else result


# -- accumulate ------------------------------------------------------------------------------------------------------


def _accumulate(function: np.ufunc) -> Implementation:
    def call(b: OpBuilder, array: Value, /, axis: Value = NUMBER_0, dtype: Value = NONE, out: Value = NONE) -> Value:
        x = b.array(array)
        if not x.rank:
            raise b.error("cannot accumulate on a scalar", notes=("NumPy raises TypeError here",))
        wanted = _loop_dtype(b, function, function.accumulate, x, dtype, out)
        found = cumulative.accumulated(b, function, x, b.axis(axis, x.rank), wanted)
        return into(b, out, found, function.__name__, casting="unsafe")

    return call


# -- reduceat and at: Python functions -------------------------------------------------------------------------------


def _reduceat(function: np.ufunc) -> Implementation:
    def body(array: Any, indices: Any, axis: int, dtype: Any) -> Any:
        source = np.moveaxis(np.asarray(array), axis, 0).astype(dtype)
        require_safe(indices, np.zeros(0, np.int64))
        places = np.asarray(indices)
        if places.ndim != 1:
            raise ValueError(f"object {'too deep' if places.ndim else 'of too small depth'} for desired array")
        n = len(source)
        found = np.empty((len(places), *source.shape[1:]), dtype)
        for k in range(len(places)):
            if places[k] < 0 or places[k] >= n:
                raise IndexError(f"index {places[k]} out-of-bounds in {function.__name__}.reduceat [0, {n})")
        for k in range(len(places)):
            start = int(places[k])
            stop = int(places[k + 1]) if k + 1 < len(places) else n
            found[k] = source[start]
            for j in range(start + 1, stop):
                found[k] = function(found[k], source[j])
        return np.moveaxis(found, 0, axis)

    def call(
        b: OpBuilder, array: Value, /, indices: Value, axis: Value = NUMBER_0, dtype: Value = NONE, out: Value = NONE
    ) -> Value:
        x = b.array(array)
        wanted = _loop_dtype(b, function, lambda a: function.reduceat(a, [0]), x, dtype, out)
        found = call_body(b, body, x, indices, axis, Static(wanted.numpy))
        return into(b, out, found, function.__name__, casting="unsafe")

    return call


def _combines(function: np.ufunc) -> bool:
    """Return whether results can be operands again: for some dtype, both operands and the result have it.

    NumPy's own ``arctan2.reduce`` depends on how the loop is vectorized: it is left out.
    """
    return function is not np.arctan2 and any(
        len(set(signature.replace("->", ""))) == 1 for signature in function.types
    )


for _function in OF_NUMPY:
    if _function.nin == 2 and _combines(_function):
        implements(_function.accumulate)(_accumulate(_function))
        implements(_function.reduceat)(_reduceat(_function))
        implements(_function.reduce)(_reduce(_function))
