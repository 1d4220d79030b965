"""Questions about dtypes and values that are answered at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.lower.promotion import can_cast as can_cast_dtypes
from dcpy.frontend.lower.promotion import promoted
from dcpy.frontend.values import ArrayValue, Static, Value, dtype_of, is_number

SAFE = Static("safe")


def _known(function: Any) -> Implementation:
    def call(b: Builder, *args: Value) -> Value:
        found = [b.static(value, f"an argument of np.{function.__name__}") for value in args]
        plain = [getattr(value, "numpy", value) for value in found]  # dcpy.float64 stands for its NumPy dtype
        try:
            return Static(function(*plain))
        except (TypeError, ValueError) as error:
            raise b.error(f"np.{function.__name__}: {error}") from None

    return call


for _function in (np.dtype, np.finfo, np.iinfo, np.issubdtype, np.promote_types, np.min_scalar_type):
    implements(_function)(_known(_function))


@implements(np.result_type)
def result_type(b: Builder, *arrays_and_dtypes: Value) -> Value:
    """The dtype that arrays, numbers and dtypes promote to."""
    samples = [value if _has_dtype(value) else _sample(b, value) for value in arrays_and_dtypes]
    return Static(promoted(tuple(samples))[0].numpy)


def _sample(b: Builder, value: Value) -> Value:
    """A NumPy scalar of a dtype."""
    dtype = b.dtype_argument(value)
    if dtype is None:
        raise b.error("None is not a dtype here")
    return Static(dtype.numpy.type(0))


def _has_dtype(value: Value) -> bool:
    return is_number(value) or isinstance(value, ArrayValue)


@implements(np.can_cast)
def can_cast(b: Builder, from_: Value, to: Value, casting: Value = SAFE) -> Value:
    """Whether one dtype converts to another under a rule."""
    source = dtype_of(from_) if isinstance(from_, ArrayValue) else b.dtype_argument(from_)
    target = b.dtype_argument(to)
    if source is None or target is None:
        raise b.error("np.can_cast takes two dtypes")
    return Static(can_cast_dtypes(source, target, b.static(casting, "casting")))


@implements(np.isscalar)
def isscalar(b: Builder, element: Value) -> Value:
    """Whether the value is a number."""
    return Static(is_number(element))


@implements(np.iscomplexobj)
def iscomplexobj(b: Builder, x: Value) -> Value:
    """Whether the dtype is complex."""
    return Static(dtype_of(x if is_number(x) else b.array(x)).kind == "c")


@implements(np.isrealobj)
def isrealobj(b: Builder, x: Value) -> Value:
    """Whether the dtype is not complex."""
    return Static(dtype_of(x if is_number(x) else b.array(x)).kind != "c")
