"""Dtypes of results: NumPy is asked, never imitated, and the answers are kept.

Weak operands (numbers of Python's own) are passed as Python types, so NEP 50 is NumPy's own as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.values import Static, Value, dtype_of, is_weak, kind_of, numpy_kind
from dcpy.ir import types
from dcpy.ir.types import DType


def ufunc_dtypes(ufunc: np.ufunc, operands: tuple[Value, ...], dtype: DType | None = None) -> tuple[DType, ...]:
    """The dtypes of the loop that NumPy would run: one per operand, then one per output."""
    kinds = tuple(map(numpy_kind, operands))
    signature = None if dtype is None else (*(None for _ in operands), *((dtype.numpy,) * ufunc.nout))
    try:
        return _resolve(ufunc, kinds, signature)
    except (TypeError, KeyError) as error:
        shown = ", ".join(kind_of(operand) for operand in operands)
        reason = str(error).split("\n")[0] if isinstance(error, TypeError) else f"dcpy has no dtype {error}"
        raise FrontendError(f"{ufunc.__name__} does not take {shown}", notes=(reason,)) from None


def promoted(operands: tuple[Value, ...]) -> tuple[DType, bool]:
    """The common dtype of numbers or arrays, and whether it is weak (all of them are)."""
    weak = all(map(is_weak, operands))
    return _result_type(tuple(map(numpy_kind, operands))), weak


def common(values: Sequence[Value], *, accumulating: bool = False) -> tuple[DType, bool] | None:
    """The dtype in which numbers from different paths meet, and whether it is weak; None where one would change.

    A known number meets any dtype that holds it; others keep theirs. At the head of a loop (`accumulating`) they may
    also meet in a larger dtype, and a float of Python's own in a shorter one: the first addition makes it that.
    """
    dtypes = {dtype_of(value) for value in values}
    if len(dtypes) > 1 and types.bool_ in dtypes:
        return None
    dtype, weak = promoted(tuple(values))
    return (dtype, weak) if all(_keeps(value, dtype, accumulating) for value in values) else None


def _keeps(value: Value, dtype: DType, accumulating: bool) -> bool:
    source = dtype_of(value)
    if source == dtype:
        return True
    if accumulating and (np.can_cast(source.numpy, dtype.numpy) or (dtype.is_inexact and is_weak(value))):
        return True
    if not isinstance(value, Static) or not fits(value, dtype):
        return False
    with np.errstate(all="ignore"):
        return bool(np.asarray(value.value).astype(dtype.numpy) == value.value)


@lru_cache(maxsize=4096)
def result_of(function: Callable[..., Any], dtype: DType) -> DType:
    """The dtype that a NumPy function of one array gives, learnt by running it on one element."""
    return types.from_numpy(np.asarray(function(np.ones(1, dtype.numpy))).dtype)


def can_cast(source: DType, target: DType, casting: str = "same_kind") -> bool:
    """NumPy's rule."""
    return np.can_cast(source.numpy, target.numpy, casting)  # type: ignore[arg-type]


def fits(value: Value, dtype: DType) -> bool:
    """Whether a known Python int is a number of `dtype`; True for everything else."""
    if not isinstance(value, Static) or type(value.value) is not int or not dtype.is_integer:
        return True
    limits = np.iinfo(dtype.numpy)
    return int(limits.min) <= value.value <= int(limits.max)


def require_fit(value: Value, dtype: DType) -> None:
    """NumPy's refusal of ``uint8_array + 300``."""
    if not fits(value, dtype):
        assert isinstance(value, Static)
        raise FrontendError(
            f"Python integer {value.value} out of bounds for {dtype.numpy_name}",
            notes=("NumPy raises OverflowError here",),
            help=f"use a wider dtype, for example np.int64({value.value})",
        )


def is_python_int(value: Value) -> bool:
    """Whether the value is a weak integer: known, symbolic or at run time."""
    return is_weak(value) and dtype_of(value) in (types.int64, types.bool_)


@lru_cache(maxsize=16384)
def _resolve(ufunc: np.ufunc, kinds: tuple[Any, ...], signature: tuple[Any, ...] | None) -> tuple[DType, ...]:
    operands = (*kinds, *(None,) * ufunc.nout)
    if signature is None:
        found = ufunc.resolve_dtypes(operands)
    else:
        found = ufunc.resolve_dtypes(operands, signature=signature, casting="unsafe")
    return tuple(types.from_numpy(dtype) for dtype in found)


@lru_cache(maxsize=4096)
def _result_type(kinds: tuple[Any, ...]) -> DType:
    samples = [kind(0) if isinstance(kind, type) else kind for kind in kinds]
    return types.from_numpy(np.result_type(*samples))
