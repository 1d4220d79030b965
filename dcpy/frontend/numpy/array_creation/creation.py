"""New arrays: filled, counted, copied, from lists. Sizes may be symbols, or known at run time only."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.number_kinds import numpy_kind
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Static,
    Value,
    as_integer,
    dtype_of,
    integer,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.comm.constants import Request
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.array_sizes import (
    constant_range_length,
    length_of_range,
    range_length,
    require_addressable,
    require_counted,
)
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.promotion import promoted
from dcpy.frontend.lower.arithmetic.range_checks import require_fit
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.functions import numpy_arguments
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.sequences.lists_to_integers import with_integers
from dcpy.frontend.numpy.array_creation.triangles import bounding_diagonal
from dcpy.frontend.numpy.parameter_defaults import (
    FALSE,
    FLOAT,
    NONE,
    NUMBER_0,
    NUMBER_1,
    ORDER_C,
    ORDER_K,
    TRUE,
)
from dcpy.ir import types
from dcpy.ir.data import Order
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, cast, op
from dcpy.ir.symbolic import Expr, as_expr, product_of
from dcpy.ir.types import DType


def order_argument(b: OpBuilder, order: Value) -> str | None:
    """An ``order=`` argument: ``C``, ``F``, ``A``, ``K`` or None."""
    found = b.static(order, "order")
    letter = found.upper() if isinstance(found, str) else found
    if letter not in ("C", "F", "K", "A", None):
        raise b.error(f"order must be one of 'C', 'F', 'A', or 'K' (got {found!r})")
    return letter


def order_of(b: OpBuilder, order: Value) -> str:
    """The ``order=`` argument of a function that makes arrays like no other one: ``C`` or ``F``."""
    found = order_argument(b, order)
    if found in ("A", "K"):
        raise b.error("only 'C' or 'F' order is permitted", notes=("NumPy raises ValueError here",))
    return found or "C"


def order_like(b: OpBuilder, order: Value, prototype: Value) -> Order:
    """The ``order=`` argument of a function that makes an array like another one, as the axes of its result."""
    found = order_argument(b, order)
    return memory_order.asked_order(b, prototype, found) if isinstance(prototype, ArrayValue) else "C"


def filled(b: OpBuilder, shape: Value, dtype: DType, fill: Value, order: Value) -> Value:
    """A new array with one number everywhere, converted as `astype` does."""
    out = _new(b, shape, dtype, order)
    if is_number(fill):
        fill = b.cast(require_fit(b, fill, dtype), dtype)
    b.store(out, fill)
    return out


@implements(np.empty, np.ndarray)
def empty(b: OpBuilder, shape: Value, dtype: Value = NONE, order: Value = ORDER_C) -> Value:
    """An array with undefined contents; requests of messages are those of nothing."""
    if dtype == Static(Request):
        return filled(b, shape, types.int64, Static(0), order)
    return _new(b, shape, _dtype(b, dtype), order)


def _new(b: OpBuilder, shape: Value, dtype: DType, order: Value) -> ArrayValue:
    return b.empty(b.shape_argument(shape), dtype, order=order_of(b, order), of_arrays=False)


@implements(np.zeros)
def zeros(b: OpBuilder, shape: Value, dtype: Value = NONE, order: Value = ORDER_C) -> Value:
    """An array of zeros."""
    return filled(b, shape, _dtype(b, dtype), Static(0), order)


@implements(np.ones)
def ones(b: OpBuilder, shape: Value, dtype: Value = NONE, order: Value = ORDER_C) -> Value:
    """An array of ones."""
    return filled(b, shape, _dtype(b, dtype), Static(1), order)


@implements(np.full)
def full(b: OpBuilder, shape: Value, fill_value: Value, dtype: Value = NONE, order: Value = ORDER_C) -> Value:
    """An array filled with a number, or with an array that broadcasts."""
    fill = fill_value if is_number(fill_value) else b.array(fill_value)
    return filled(b, shape, b.dtype_argument(dtype) or promoted((fill,))[0], fill, order)


@implements(np.empty_like)
def empty_like(
    b: OpBuilder,
    prototype: Value,
    /,
    dtype: Value = NONE,
    order: Value = ORDER_K,
    subok: Value = TRUE,
    shape: Value = NONE,
) -> Value:
    """An array like another one, with undefined contents."""
    like = prototype if is_number(prototype) else b.array(prototype)
    found = b.dtype_argument(dtype) or dtype_of(like)
    if shape != NONE:
        return _like_of_another_shape(b, shape, found, order, like)
    return b.empty([b.exact(size) for size in _shape(like)], found, order=order_like(b, order, like))


def _like_of_another_shape(b: OpBuilder, shape: Value, dtype: DType, order: Value, like: Value) -> ArrayValue:
    """An array in the order of another one of as many dimensions, else in C order, unless one is asked for."""
    sizes = b.shape_argument(shape)
    same_rank = isinstance(like, ArrayValue) and like.rank == len(sizes)
    asked = order_argument(b, order)
    axes: Order = "F" if asked == "F" else "C"
    if same_rank or asked == "A":
        axes = order_like(b, order, like)
        axes = (
            axes if same_rank else "F" if isinstance(like, ArrayValue) and memory_order.lies_backwards(b, like) else "C"
        )
    return b.empty(sizes, dtype, order=axes, of_arrays=False)


@implements(np.zeros_like)
def zeros_like(
    b: OpBuilder, a: Value, dtype: Value = NONE, order: Value = ORDER_K, subok: Value = TRUE, shape: Value = NONE
) -> Value:
    """Zeros in the shape and dtype of another array."""
    return full_like(b, a, Static(0), dtype, order, subok, shape)


@implements(np.ones_like)
def ones_like(
    b: OpBuilder, a: Value, dtype: Value = NONE, order: Value = ORDER_K, subok: Value = TRUE, shape: Value = NONE
) -> Value:
    """Ones in the shape and dtype of another array."""
    return full_like(b, a, Static(1), dtype, order, subok, shape)


@implements(np.full_like)
def full_like(
    b: OpBuilder,
    a: Value,
    fill_value: Value,
    dtype: Value = NONE,
    order: Value = ORDER_K,
    subok: Value = TRUE,
    shape: Value = NONE,
) -> Value:
    """One number in the shape and dtype of another array."""
    out = empty_like(b, a, dtype, order, subok, shape)
    assert isinstance(out, ArrayValue)
    number = isinstance(fill_value, Static) and is_number(fill_value)
    b.store(out, b.cast(fill_value, out.dtype) if number else fill_value)
    return out


# -- from lists and arrays -------------------------------------------------------------------------------------------


@implements(np.array, takes_lists=True)
def array(
    b: OpBuilder,
    object: Value,
    dtype: Value = NONE,
    *,
    copy: Value = TRUE,
    order: Value = ORDER_K,
    ndmin: Value = NUMBER_0,
) -> Value:
    """A new array from an array, a number, or nested lists of known length."""
    found = asarray(b, object, dtype, order, copy=copy if copy == FALSE else NONE)
    assert isinstance(found, ArrayValue)
    if copy == TRUE and not found.fresh:
        found = b.copy(found, order=order_like(b, order, found))
    for _ in range(b.static(ndmin, "ndmin") - found.rank):
        found = b.expand(found, 0)
    return found


@implements(np.asarray, np.asanyarray, takes_lists=True)
def asarray(b: OpBuilder, a: Value, dtype: Value = NONE, order: Value = NONE, *, copy: Value = NONE) -> Value:
    """The array itself where its dtype is right, else a new one."""
    if copy == FALSE and not (isinstance(a, ArrayValue) and b.dtype_argument(dtype) in (None, a.dtype)):
        message = "Unable to avoid copy while creating an array as requested."
        raise b.error(message, notes=("NumPy raises ValueError here",), help="leave copy= out")
    if copy == TRUE and isinstance(a, ArrayValue):
        return array(b, a, dtype, order=order)
    wanted = b.dtype_argument(dtype)
    if isinstance(a, ArrayValue):
        asked = ORDER_K if order == Static("A") else order
        found: Value = a if wanted in (None, a.dtype) else converted_copy(b, a, wanted, order_like(b, asked, a))
    else:
        found = list_array(b, a, wanted)
    found = found if isinstance(found, ArrayValue) else b.array(found)
    return found if copy == FALSE else in_order(b, found, order_argument(b, order))


def in_order(b: OpBuilder, x: ArrayValue, order: str | None) -> ArrayValue:
    """The array itself where it lies in the order that is asked for, else a copy."""
    if order not in ("C", "F"):
        return x
    axes = tuple(range(x.rank)) if order == "C" else tuple(range(x.rank))[::-1]
    if memory_order.is_packed_in_numpy(b, x, axes):
        return x
    out = b.copy(x, order=order)
    if x.rank > 1 and memory_order.is_in_doubt(b, x):
        b.copied_view(out, x, "whether the array lies in this order is known at run time only: it was copied")
    return out


def converted_copy(b: OpBuilder, x: ArrayValue, dtype: DType, order: Order) -> Value:
    """The elements as another dtype, in an order of the axes."""
    if not x.rank or tuple(order) == memory_order.order_of_ufunc(b, [x], x.rank):
        return b.cast(x, dtype)
    out = b.empty([b.exact(size) for size in x.shape], dtype, order=order)
    b.store(out, b.cast(x, dtype))
    return out


@implements(np.ascontiguousarray)
def ascontiguousarray(b: OpBuilder, a: Value, dtype: Value = NONE) -> Value:
    """The array itself where it is known to lie in C order, else a copy."""
    found = asarray(b, a, dtype)
    assert isinstance(found, ArrayValue)
    found = found if found.shape else b.expand(found, 0)
    return found if b.contiguous(found) else b.copy(found)


@implements(np.asfortranarray)
def asfortranarray(b: OpBuilder, a: Value, dtype: Value = NONE) -> Value:
    """A copy in Fortran order, unless the array has that order."""
    found = asarray(b, a, dtype)
    assert isinstance(found, ArrayValue)
    found = found if found.shape else b.expand(found, 0)
    mirrored = found.transposed(range(found.rank)[::-1])
    return found if b.contiguous(mirrored) else b.copy(found, order="F")


@implements(np.copy)
def copy(b: OpBuilder, a: Value, order: Value = ORDER_K) -> Value:
    """A new array with the same elements."""
    return array(b, a, order=order)


def list_array(b: OpBuilder, value: Value, dtype: DType | None = None) -> Value:
    """An array from a number or nested lists."""
    return numpy_arguments.array(b, with_integers(b, value, dtype), dtype)


# -- numbers in order ------------------------------------------------------------------------------------------------


@implements(np.arange)
def arange(b: OpBuilder, start: Value, stop: Value = NONE, step: Value = NUMBER_1, dtype: Value = NONE) -> Value:
    """``start, start + step, …`` up to `stop`, which is excluded; NumPy's length and rounding."""
    if stop == NONE:
        start, stop = Static(0), start
    step = Static(1) if step == NONE else step
    for value in (start, stop, step):
        if not is_number(value):
            raise b.error(f"np.arange takes numbers, not {kind_of(value)}")
    natural = _arange_dtype(tuple(map(numpy_kind, (start, stop, step))))
    wanted = b.dtype_argument(dtype) or natural
    if wanted.kind == "b":
        return _boolean_range(b, (start, stop, step))
    bounds = [as_integer(value) for value in (start, stop, step)]
    first, end, stride = bounds
    if first is not None and end is not None and stride is not None:
        return _integer_range(b, first, end, stride, wanted)
    return _run_time_range(b, [b.hold(value) for value in (start, stop, step)], wanted)


