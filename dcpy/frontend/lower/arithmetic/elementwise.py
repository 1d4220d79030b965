"""One operation on each element: the map that a NumPy call becomes, or an expression where all operands are scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    Static,
    SymInt,
    TupleValue,
    Value,
    as_integer,
    dtype_of,
    is_number,
    is_weak,
    kind_of,
    scalar_expr,
    shape_of,
)
from dcpy.frontend.lower.arithmetic.broadcasting import broadcast_shapes, index_into
from dcpy.frontend.lower.arithmetic.composite_ufuncs import bits_set, scaled
from dcpy.frontend.lower.arithmetic.promotion import ufunc_dtypes
from dcpy.frontend.lower.arithmetic.range_checks import fits, require_fit
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.emitter import tasklet
from dcpy.frontend.lower.lowering_signals import raised_by
from dcpy.ir import types
from dcpy.ir.expressions.ops import OPS
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

ElementFn = Callable[..., ScalarExpr]

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _complex_abs(x: ScalarExpr) -> ScalarExpr:
    return op("cabs" if x.dtype.kind == "c" else "abs", x)


def _ufunc_table() -> dict[np.ufunc, ElementFn]:
    """The ufuncs that are one operation of `ir.expressions.ops`, and those that are a few."""

    def one(name: str) -> ElementFn:
        return lambda *args: op(name, *args)

    functions = {name: getattr(np, info.numpy_name, None) for name, info in OPS.items()}
    table = {f: one(name) for name, f in functions.items() if isinstance(f, np.ufunc) and name != "cabs"}
    table[np.absolute] = _complex_abs
    table[np.fabs] = one("abs")
    table[np.positive] = lambda x: x
    table[np.float_power] = one("pow")
    table[np.degrees] = one("rad2deg")
    table[np.radians] = one("deg2rad")
    table[np.bitwise_count] = bits_set
    table[np.ldexp] = scaled
    return table


UFUNCS: dict[np.ufunc, ElementFn] = _ufunc_table()
OF_NUMPY = tuple(UFUNCS)  #: NumPy's own ones: other packages add theirs, before or after these are looked at


def elementwise(
    b: TypedEmitter, fn: ElementFn, operands: Sequence[Value], dtypes: Sequence[DType] = (), *, name: str = "tmp"
) -> Value:
    """``fn`` of the broadcast elements; a `Scalar` where no operand has dimensions."""
    shape = broadcast_shapes(b, [shape_of(operand) for operand in operands])
    if not shape:
        return Scalar(fn(*_converted([element(operand, ()) for operand in operands], dtypes)))
    operands = [b.hold(operand) for operand in operands]
    params, ranges = domain(b, shape)
    points = [sym(name) for name in params]
    expr = fn(*_converted([broadcast_element(b, operand, points, shape) for operand in operands], dtypes))
    stored = all(b.is_stored(operand) for operand in operands if isinstance(operand, ArrayValue))
    order = memory_order.order_of_ufunc(b, operands, len(shape))
    out = b.empty(shape, expr.dtype, order=order, name=name, of_arrays=stored)
    fill(b, out, params, ranges, expr)
    return out


def domain(b: TypedEmitter, shape: Sequence[Expr]) -> tuple[tuple[str, ...], tuple[Range, ...]]:
    """Fresh parameters for a map over a shape."""
    params = tuple(b.emit.parameter(f"i{axis}") for axis in range(len(shape)))
    return params, tuple(Range(ZERO, size) for size in shape)


def fill(
    b: TypedEmitter, out: ArrayValue, params: Sequence[str], ranges: Sequence[Range], expr: ScalarExpr, wcr: str = ""
) -> None:
    """The map that writes ``out[params] = expr``, in the order of `out`; a tasklet where there are no dimensions."""
    indices = [sym(name) for name in params]
    write = Memlet(out.container, out.subset(indices), wcr)
    node = tasklet([(write, expr)], b.emit.span)
    if params:
        axes = memory_order.order_of_copy(b, out) if out.rank == len(params) else range(len(params))
        b.emit.map([params[axis] for axis in axes], [ranges[axis] for axis in axes], [node])
    else:
        b.emit.node(node)


def element(value: Value, indices: Sequence[Expr]) -> ScalarExpr:
    """The element of a broadcast operand at `indices` of the result."""
    if not isinstance(value, ArrayValue):
        return scalar_expr(value)
    own = indices[len(indices) - value.rank :] if value.rank else ()
    return value.load([ZERO if size is ONE else index for size, index in zip(value.shape, own, strict=True)])


def broadcast_element(b: TypedEmitter, value: Value, indices: Sequence[Expr], shape: Sequence[Expr]) -> ScalarExpr:
    """The element of an operand whose sizes may turn out to be 1 at run time."""
    if not isinstance(value, ArrayValue) or not value.rank:
        return element(value, indices)
    own = zip(value.shape, shape[-value.rank :], indices[-value.rank :], strict=True)
    return value.load([index_into(b, size, wanted, index) for size, wanted, index in own])


def _converted(exprs: list[ScalarExpr], dtypes: Sequence[DType]) -> list[ScalarExpr]:
    if not dtypes:
        return exprs
    return [convert(expr, dtype) for expr, dtype in zip(exprs, dtypes, strict=True)]


def convert(expr: ScalarExpr, dtype: DType) -> ScalarExpr:
    """`expr` as `dtype`; a number is converted now, so that the code shows ``f64(2)`` and not a cast."""
    if isinstance(expr, Const) and expr.dtype != dtype:
        with np.errstate(all="ignore"):
            if expr.dtype.kind == "c" and dtype.kind != "c":
                return cast(expr, dtype)
            if not (isinstance(expr.value, float) and dtype.kind in "iu"):
                return Const(_number(expr.value, dtype), dtype)
    return cast(expr, dtype)


def _number(value: Any, dtype: DType) -> Any:
    if dtype.is_integer:
        return int(np.int64(value).astype(dtype.numpy)) if -(2**63) <= value < 2**63 else int(value)
    return np.asarray(value).astype(dtype.numpy).item()


def ufunc(b: TypedEmitter, function: np.ufunc, operands: Sequence[Value], dtype: DType | None = None) -> Value:
    """A ufunc of one output with NumPy's promotion."""
    operands = tuple(_operand(b, function, operand) for operand in operands)
    if all(isinstance(operand, Static) for operand in operands):
        return _fold(function, operands, dtype)
    if function not in UFUNCS:
        raise FrontendError(f"np.{function.__name__} is not supported", help="write it with other ufuncs")
    *ins, out = ufunc_dtypes(function, operands, dtype)
    name = _op_name(function)
    if name in COMPARISONS:
        return _compare(b, name, operands, ins)
    if name == "pow" and is_root(*operands):
        return ufunc(b, np.sqrt, operands[:1], out)
    operands = [require_fit(b, operand, wanted) for operand, wanted in zip(operands, ins, strict=True)]
    if name == "pow" and out.is_integer:
        require_nonnegative_power(b, *operands)
    fn = UFUNCS[function]
    return elementwise(b, lambda *args: cast(fn(*args), out), operands, ins)


