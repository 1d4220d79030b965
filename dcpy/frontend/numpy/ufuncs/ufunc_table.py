"""NumPy's ufuncs: those that are one scalar operation on each element, as a table; and what is made of them.

Dtypes are NumPy's (`lower.arithmetic.promotion`). ``reduce`` and ``accumulate`` are in `reductions` and `cumulative`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Static, Value, dtype_of, is_number, is_weak
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.arithmetic.elementwise import OF_NUMPY
from dcpy.frontend.lower.arithmetic.promotion import can_cast, ufunc_dtypes
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_creation.creation import order_argument
from dcpy.frontend.numpy.parameter_defaults import NONE, NUMBER_0, ORDER_K, SAME_KIND, TRUE
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, op
from dcpy.ir.types import DType


def apply(
    b: OpBuilder,
    function: np.ufunc,
    operands: tuple[Value, ...],
    out: Value,
    where: Value,
    casting: Value,
    order: Value,
    dtype: Value,
) -> Value:
    """A call of a ufunc of one output, with its keywords."""
    rule = str(b.static(casting, "casting"))
    operands = tuple(value if is_number(value) else b.array(value) for value in operands)
    wanted = b.dtype_argument(dtype)
    require_casts(b, function, operands, wanted, rule)
    result = b.ufunc(function, *operands, dtype=wanted)
    found = into(b, out, result, function.__name__, where, broadcast=True, casting=rule)
    return in_order(b, found, operands, order, out)


def require_casts(
    b: OpBuilder, function: np.ufunc, operands: tuple[Value, ...], dtype: DType | None, casting: str
) -> None:
    """An error where the rule `casting` keeps an operand from becoming what the loop computes in."""
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise b.error(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got {casting!r})")
    if dtype is None and casting in ("same_kind", "unsafe"):
        return  # that is how the loop was found
    if all(is_weak(operand) for operand in operands):
        return  # numbers of Python's own become what the loop takes
    for operand, loop in zip(operands, ufunc_dtypes(function, operands, dtype), strict=False):
        if not is_weak(operand) and not can_cast(dtype_of(operand), loop, casting):
            raise b.error(
                f"Cannot cast ufunc '{function.__name__}' input from {dtype_of(operand).numpy!r} to {loop.numpy!r} "
                f"with casting rule '{casting}'",
                notes=("NumPy raises UFuncTypeError here",),
                help=f"convert it: x.astype(np.{loop.numpy_name})",
            )


def in_order(b: OpBuilder, found: Value, operands: Sequence[Value], order: Value, out: Value) -> Value:
    """A new result in the order of memory that was asked for."""
    asked = order_argument(b, order) or "K"
    if asked == "K" or out != NONE or not isinstance(found, ArrayValue):
        return found
    if asked == "A":
        arrays = [value for value in operands if isinstance(value, ArrayValue) and value.rank > 1]
        asked = "F" if arrays and all(memory_order.lies_backwards(b, value) for value in arrays) else "C"
    axes = memory_order.asked_order(b, found, asked)
    return found if memory_order.order_of_copy(b, found) == axes else b.copy(found, order=axes)


def outer(b: OpBuilder, function: np.ufunc, left: Value, right: Value) -> Value:
    """``function`` of all pairs: the dimensions of `left`, then those of `right`. Numbers count as arrays here."""
    left, right = (b.cast(value, dtype_of(value)) if is_number(value) else b.array(value) for value in (left, right))
    if isinstance(left, ArrayValue) and isinstance(right, ArrayValue):
        for _ in range(right.rank):
            left = b.expand(left, left.rank)
    return b.ufunc(function, left, right)


def unary(function: np.ufunc) -> Implementation:
    """The implementation of a ufunc of one operand, with NumPy's keywords."""

    def call(
        b: OpBuilder,
        x: Value,
        /,
        out: Value = NONE,
        *,
        where: Value = TRUE,
        casting: Value = SAME_KIND,
        order: Value = ORDER_K,
        dtype: Value = NONE,
    ) -> Value:
        return apply(b, function, (x,), out, where, casting, order, dtype)

    return call