def _boolean_range(b: OpBuilder, values: tuple[Value, ...]) -> Value:
    """NumPy takes at most two booleans, False and True."""
    known = [b.static(value, "a bound of np.arange of booleans") for value in values]
    try:
        return b.array(Static(np.arange(*known, dtype=np.bool_)))
    except TypeError as error:
        raise b.error(str(error), notes=("NumPy raises TypeError here",)) from None


def _integer_range(b: OpBuilder, start: Expr, stop: Expr, step: Expr, dtype: DType) -> Value:
    if step.constant == 0:
        raise b.error("Maximum allowed size exceeded", notes=("np.arange with a step of 0 has no end",))
    negative = b.emit.is_negative(step)
    if negative is None:
        b.check(op("ne", Index(step), Const(0, types.int64)), "ZeroDivisionError", "division by zero")
        length = range_length(b, start, stop, step)
    else:
        if not negative:
            b.emit.require(step - 1, "ZeroDivisionError", "division by zero")
        length = length_of_range(b, start, stop, step)
    require_addressable(b, [length], dtype)
    return b.generate([length], dtype, lambda i: _of_index(i, dtype, start, step))


def _of_index(index: ScalarExpr, dtype: DType, start: Expr, step: Expr) -> ScalarExpr:
    assert isinstance(index, Index)
    return cast(Index(start + step * index.value), dtype)