def is_root(base: Value, exponent: Value) -> bool:
    """Return whether a power is NumPy's square root, which differs in -inf and -0.0: that of an array with the number
    0.5.

    Of complex numbers only with Python's own number, which is not converted to a complex one before.
    """
    is_array = isinstance(base, ArrayValue) and base.rank > 0 and not dtype_of(base).is_integer
    number = exponent.value if isinstance(exponent, Static) else None
    is_half = isinstance(number, float | np.floating) and number == 0.5
    return is_array and is_half and (type(number) is float or dtype_of(base).kind != "c")


def _operand(b: TypedEmitter, function: np.ufunc, operand: Value) -> Value:
    if isinstance(operand, TupleValue | ListValue):
        return b.array(operand)
    if isinstance(operand, ArrayValue) or is_number(operand):
        return operand
    if isinstance(operand, Static) and isinstance(operand.value, np.ndarray | list | tuple):
        return b.array(operand)
    raise FrontendError(f"np.{function.__name__} does not take {kind_of(operand)}")


def _fold(function: np.ufunc, operands: Sequence[Value], dtype: DType | None) -> Value:
    """Known operands: NumPy computes now."""
    values = [operand.value for operand in operands if isinstance(operand, Static)]
    keywords = {} if dtype is None else {"dtype": dtype.numpy}
    with np.errstate(all="ignore"), raised_by("NumPy", f"np.{function.__name__}: "):
        found = function(*values, **keywords)
    return TupleValue(tuple(map(Static, found))) if isinstance(found, tuple) else Static(found)


#: narrow integers, and those in which they are compared with Python's: vectors hold more of them than of 64 bits
WIDER = {types.int8: types.int16, types.uint8: types.int16, types.int16: types.int32, types.uint16: types.int32}


def _op_name(function: np.ufunc) -> str:
    for name in (*COMPARISONS, "pow"):
        if OPS[name].numpy() is function:
            return name
    return ""


