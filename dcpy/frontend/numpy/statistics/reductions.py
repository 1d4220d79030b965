"""Reductions: sums, products, extremes, truth, means, positions. Functions and methods, with NumPy's dtypes.

Each is one library node ``reduce`` or ``argreduce``; what NumPy computes before and after is elementwise code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    Static,
    SymInt,
    Value,
    integer,
    is_number,
    scalar_expr,
)
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.promotion import result_of
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, NUMBER_0, TRUE
from dcpy.frontend.numpy.ufuncs.out_and_where import dtype_with_out, into, mask_of
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op
from dcpy.ir.symbolic import Expr, product_of
from dcpy.ir.types import DType


@dataclass(frozen=True)
class ReductionKind:
    """A way to reduce: the operation of the library node, NumPy's ufunc, the value of nothing (None: there is none)."""

    op: str
    ufunc: np.ufunc
    identity: int | None


KINDS = (
    ReductionKind("add", np.add, 0),
    ReductionKind("mul", np.multiply, 1),
    ReductionKind("min", np.minimum, None),
    ReductionKind("max", np.maximum, None),
    ReductionKind("and", np.logical_and, 1),
    ReductionKind("or", np.logical_or, 0),
)
ADD, MULTIPLY, MINIMUM, MAXIMUM, AND, OR = KINDS


def reduced(
    b: OpBuilder,
    kind: ReductionKind,
    a: Value,
    axis: Value = NONE,
    dtype: Value = NONE,
    out: Value = NONE,
    keepdims: Value = FALSE,
    initial: Value = NONE,
    where: Value = TRUE,
) -> Value:
    """``kind.ufunc.reduce`` with NumPy's keywords."""
    x = b.array(a)
    axes = axes_of(b, axis, x)
    chosen = b.dtype_argument(dtype) if kind in (AND, OR) else dtype_with_out(b, x, dtype, out)
    wanted = chosen or result_of(kind.ufunc.reduce, x.dtype)
    if kind.identity is None and initial == NONE:
        require_first(b, kind.ufunc, x, axes, where)
    if where != TRUE:
        x = _where(b, kind, x, wanted, where, initial)
    result = accumulated(b, kind, x, axes, wanted, bool(b.static(keepdims, "keepdims")))
    if initial != NONE:
        result = b.ufunc(kind.ufunc, b.cast(initial, wanted), result)
    return into(b, out, result, kind.ufunc.__name__, casting="unsafe")


def axes_of(b: OpBuilder, axis: Value, x: ArrayValue) -> tuple[int, ...]:
    """The axes to reduce; NumPy takes 0 and -1 for numbers, too."""
    return () if not x.rank and axis in (Static(0), Static(-1)) else b.axes(axis, x.rank)


def accumulated(
    b: OpBuilder, kind: ReductionKind, x: ArrayValue, axes: tuple[int, ...], dtype: DType, keepdims: bool
) -> Value:
    """The reduction as a node. Sums of float16 accumulate in float32, as in NumPy."""
    if not axes:
        return b.cast(Scalar(x.load(())), dtype) if not x.shape else b.copy(b.array(b.cast(x, dtype)))
    inner = types.float32 if dtype == types.float16 and kind is ADD else dtype
    return b.cast(b.reduce(kind.op, x, axes, dtype=inner, keepdims=keepdims), dtype)


def _where(b: OpBuilder, kind: ReductionKind, x: ArrayValue, dtype: DType, where: Value, initial: Value) -> ArrayValue:
    """`x` with what does not count replaced by what changes nothing."""
    neutral: ScalarExpr
    if kind.identity is None:
        neutral = convert(scalar_expr(b.hold(initial)), dtype)
    else:
        neutral = convert(Const(kind.identity, types.int64), dtype)

    def choose(mask: ScalarExpr, value: ScalarExpr) -> ScalarExpr:
        return op("select", mask, cast(value, dtype), neutral)

    return b.array(b.elementwise(choose, b.broadcast_to(b.array(mask_of(b, where)), x.shape), x))


