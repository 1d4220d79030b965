"""Running sums and products, and differences of neighbours: each element follows from the one before."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, SliceValue, Static, TupleValue, Value
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.elementwise import UFUNCS
from dcpy.frontend.lower.arithmetic.promotion import result_of
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.emitter import tasklet
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_creation.creation import size_of
from dcpy.frontend.numpy.array_manipulation.joining import concatenate
from dcpy.frontend.numpy.parameter_defaults import LAST_AXIS, NONE, NUMBER_1
from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.numpy.ufuncs.out_and_where import dtype_with_out, into
from dcpy.ir import types
from dcpy.ir.expressions.scalar import cast
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Loop, Region
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.types import DType

FULL = SliceValue(NONE, NONE, NONE)


def accumulated(b: OpBuilder, function: np.ufunc, x: ArrayValue, axis: int, wanted: DType) -> ArrayValue:
    """``function.accumulate(x, axis)`` into a new array: a loop along the axis, a map over the others."""
    out = b.empty([b.exact(size) for size in x.shape], wanted, order=memory_order.order_of_ufunc(b, [x], x.rank))
    b.store(out, b.cast(x, wanted))
    param = b.emit.parameter("k")
    others = [k for k in range(x.rank) if k != axis]
    params, domain = elementwise.domain(b, [out.shape[k] for k in others])

    def point(step: int) -> list[Expr]:
        at = dict(zip(others, map(sym, params), strict=True)) | {axis: sym(param) - step}
        return [at[k] for k in range(x.rank)]

    value = UFUNCS[function](out.load(point(1)), out.load(point(0)))
    body = Region()
    with b.emit.inside(body):
        node = tasklet([(Memlet(out.container, out.subset(point(0))), cast(value, wanted))], b.emit.span)
        if params:
            b.emit.map(params, domain, [node])
        else:
            b.emit.node(node)
    b.emit.block(Loop(param, Range(ONE, out.shape[axis]), body))
    return out


def _along(b: OpBuilder, a: Value, axis: Value) -> tuple[ArrayValue, int]:
    """The array and its axis; without an axis the flat array."""
    x = b.array(a)
    if not x.rank or (axis == NONE and x.rank != 1):
        return b.reshape(x, [b.integer(size_of(b, x))]), 0
    return x, 0 if axis == NONE else b.axis(axis, x.rank)


def _running(b: OpBuilder, function: np.ufunc, a: Value, axis: Value, dtype: Value, out: Value) -> Value:
    x, place = _along(b, a, axis)
    wanted = dtype_with_out(b, x, dtype, out) or result_of(function.accumulate, x.dtype)
    return into(b, out, accumulated(b, function, x, place, wanted), function.__name__, casting="unsafe")


@implements(np.cumsum)
def cumsum(b: OpBuilder, a: Value, axis: Value = NONE, dtype: Value = NONE, out: Value = NONE) -> Value:
    """Running sums along an axis, of the flat array by default."""
    return _running(b, np.add, a, axis, dtype, out)


@implements(np.cumprod)
def cumprod(b: OpBuilder, a: Value, axis: Value = NONE, dtype: Value = NONE, out: Value = NONE) -> Value:
    """Running products along an axis, of the flat array by default."""
    return _running(b, np.multiply, a, axis, dtype, out)


@written_in_python(np.cumulative_sum)
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running sums along an axis, from 0 with `include_initial`."""
    return _with_initial(
        np.asarray(x), np.cumsum(x, _only_axis(x, axis), dtype), 0, _only_axis(x, axis), include_initial
    )


@written_in_python(np.cumulative_prod)
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running products along an axis, from 1 with `include_initial`."""
    return _with_initial(
        np.asarray(x), np.cumprod(x, _only_axis(x, axis), dtype), 1, _only_axis(x, axis), include_initial
    )


def _only_axis(x: Any, axis: int | None) -> int:
    if axis is None and np.ndim(x) > 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    return 0 if axis is None else axis


def _with_initial(x: Any, found: Any, initial: int, axis: int, include_initial: bool) -> Any:
    if not include_initial:
        return found
    place = axis % x.ndim
    first = np.full((*x.shape[:place], 1, *x.shape[place + 1 :]), initial, found.dtype)
    return np.concatenate((first, found), axis=place)


@implements(np.diff)
def diff(
    b: OpBuilder,
    a: Value,
    n: Value = NUMBER_1,
    axis: Value = LAST_AXIS,
    prepend: Value = NONE,
    append: Value = NONE,
) -> Value:
    """Differences of neighbours along an axis, `n` times; numbers may stand before and behind all others."""
    x = b.array(a)
    if not x.rank:
        raise b.error("diff requires input that is at least one dimensional", notes=("NumPy raises ValueError here",))
    place = b.axis(axis, x.rank)
    if b.static(n, "n") < 0:
        raise b.error(f"order must be non-negative but got {n}", notes=("NumPy raises ValueError here",))
    if b.static(n, "n") > 0 and (prepend, append) != (NONE, NONE):
        parts = [_slab(b, x, part, place) if part != NONE else None for part in (prepend, append)]
        joined = [part for part in (parts[0], x, parts[1]) if part is not None]
        x = b.array(concatenate(b, TupleValue(tuple(joined)), Static(place)))
    for _ in range(b.static(n, "n")):
        later, earlier = (_slice(b, x, place, part) for part in ((1, None), (None, -1)))
        x = b.array(b.ufunc(np.not_equal if x.dtype == types.bool_ else np.subtract, later, earlier))
    return x


def _slice(b: OpBuilder, x: ArrayValue, axis: int, bounds: tuple[int | None, int | None]) -> Value:
    keys: list[Value] = [FULL] * axis
    return b.subscript(x, [*keys, SliceValue(Static(bounds[0]), Static(bounds[1]), NONE)])


def _slab(b: OpBuilder, x: ArrayValue, value: Value, axis: int) -> ArrayValue:
    """Return the values before or behind `x` along an axis; a number counts for all lines."""
    part = b.array(value)
    if part.rank:
        return part
    sizes = [ONE if k == axis else b.exact(size) for k, size in enumerate(x.shape)]
    return b.broadcast_to(part, tuple(sizes))
