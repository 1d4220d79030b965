"""Array methods and attributes, and those of NumPy scalars; most methods are the function of the same name."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.number_kinds import instead_of
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    dtype_of,
    integer,
    is_number,
    is_weak,
    kind_of,
)
from dcpy.frontend.implements import attribute, implements, method, registered
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.promotion import can_cast
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.array_creation import creation  # noqa: F401
from dcpy.frontend.numpy.array_creation.creation import (
    converted_copy,
    counted_size,
    in_order,
    order_argument,
    order_like,
)
from dcpy.frontend.numpy.array_manipulation import joining  # noqa: F401
from dcpy.frontend.numpy.array_manipulation import shapes as manipulation
from dcpy.frontend.numpy.indexing import nonzero, selection
from dcpy.frontend.numpy.linear_algebra import products_and_diagonals as linalg
from dcpy.frontend.numpy.mathematics import cumulative  # noqa: F401
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, ORDER_C, ORDER_K, TRUE
from dcpy.frontend.numpy.python_implementations import call_body
from dcpy.frontend.numpy.statistics import reductions  # noqa: F401
from dcpy.frontend.numpy.ufuncs import ufunc_table as ufuncs  # noqa: F401
from dcpy.frontend.python.number_conversion import python_number
from dcpy.ir import types
from dcpy.ir.data import View, strides_of
from dcpy.ir.expressions.scalar import Const, op
from dcpy.ir.symbolic import ONE

UNSAFE = Static("unsafe")

FUNCTIONS = (
    np.all, np.any, np.argmax, np.argmin, np.cumprod, np.cumsum, np.diagonal,
    np.max, np.mean, np.min, np.prod, np.ptp, np.ravel, np.repeat, np.round, np.squeeze, np.std, np.sum, np.swapaxes,
    np.trace, np.var,
)  # fmt: skip


def _register_functions() -> None:
    for function in FUNCTIONS:
        entry = registered(function)
        assert entry is not None
        method(function.__name__)(entry.call)


_register_functions()

# -- attributes ------------------------------------------------------------------------------------------------------


@attribute("shape")
def shape(b: OpBuilder, a: Value) -> Value:
    """The sizes, as a tuple."""
    return manipulation.shape_(b, a)


@attribute("ndim")
def ndim(b: OpBuilder, a: Value) -> Value:
    """Return the number of dimensions."""
    return manipulation.ndim(b, a)


@attribute("size")
def size(b: OpBuilder, a: Value) -> Value:
    """Return the number of elements."""
    return Static(1) if is_number(a) else counted_size(b, b.array(a))


@attribute("dtype")
def dtype(b: OpBuilder, a: Value) -> Value:
    """The dtype of the elements."""
    return Static(dtype_of(a).numpy)


@attribute("itemsize")
def itemsize(b: OpBuilder, a: Value) -> Value:
    """Bytes of one element."""
    return Static(dtype_of(a).itemsize)


@attribute("nbytes")
def nbytes(b: OpBuilder, a: Value) -> Value:
    """Bytes of all elements."""
    count = ONE if is_number(a) else b.integer(counted_size(b, b.array(a)))
    return integer(count * dtype_of(a).itemsize)


@attribute("strides")
def strides(b: OpBuilder, a: Value) -> Value:
    """Bytes from one element to the next, along each dimension."""
    if is_number(a):
        return TupleValue(())
    x = b.array(a)
    steps = memory_order.strides_in_numpy(b, x)
    if steps is None:
        raise b.error("the strides of this array are known at run time only", help="copy it: a.copy()")
    return TupleValue(tuple(integer(step * x.dtype.itemsize) for step in steps))


@attribute("flat")
def flat(b: OpBuilder, a: Value) -> Value:
    """All elements in one dimension, in C order: a view, or a copy that takes no writes."""
    return manipulation.flattened(b, b.array(a))


@attribute("T")
def transposed(b: OpBuilder, a: Value) -> Value:
    """The view with dimensions reversed."""
    return a if is_number(a) else manipulation.transpose(b, a)


@attribute("mT")
def matrix_transposed(b: OpBuilder, a: Value) -> Value:
    """The view with the last two dimensions exchanged."""
    x = b.array(a)
    if x.rank < 2:
        raise b.error("matrix transpose with ndim < 2 is undefined", notes=("NumPy raises ValueError here",))
    return b.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


@attribute("real")
@implements(np.real)
def real(b: OpBuilder, val: Value) -> Value:
    """The real parts: a view."""
    return _part(b, val, "real")


@attribute("imag")
@implements(np.imag)
def imag(b: OpBuilder, val: Value) -> Value:
    """The imaginary parts: a view of a complex array, zeros that take no writes for others."""
    return _part(b, val, "imag")


def _part(b: OpBuilder, a: Value, name: str) -> Value:
    a = a if is_number(a) else b.array(a)
    if isinstance(a, Static):
        return Static(getattr(a.value, name))
    kind = dtype_of(a).kind
    if isinstance(a, ArrayValue):
        if kind == "c":
            return _complex_view(b, a, name)
        if name == "real":
            return a
        zeros = b.full([b.exact(part) for part in a.shape], a.dtype, Static(0))
        b.forbid_writes(zeros.container, "an array of real numbers has no imaginary part to set")
        return zeros
    if kind == "c":
        assert isinstance(a, Scalar)
        return Scalar(op(name, a.expr), a.weak)
    if name == "real":
        return b.operator("+", a, Static(0)) if is_weak(a) else a  # True.real is the int 1
    dtype = types.int64 if is_weak(a) and kind == "b" else dtype_of(a)
    return Scalar(convert(Const(0, types.int64), dtype), is_weak(a), instead_of(a))


def _complex_view(b: OpBuilder, a: ArrayValue, name: str) -> ArrayValue:
    """Every second number of the memory."""
    half = a.dtype.real
    seen = a.as_view(b.desc(a))
    strides = tuple(stride * 2 for stride in strides_of(seen))
    offset = seen.offset * 2 + (1 if name == "imag" else 0)
    container = b.emit.view(View(a.container, half, seen.shape, strides, offset, span=b.emit.span))
    return ArrayValue.whole(container, b.desc(container))


# -- methods that differ from functions ------------------------------------------------------------------------------


@method("astype")
def astype(
    b: OpBuilder,
    a: Value,
    dtype: Value,
    order: Value = ORDER_K,
    casting: Value = UNSAFE,
    subok: Value = TRUE,
    copy: Value = TRUE,
) -> Value:
    """A new array of another dtype."""
    wanted = b.dtype_argument(dtype) or types.float64
    rule = str(b.static(casting, "casting"))
    if not can_cast(dtype_of(a), wanted, rule):
        raise b.error(
            f"Cannot cast array data from {dtype_of(a).numpy!r} to {wanted.numpy!r} according to the rule '{rule}'",
            notes=("NumPy raises TypeError here",),
        )
    if not isinstance(a, ArrayValue):
        return b.cast(a, wanted)
    axes = order_like(b, order, a)
    if a.dtype != wanted:
        return b.array(converted_copy(b, a, wanted, axes))
    if copy == TRUE:
        return b.copy(a, order=axes)
    return in_order(b, a, order_argument(b, order))


@implements(np.astype)
def astype_function(b: OpBuilder, x: Value, dtype: Value, /, *, copy: Value = TRUE) -> Value:
    """A new array of another dtype."""
    return astype(b, b.array(x), dtype, copy=copy)


@method("clip")
def clip(b: OpBuilder, a: Value, min: Value = NONE, max: Value = NONE, out: Value = NONE) -> Value:
    """The elements between two bounds."""
    return selection.clip(b, a, min, max, out)


@method("dot")
def dot(builder: OpBuilder, a: Value, b: Value, /, out: Value = NONE) -> Value:
    """The product of vectors and matrices."""
    return linalg.dot(builder, a, b, out)


@method("compress")
def compress(b: OpBuilder, a: Value, condition: Value, axis: Value = NONE, out: Value = NONE) -> Value:
    """The slices along an axis where the condition holds."""
    return nonzero.compress(b, condition, a, axis, out)


@method("conj", "conjugate")
def conjugate(b: OpBuilder, a: Value) -> Value:
    """The complex conjugates; the array itself where it is real."""
    if dtype_of(a).kind != "c":
        return a
    found = b.ufunc(np.conjugate, a)
    return Scalar(found.expr, is_weak(a)) if isinstance(found, Scalar) else found


@implements(np.angle)
def angle(b: OpBuilder, z: Value, deg: Value = FALSE) -> Value:
    """The angle in the complex plane."""
    z = z if is_number(z) else b.array(z)
    z = b.cast(z, types.float64) if dtype_of(z) == types.bool_ else z
    found = b.ufunc(np.arctan2, imag(b, z), real(b, z))
    return b.ufunc(np.multiply, found, Static(180 / np.pi)) if b.static(deg, "deg") else found


@method("copy")
def copy(b: OpBuilder, a: Value, order: Value = ORDER_C) -> Value:
    """A new array with the same elements."""
    return b.copy(a, order=order_like(b, order, a)) if isinstance(a, ArrayValue) else a


@method("fill")
def fill(b: OpBuilder, a: Value, value: Value) -> Value:
    """All elements set to a number."""
    b.store(_array(b, a, "fill"), value)
    return NONE


@method("item")
def item(b: OpBuilder, a: Value, *args: Value) -> Value:
    """An element as a Python number."""
    if is_number(a):
        return python_number(b, a)
    x = b.array(a)
    if len(args) == 1 and items_of(args[0]) is not None:
        args = items_of(args[0]) or ()
    if len(args) == 1 and x.rank > 1:
        x = manipulation.flattened(b, x)
    if args:
        if len(args) != x.rank:
            raise b.error("incorrect number of indices for array", notes=("NumPy raises ValueError here",))
        return python_number(b, b.subscript(x, args))
    for length in x.shape:
        b.same_size(length, 1, "can only convert an array of size 1 to a Python scalar")
    return python_number(b, Scalar(x.load([0] * x.rank)))


@method("bit_length")
def bit_length(b: OpBuilder, a: Value) -> Value:
    """The number of bits of a Python int, without its sign."""
    if not is_number(a) or not is_weak(a) or dtype_of(a).kind not in "ib":
        raise b.error(f"{kind_of(a)} has no attribute 'bit_length'", notes=("Python raises AttributeError here",),
                      help="convert it first: int(x).bit_length()")  # fmt: skip
    return Static(int(a.value).bit_length()) if isinstance(a, Static) else call_body(b, _bits, a)


def _bits(number: Any) -> Any:
    rest, bits = int(number), 0
    if rest < 0:
        rest, bits = -(rest // 2 + rest % 2), 1  # its half, rounded down: the negative of the least int does not fit
    while rest > 0:
        rest //= 2
        bits += 1
    return bits


@method("tolist")
def tolist(b: OpBuilder, a: Value) -> Value:
    """A list of Python's numbers, or of lists of them; of a number the number."""
    if is_number(a) or not b.array(a).rank:
        return item(b, a)
    return call_body(b, _numbers if b.array(a).rank == 1 else _lists, a)