def require_first(b: OpBuilder, function: np.ufunc, x: ArrayValue, axes: Sequence[int], where: Value) -> None:
    """Refuse reductions that have nothing to begin with: neither an identity nor, for sure, a first element."""
    if where != TRUE:
        raise b.error(
            f"reduction operation '{function.__name__}' does not have an identity, so to use a where mask one has to "
            "specify 'initial'",
            notes=("NumPy raises ValueError here",),
            help="pass initial=",
        )
    message = f"zero-size array to reduction operation {function.__name__} which has no identity"
    require_elements(b, x, axes, message)


def require_elements(b: OpBuilder, x: ArrayValue, axes: Sequence[int], message: str) -> None:
    """`ValueError` where an axis of size 0 would be reduced."""
    for axis in axes:
        size = b.exact(x.shape[axis])
        if size.constant == 0:
            raise b.error(message, notes=("NumPy raises ValueError here",))
        b.emit.require(size - 1, "ValueError", message)


def count_of(b: OpBuilder, x: ArrayValue, axes: Sequence[int]) -> Expr:
    """Return the number of elements that go into one result."""
    return product_of(*(b.exact(x.shape[axis]) for axis in axes))


# -- sums, products, extremes, truth ---------------------------------------------------------------------------------


def _total(kind: ReductionKind) -> Implementation:
    def call(
        b: OpBuilder,
        a: Value,
        axis: Value = NONE,
        dtype: Value = NONE,
        out: Value = NONE,
        keepdims: Value = FALSE,
        initial: Value = NONE,
        where: Value = TRUE,
    ) -> Value:
        return reduced(b, kind, a, axis, dtype, out, keepdims, initial, where)

    return call


def _extreme(kind: ReductionKind) -> Implementation:
    def call(
        b: OpBuilder,
        a: Value,
        axis: Value = NONE,
        out: Value = NONE,
        keepdims: Value = FALSE,
        initial: Value = NONE,
        where: Value = TRUE,
    ) -> Value:
        return reduced(b, kind, a, axis, NONE, out, keepdims, initial, where)

    return call


def _truth(kind: ReductionKind) -> Implementation:
    def call(
        b: OpBuilder, a: Value, axis: Value = NONE, out: Value = NONE, keepdims: Value = FALSE, *, where: Value = TRUE
    ) -> Value:
        return reduced(b, kind, a, axis, NONE, out, keepdims, NONE, where)

    return call


implements(np.sum)(_total(ADD))
implements(np.prod)(_total(MULTIPLY))
implements(np.min, np.amin)(_extreme(MINIMUM))
implements(np.max, np.amax)(_extreme(MAXIMUM))
implements(np.all)(_truth(AND))
implements(np.any)(_truth(OR))


@implements(np.ptp)
def ptp(b: OpBuilder, a: Value, axis: Value = NONE, out: Value = NONE, keepdims: Value = FALSE) -> Value:
    """The maximum minus the minimum."""
    high = reduced(b, MAXIMUM, a, axis, keepdims=keepdims)
    return into(
        b,
        out,
        b.ufunc(np.subtract, high, reduced(b, MINIMUM, a, axis, keepdims=keepdims)),
        "subtract",
        casting="unsafe",
    )


@implements(np.count_nonzero)
def count_nonzero(b: OpBuilder, a: Value, axis: Value = NONE, *, keepdims: Value = FALSE) -> Value:
    """Return the number of elements that are not zero."""
    x = b.array(a)
    truths = b.cast(x, types.bool_)
    if x.dtype != types.bool_:  # NumPy copies
        memory_order.lie_as_made(b, truths, memory_order.order_of_copy(b, x), [x])
    found = reduced(b, ADD, truths, axis, keepdims=keepdims)
    weak = not isinstance(np.count_nonzero(np.ones(1)), np.generic)  # depends on the version of NumPy
    return Scalar(found.expr, weak=True) if isinstance(found, Scalar) and weak and axis == NONE else found


# -- positions -------------------------------------------------------------------------------------------------------


def _position(name: str) -> Implementation:
    def call(b: OpBuilder, a: Value, axis: Value = NONE, out: Value = NONE, *, keepdims: Value = FALSE) -> Value:
        x = b.array(a)
        axes = axes_of(b, axis, x)
        if axis != NONE and len(axes) > 1:
            raise b.error(f"the axis of arg{name} is one integer", notes=("NumPy raises TypeError here",))
        if not axes:
            return into(b, out, Static(np.int64(0)), f"arg{name}")
        require_elements(b, x, axes, f"attempt to get arg{name} of an empty sequence")
        keep = bool(b.static(keepdims, "keepdims"))
        found = b.reduction("argreduce", x, axes, types.int64, keep, op=name)
        return into(b, out, found, f"arg{name}")

    return call


