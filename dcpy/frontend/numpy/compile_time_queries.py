"""Compile-time queries: questions about dtypes and values that are answered when a program is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value, dtype_of, is_number
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.arithmetic.promotion import can_cast as can_cast_dtypes
from dcpy.frontend.lower.arithmetic.promotion import promoted
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.arrays.stores import same_place
from dcpy.frontend.lower.lowering_signals import raised_by
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_creation.creation import asarray, size_of
from dcpy.frontend.numpy.parameter_defaults import NONE

SAFE = Static("safe")

_FLAGS = {
    "C": "C", "CONTIGUOUS": "C", "C_CONTIGUOUS": "C", "F": "F", "FORTRAN": "F", "F_CONTIGUOUS": "F", "A": "A",
    "ALIGNED": "A", "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E",
}  # fmt: skip


def _ask(b: OpBuilder, function: Any, *args: Value) -> Value:
    found = [b.static(value, f"an argument of np.{function.__name__}") for value in args]
    plain = [getattr(value, "numpy", value) for value in found]  # dcpy.float64 stands for its NumPy dtype
    with raised_by("NumPy", f"np.{function.__name__}: "):
        return Static(function(*plain))


def _known(function: Any) -> Implementation:
    return lambda b, *args: _ask(b, function, *args)


for _function in (np.dtype, np.finfo, np.iinfo):
    implements(_function)(_known(_function))


@implements(np.issubdtype)
def issubdtype(b: OpBuilder, arg1: Value, arg2: Value) -> Value:
    """Return whether a dtype is of a kind."""
    return _ask(b, np.issubdtype, arg1, arg2)


@implements(np.isdtype)
def isdtype(b: OpBuilder, dtype: Value, kind: Value) -> Value:
    """Return whether a dtype is one, or of a kind that has a name."""
    return _ask(b, np.isdtype, Static(b.dtype_argument(dtype)), kind)


@implements(np.promote_types)
def promote_types(b: OpBuilder, type1: Value, type2: Value, /) -> Value:
    """The smallest dtype to which both convert safely."""
    return _ask(b, np.promote_types, type1, type2)


@implements(np.min_scalar_type)
def min_scalar_type(b: OpBuilder, a: Value, /) -> Value:
    """The smallest dtype that holds a number that is known; that of an array."""
    return Static(a.dtype.numpy) if isinstance(a, ArrayValue) and a.rank else _ask(b, np.min_scalar_type, a)


@implements(np.common_type)
def common_type(b: OpBuilder, *arrays: Value) -> Value:
    """The floating dtype that arrays have in common: float64 for integers."""
    dtypes = [dtype_of(value if is_number(value) else b.array(value)).numpy for value in arrays]
    with raised_by("NumPy"):
        return Static(np.common_type(*(np.empty(0, dtype) for dtype in dtypes)))


@implements(np.iterable)
def iterable(b: OpBuilder, y: Value) -> Value:
    """Return whether a loop can go over the value."""
    if isinstance(y, ArrayValue):
        return Static(bool(y.rank))
    return Static(not is_number(y) and (not isinstance(y, Static) or np.iterable(y.value)))


@implements(np.result_type)
def result_type(b: OpBuilder, *arrays_and_dtypes: Value) -> Value:
    """The dtype that arrays, numbers and dtypes promote to."""
    samples = [value if _has_dtype(value) else _sample(b, value) for value in arrays_and_dtypes]
    return Static(promoted(tuple(samples))[0].numpy)


def _sample(b: OpBuilder, value: Value) -> Value:
    """A NumPy scalar of a dtype."""
    dtype = b.dtype_argument(value)
    if dtype is None:
        raise b.error("None is not a dtype here")
    return Static(dtype.numpy.type(0))


def _has_dtype(value: Value) -> bool:
    return is_number(value) or isinstance(value, ArrayValue)


@implements(np.can_cast)
def can_cast(b: OpBuilder, from_: Value, to: Value, casting: Value = SAFE) -> Value:
    """Return whether one dtype converts to another under a rule."""
    source = dtype_of(from_) if isinstance(from_, ArrayValue) else b.dtype_argument(from_)
    target = b.dtype_argument(to)
    if source is None or target is None:
        raise b.error("np.can_cast takes two dtypes")
    return Static(can_cast_dtypes(source, target, b.static(casting, "casting")))


@implements(np.shares_memory)
def shares_memory(builder: OpBuilder, a: Value, b: Value, /) -> Value:
    """Return whether two arrays share an element, where that is known."""
    x, y = builder.array(a), builder.array(b)
    if not builder.may_overlap(x, y):
        return Static(False)
    if not same_place(x, y):
        raise builder.error(
            "whether these arrays share memory is known at run time only",
            help="compare the indices from which they were taken",
        )
    return builder.operator("!=", size_of(builder, x), Static(0))


@implements(np.may_share_memory)
def may_share_memory(builder: OpBuilder, a: Value, b: Value, /) -> Value:
    """Return whether two arrays may share an element, where that is known."""
    return shares_memory(builder, a, b)


@implements(np.isfortran)
def isfortran(b: OpBuilder, a: Value) -> Value:
    """Return whether an array lies in Fortran order, and not in C order."""
    x = b.array(a)
    if b.contiguous(x):
        return Static(False)
    if not b.contiguous(x.transposed(range(x.rank)[::-1])):
        raise b.error("the order of this array in memory is not known", help="call np.asfortranarray first")
    return b.operator("!=", size_of(b, x), Static(0))


@implements(np.require)
def require(b: OpBuilder, a: Value, dtype: Value = NONE, requirements: Value = NONE) -> Value:
    """The array itself where it has a dtype and an order in memory, else a copy that has them."""
    wanted = b.static(requirements, "requirements") or ()
    flags = {_FLAGS.get(str(flag).upper(), "") for flag in (list(wanted) if isinstance(wanted, str) else wanted)}
    if "" in flags or {"C", "F"} <= flags:
        raise b.error(f"np.require does not know {wanted!r}", notes=("NumPy raises ValueError here",))
    found = b.array(asarray(b, a, dtype))
    if "C" in flags and not b.contiguous(found):
        return b.copy(found)
    if "F" in flags and not b.contiguous(found.transposed(range(found.rank)[::-1])):
        return b.copy(found, order="F")
    return b.copy(found, order=memory_order.asked_order(b, found, "A")) if "O" in flags and not found.fresh else found


@implements(np.isscalar)
def isscalar(b: OpBuilder, element: Value) -> Value:
    """Return whether the value is a number."""
    return Static(is_number(element))


@implements(np.iscomplexobj)
def iscomplexobj(b: OpBuilder, x: Value) -> Value:
    """Return whether the dtype is complex."""
    return Static(dtype_of(x if is_number(x) else b.array(x)).kind == "c")


@implements(np.isrealobj)
def isrealobj(b: OpBuilder, x: Value) -> Value:
    """Return whether the dtype is not complex."""
    return Static(dtype_of(x if is_number(x) else b.array(x)).kind != "c")