def _run_time_range(b: OpBuilder, values: list[Value], dtype: DType) -> Value:
    """Bounds that are not integers: the length is computed as NumPy does, in float64."""
    start, stop, step = (convert(scalar_expr(value), types.float64) for value in values)
    if all(isinstance(value, Static) for value in values):
        known = [value.value for value in values if isinstance(value, Static)]
        length: Expr = as_expr(constant_range_length(*known))
    else:
        count = op("ceil", op("div", op("sub", stop, start), step))
        size = op("max", cast(count, types.int64), Const(0, types.int64))
        length = b.emit.assign_symbol("n", size, 0)
    require_addressable(b, [length], dtype)
    number = types.float32 if dtype == types.float16 else dtype
    first = convert(scalar_expr(values[0]), dtype)
    second = cast(op("add", start, step), dtype)

    def element(index: ScalarExpr) -> ScalarExpr:
        low = cast(first, number)
        delta = op("sub", cast(second, number), low)
        later = cast(op("add", low, op("mul", cast(index, number), delta)), dtype)
        return op("select", op("eq", index, Const(1, types.int64)), second, later)

    return b.generate([length], dtype, element)


@lru_cache(maxsize=256)
def _arange_dtype(kinds: tuple[Any, ...]) -> DType:
    samples = [kind(1) if isinstance(kind, type) else kind.type(1) for kind in kinds]
    return types.from_numpy(np.arange(*samples).dtype)


