"""Running sums and products, and differences of neighbours: each element follows from the one before."""

from __future__ import annotations

import numpy as np

from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower import elementwise
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.lower.elementwise import UFUNCS
from dcpy.frontend.lower.emitter import tasklet
from dcpy.frontend.lower.promotion import result_of
from dcpy.frontend.numpy.creation import size_of
from dcpy.frontend.numpy.defaults import LAST_AXIS, NONE, NUMBER_0, NUMBER_1
from dcpy.frontend.numpy.outputs import dtype_with_out, into
from dcpy.frontend.values import ArrayValue, SliceValue, Static, Value
from dcpy.ir import types
from dcpy.ir.expr import cast
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Loop, Region
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, Expr, sym

FULL = SliceValue(NONE, NONE, NONE)


def accumulated(b: Builder, function: np.ufunc, x: ArrayValue, axis: int, dtype: Value, result: Value) -> ArrayValue:
    """``function.accumulate(x, axis)`` into a new array: a loop along the axis, a map over the others."""
    wanted = dtype_with_out(b, x, dtype, result) or result_of(function.accumulate, x.dtype)
    out = b.empty([b.exact(size) for size in x.shape], wanted)
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


def _along(b: Builder, a: Value, axis: Value) -> tuple[ArrayValue, int]:
    """The array and its axis; without an axis the flat array."""
    x = b.array(a)
    if not x.rank or (axis == NONE and x.rank != 1):
        return b.reshape(x, [b.integer(size_of(b, x))]), 0
    return x, 0 if axis == NONE else b.axis(axis, x.rank)


@implements(np.cumsum)
def cumsum(b: Builder, a: Value, axis: Value = NONE, dtype: Value = NONE, out: Value = NONE) -> Value:
    """Running sums along an axis, of the flat array by default."""
    return into(b, out, accumulated(b, np.add, *_along(b, a, axis), dtype, out), "add", unsafe=True)


@implements(np.cumprod)
def cumprod(b: Builder, a: Value, axis: Value = NONE, dtype: Value = NONE, out: Value = NONE) -> Value:
    """Running products along an axis, of the flat array by default."""
    return into(b, out, accumulated(b, np.multiply, *_along(b, a, axis), dtype, out), "multiply", unsafe=True)


def _accumulate(function: np.ufunc) -> Implementation:
    def call(b: Builder, array: Value, axis: Value = NUMBER_0, dtype: Value = NONE, out: Value = NONE) -> Value:
        if not b.array(array).rank:
            raise b.error("cannot accumulate on a scalar", notes=("NumPy raises TypeError here",))
        found = accumulated(b, function, *_along(b, array, axis), dtype, out)
        return into(b, out, found, function.__name__, unsafe=True)

    return call


for _function in (np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or):
    implements(_function.accumulate)(_accumulate(_function))


@implements(np.diff)
def diff(b: Builder, a: Value, n: Value = NUMBER_1, axis: Value = LAST_AXIS) -> Value:
    """Differences of neighbours along an axis, `n` times."""
    x = b.array(a)
    if not x.rank:
        raise b.error("diff requires input that is at least one dimensional", notes=("NumPy raises ValueError here",))
    place = b.axis(axis, x.rank)
    for _ in range(b.static(n, "n")):
        later, earlier = (_slice(b, x, place, part) for part in ((1, None), (None, -1)))
        x = b.array(b.ufunc(np.not_equal if x.dtype == types.bool_ else np.subtract, later, earlier))
    return x


def _slice(b: Builder, x: ArrayValue, axis: int, bounds: tuple[int | None, int | None]) -> Value:
    keys: list[Value] = [FULL] * axis
    return b.subscript(x, [*keys, SliceValue(Static(bounds[0]), Static(bounds[1]), NONE)])