def _compare(b: TypedEmitter, name: str, operands: Sequence[Value], dtypes: Sequence[DType]) -> Value:
    """Comparisons are exact in NumPy also where the operands' dtypes cannot hold each other's values."""
    left, right = operands
    if not all(fits(operand, dtype) for operand, dtype in zip(operands, dtypes, strict=True)):
        array, number, flipped = (left, right, False) if isinstance(right, Static) else (right, left, True)
        assert isinstance(number, Static)
        return _compare_out_of_range(b, name, array, number.value, dtype_of(array), flipped)
    exact = [_exactly(operand, dtype) for operand, dtype in zip(operands, dtypes, strict=True)]
    if types.int64 in exact and exact[0] != exact[1] and all(dtype.is_integer for dtype in exact):
        if types.uint64 in exact:
            return elementwise(b, lambda x, y: _compare_mixed(name, x, y), operands, exact)
        wider = WIDER.get(dtypes[0])
        if wider is not None and dtypes[0] == dtypes[1] and any(map(shape_of, operands)):
            ends = int(np.iinfo(dtypes[0].numpy).min) - 1, int(np.iinfo(dtypes[0].numpy).max) + 1
            within = partial(_within, ends=ends, dtype=wider)
            return elementwise(b, lambda x, y: op(name, within(x), within(y)), operands, exact)
        dtypes = (types.int64, types.int64)
    return elementwise(b, lambda x, y: op(name, x, y), operands, dtypes)


def _within(x: ScalarExpr, ends: tuple[int, int], dtype: DType) -> ScalarExpr:
    """A number for comparisons with narrow integers: those beyond their ends compare as the ends do."""
    if x.dtype == types.int64:
        low, high = (Const(end, types.int64) for end in ends)
        x = op("min", op("max", x, low), high)
    return cast(x, dtype)


def _exactly(operand: Value, dtype: DType) -> DType:
    """The dtype that holds an operand of a comparison: Python's integers are not made shorter, known ones fit."""
    return types.int64 if is_weak(operand) and dtype.is_integer and not isinstance(operand, Static) else dtype


def _compare_out_of_range(b: TypedEmitter, name: str, array: Value, number: int, dtype: DType, flipped: bool) -> Value:
    """``uint8_array < 300``: the same answer for every element."""
    above = number > (1 if dtype == types.bool_ else int(np.iinfo(dtype.numpy).max))
    array_smaller = above != flipped
    answer = {"eq": False, "ne": True, "lt": array_smaller, "le": array_smaller}.get(name, not array_smaller)
    return elementwise(b, lambda _: Const(answer, types.bool_), [array])


def _compare_mixed(name: str, x: ScalarExpr, y: ScalarExpr) -> ScalarExpr:
    """int64 with uint64: a negative number is smaller than all unsigned ones."""
    signed, unsigned = (x, y) if x.dtype.kind == "i" else (y, x)
    negative = op("lt", signed, Const(0, signed.dtype))
    mixed = op(name, cast(x, unsigned.dtype), cast(y, unsigned.dtype))
    signed_smaller = name in ("lt", "le", "ne") if signed is x else name in ("gt", "ge", "ne")
    return op("select", negative, Const(signed_smaller, types.bool_), mixed)


def require_nonnegative_power(b: TypedEmitter, base: Value, exponent: Value) -> None:
    """NumPy refuses negative exponents of integers, for every base (unless there is none)."""
    message = "Integers to negative integer powers are not allowed."
    doubtful = [size for size in shape_of(base) if not b.emit.ranges.proves_nonneg(size - 1)]
    if isinstance(exponent, Static) and exponent.value < 0 and not doubtful:
        raise FrontendError(
            message.rstrip("."),
            notes=("NumPy raises ValueError here",),
            help="convert the base: x.astype(np.float64) ** n",
        )
    if dtype_of(exponent).kind != "i":
        return
    if isinstance(exponent, ArrayValue):
        exponent = b.reduce("min", exponent, range(exponent.rank)) if exponent.rank else Scalar(exponent.load(()))
    known = as_integer(exponent)
    if known is not None and b.emit.ranges.proves_nonneg(known):
        return
    expr = scalar_expr(exponent)
    condition = op("ge", expr, Const(0, expr.dtype))
    for size in doubtful:
        condition = op("or", condition, op("le", Index(size), Const(0, types.int64)))
    b.check(condition, "ValueError", message)


def cast_value(b: TypedEmitter, value: Value, dtype: DType) -> Value:
    """``astype`` on any number or array; numbers of Python's own become NumPy's."""
    if isinstance(value, Static):
        with np.errstate(all="ignore"):
            try:
                return Static(dtype.numpy.type(value.value))
            except (OverflowError, TypeError, ValueError) as error:
                raise FrontendError(str(error), notes=(f"NumPy raises {type(error).__name__} here",)) from None
    if isinstance(value, SymInt):
        return SymInt(value.expr, weak=False) if dtype == types.int64 else Scalar(cast(scalar_expr(value), dtype))
    if isinstance(value, Scalar):
        return Scalar(convert(value.expr, dtype))
    if isinstance(value, ArrayValue):
        if value.dtype == dtype:
            return value
        if not value.shape:
            return Scalar(cast(value.load(()), dtype))
        return elementwise(b, lambda x: cast(x, dtype), [value])
    raise FrontendError(f"{kind_of(value)} has no dtype to convert")