# -- matrices --------------------------------------------------------------------------------------------------------


@implements(np.eye)
def eye(
    b: OpBuilder,
    N: Value,  # noqa: N803
    M: Value = NONE,  # noqa: N803
    k: Value = NUMBER_0,
    dtype: Value = FLOAT,
    order: Value = ORDER_C,
) -> Value:
    """Ones on diagonal `k`, zeros elsewhere."""
    (rows,) = b.shape_argument(N)
    (columns,) = (rows,) if M == NONE else b.shape_argument(M)
    return _by_place(b, (rows, columns), _dtype(b, dtype), lambda i, j: op("eq", op("sub", j, i), _diagonal(b, k)))


@implements(np.identity)
def identity(b: OpBuilder, n: Value, dtype: Value = NONE) -> Value:
    """The square matrix with ones on the diagonal."""
    return eye(b, n, dtype=dtype)


@implements(np.tri)
def tri(
    b: OpBuilder,
    N: Value,  # noqa: N803
    M: Value = NONE,  # noqa: N803
    k: Value = NUMBER_0,
    dtype: Value = FLOAT,
) -> Value:
    """Ones at and below diagonal `k`, zeros elsewhere."""
    (rows,) = b.shape_argument(N)
    (columns,) = (rows,) if M == NONE else b.shape_argument(M)
    diagonal = bounding_diagonal(b, columns, k)
    return _by_place(b, (rows, columns), _dtype(b, dtype), lambda i, j: op("le", op("sub", j, i), diagonal))


def _by_place(
    b: OpBuilder, shape: tuple[Expr, Expr], dtype: DType, test: Callable[[ScalarExpr, ScalarExpr], ScalarExpr]
) -> Value:
    """Ones where the test of row and column holds."""
    require_addressable(b, shape, dtype)
    one, zero = (convert(Const(number, types.int64), dtype) for number in (1, 0))
    return b.generate(shape, dtype, lambda i, j: op("select", test(i, j), one, zero))


def _diagonal(b: OpBuilder, k: Value) -> ScalarExpr:
    return Index(b.integer(k, "k"))


def _dtype(b: OpBuilder, dtype: Value) -> DType:
    return b.dtype_argument(dtype) or types.float64


def _shape(value: Value) -> tuple[Expr, ...]:
    return value.shape if isinstance(value, ArrayValue) else ()


def size_of(b: OpBuilder, value: ArrayValue) -> Value:
    """Return the number of elements of an array."""
    return integer(product_of(*map(b.exact, value.shape)))


def counted_size(b: OpBuilder, value: ArrayValue) -> Value:
    """The same where the program asks: of arrays that might never be allocated, 64 bits must count the elements."""
    require_counted(b, value)
    return size_of(b, value)