def _numbers(a: Any) -> Any:
    return [number.item() for number in a]


def _lists(a: Any) -> Any:
    return [part.tolist() for part in a]


@method("flatten")
def flatten(b: OpBuilder, a: Value, order: Value = ORDER_C) -> Value:
    """All elements in one dimension, copied."""
    x = b.array(a)
    read = x.transposed(memory_order.order_of_elements(b, x, order_argument(b, order)))
    return manipulation.flattened(b, b.copy(read))


@method("reshape")
def reshape(b: OpBuilder, a: Value, *shape: Value, order: Value = ORDER_C, copy: Value = NONE) -> Value:
    """The same elements in another shape, given as a tuple or as several sizes."""
    return manipulation.reshape(b, a, shape[0] if len(shape) == 1 else TupleValue(shape), order, copy=copy)


@method("transpose")
def transpose(b: OpBuilder, a: Value, *axes: Value) -> Value:
    """Dimensions permuted, given as a tuple or as several numbers; reversed by default."""
    if not axes:
        return manipulation.transpose(b, a)
    return manipulation.transpose(b, a, axes[0] if len(axes) == 1 and items_of(axes[0]) else TupleValue(axes))


def _array(b: OpBuilder, a: Value, name: str) -> ArrayValue:
    if not isinstance(a, ArrayValue):
        raise b.error(f"a number has no method {name!r}")
    return a