implements(np.argmin)(_position("min"))
implements(np.argmax)(_position("max"))


# -- means and deviations --------------------------------------------------------------------------------------------


@implements(np.mean)
def mean_(
    b: OpBuilder,
    a: Value,
    axis: Value = NONE,
    dtype: Value = NONE,
    out: Value = NONE,
    keepdims: Value = FALSE,
    *,
    where: Value = TRUE,
) -> Value:
    """The sum divided by how many; of integers in float64, of float16 in float32."""
    x = b.array(a)
    wanted = b.dtype_argument(dtype) or (x.dtype if x.dtype.is_inexact else types.float64)
    inner = types.float32 if wanted == types.float16 else wanted
    total = reduced(b, ADD, x, axis, Static(inner.numpy), NONE, keepdims, NONE, where)
    result = b.ufunc(np.true_divide, total, _count(b, x, axis, keepdims, where))
    return into(b, out, b.cast(result, wanted), "true_divide", casting="unsafe")


def _count(b: OpBuilder, x: ArrayValue, axis: Value, keepdims: Value, where: Value) -> Value:
    if where == TRUE:
        return integer(count_of(b, x, axes_of(b, axis, x)))
    mask = b.broadcast_to(b.array(mask_of(b, where)), x.shape)
    return reduced(b, ADD, mask, axis, keepdims=keepdims)


@implements(np.var)
def var(
    b: OpBuilder,
    a: Value,
    axis: Value = NONE,
    dtype: Value = NONE,
    out: Value = NONE,
    ddof: Value = NUMBER_0,
    keepdims: Value = FALSE,
    *,
    where: Value = TRUE,
    mean: Value = NONE,
    correction: Value = NONE,
) -> Value:
    """The mean of the squared distances from the mean; divided by ``n - ddof``."""
    x = b.array(a)
    wanted = b.dtype_argument(dtype) or (x.dtype if x.dtype.is_inexact else types.float64)
    inner = types.float32 if wanted == types.float16 else wanted
    real = result_of(np.real, wanted)
    keep = FALSE if axis == NONE else TRUE
    middle = mean if mean != NONE else mean_(b, x, axis, Static(inner.numpy), keepdims=keep, where=where)
    distance = b.hold(b.ufunc(np.subtract, x, middle))
    squares = b.elementwise(_squared_magnitude, distance)
    total = reduced(b, ADD, squares, axis, Static(result_of(np.real, inner).numpy), NONE, keepdims, NONE, where)
    freedom = ddof if correction == NONE else correction
    count = b.hold(_freedom(b, _count(b, x, axis, keepdims, where), freedom))
    return into(b, out, b.cast(b.ufunc(np.true_divide, total, count), real), "true_divide", casting="unsafe")


@implements(np.std)
def std(
    b: OpBuilder,
    a: Value,
    axis: Value = NONE,
    dtype: Value = NONE,
    out: Value = NONE,
    ddof: Value = NUMBER_0,
    keepdims: Value = FALSE,
    *,
    where: Value = TRUE,
    mean: Value = NONE,
    correction: Value = NONE,
) -> Value:
    """The square root of the variance."""
    variance = var(b, a, axis, dtype, NONE, ddof, keepdims, where=where, mean=mean, correction=correction)
    return into(b, out, b.ufunc(np.sqrt, variance), "sqrt", casting="unsafe")


def _squared_magnitude(value: ScalarExpr) -> ScalarExpr:
    if value.dtype.kind != "c":
        return op("mul", value, value)
    return op("real", op("mul", value, op("conj", value)))


def _freedom(b: OpBuilder, count: Value, ddof: Value) -> Value:
    """``max(count - ddof, 0)``."""
    if is_number(count) and isinstance(ddof, Static | SymInt):
        exprs = [b.known_integer(value) for value in (count, ddof)]
        if exprs[0] is not None and exprs[1] is not None:
            return integer(b.emit.ranges.simplify(b.exact(exprs[0] - exprs[1])))
    return b.ufunc(np.maximum, b.ufunc(np.subtract, count, ddof), Static(0))