def binary(function: np.ufunc) -> Implementation:
    """The same of two operands."""

    def call(
        b: OpBuilder,
        x1: Value,
        x2: Value,
        /,
        out: Value = NONE,
        *,
        where: Value = TRUE,
        casting: Value = SAME_KIND,
        order: Value = ORDER_K,
        dtype: Value = NONE,
    ) -> Value:
        return apply(b, function, (x1, x2), out, where, casting, order, dtype)

    return call


def _outer(function: np.ufunc) -> Implementation:
    def call(b: OpBuilder, A: Value, B: Value, /) -> Value:  # noqa: N803
        return outer(b, function, A, B)

    return call


for _function in OF_NUMPY:
    if _function.nin == 1:
        implements(_function)(unary(_function))
    else:
        implements(_function)(binary(_function))
        implements(_function.outer)(_outer(_function))


@implements(np.fix)
def fix(b: OpBuilder, x: Value, out: Value = NONE) -> Value:
    """The integral part: rounded towards zero."""
    return into(b, out, b.ufunc(np.trunc, x), "fix", broadcast=True)


def _power_of_ten(exponent: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.power(10.0, exponent))


@implements(np.round, np.around)
def round_(b: OpBuilder, a: Value, decimals: Value = NUMBER_0, out: Value = NONE) -> Value:
    """Half to even; with `decimals` by scaling, as NumPy does: multiply, round, divide."""
    digits = b.static(decimals, "decimals")
    b.c_int(decimals, "decimals")
    a = a if is_number(a) else b.array(a)
    kind = dtype_of(a).kind
    if kind == "b" and digits != 0:
        raise b.error("np.round of booleans takes no decimals", help="convert them: a.astype(np.float64)")
    if kind in "iu":
        if digits < 0:
            tens = Static(_power_of_ten(-digits))
            rounded = b.ufunc(np.multiply, b.ufunc(np.rint, b.ufunc(np.true_divide, a, tens)), tens)
            return into(b, out, b.cast(rounded, dtype_of(a)), "round")
        return into(b, out, b.ufunc(np.positive, a), "round")
    if digits == 0:
        return into(b, out, b.ufunc(np.rint, a), "round")
    scale, unscale = (np.multiply, np.true_divide) if digits > 0 else (np.true_divide, np.multiply)
    factor = Static(_power_of_ten(abs(digits)))
    found = b.ufunc(unscale, b.ufunc(np.rint, b.ufunc(scale, a, factor)), factor)
    if isinstance(a, ArrayValue):
        memory_order.lie_as_made(b, found, memory_order.order_as_packed(b, a), [a])
    return into(b, out, found, "round")


ZERO = Static(0.0)


@implements(np.nan_to_num)
def nan_to_num(
    b: OpBuilder, x: Value, copy: Value = TRUE, nan: Value = ZERO, posinf: Value = NONE, neginf: Value = NONE
) -> Value:
    """NaN and infinities replaced by numbers: by default 0 and the largest ones."""
    x = x if is_number(x) else b.array(x)
    dtype = dtype_of(x)
    if dtype.kind not in "fc":
        return b.elementwise(lambda value: value, x)
    part = dtype.real
    limits = np.finfo(part.numpy)
    values = [
        b.static(nan, "nan"),
        float(limits.max) if posinf == NONE else b.static(posinf, "posinf"),
        float(limits.min) if neginf == NONE else b.static(neginf, "neginf"),
    ]
    zero, high, low = (Const(float(value), part) for value in values)

    def clean(value: ScalarExpr) -> ScalarExpr:
        infinity = op("select", op("signbit", value), low, high)
        finite = op("select", op("isinf", value), infinity, value)
        return op("select", op("isnan", value), zero, finite)

    def clean_parts(value: ScalarExpr) -> ScalarExpr:
        return op("complex", clean(op("real", value)), clean(op("imag", value)))

    found = b.elementwise(clean_parts if dtype.kind == "c" else clean, b.hold(x))
    if copy == TRUE or not isinstance(x, ArrayValue):
        return found
    b.store(x, found)
    return x


def _constructor(dtype: types.DType) -> Implementation:
    def call(b: OpBuilder, x: Value = NUMBER_0, /) -> Value:
        value = x if is_number(x) else b.array(x)
        if isinstance(value, ArrayValue) and not value.shape:
            value = Scalar(value.load(()))
        return b.cast(value, dtype)

    return call


for _dtype in types.DTYPES:
    implements(_dtype.numpy.type)(_constructor(_dtype))
