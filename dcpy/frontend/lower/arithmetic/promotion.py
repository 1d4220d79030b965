"""Dtypes of results: computed by NumPy itself, and kept.

Weak operands (numbers of Python's own) are passed as Python types, so NEP 50 is NumPy's own as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values import kinds_by_path
from dcpy.frontend.abstract_values.kinds_by_path import Kinds
from dcpy.frontend.abstract_values.number_kinds import instead_of, kinds_of, numpy_kind, python_type, python_types
from dcpy.frontend.abstract_values.values import Scalar, Static, Value, dtype_of, is_weak, kind_of
from dcpy.frontend.lower.arithmetic.range_checks import fits
from dcpy.frontend.lower.lowering_signals import KindMatters
from dcpy.ir import types
from dcpy.ir.types import DType


def ufunc_dtypes(ufunc: np.ufunc, operands: tuple[Value, ...], dtype: DType | None = None) -> tuple[DType, ...]:
    """The dtypes of the loop that NumPy would run: one per operand, then one per output."""
    signature = None if dtype is None else (*(None for _ in operands), *((dtype.numpy,) * ufunc.nout))
    try:
        found, *others = [_resolve(ufunc, kinds, signature) for kinds in itertools.product(*map(kinds_of, operands))]
        require_same([found[len(operands) :], *(other[len(operands) :] for other in others)], operands)
        return found
    except (TypeError, KeyError) as error:
        shown = ", ".join(kind_of(operand) for operand in operands)
        message = f"{ufunc.__name__} does not take {shown}"
        if isinstance(error, KeyError):
            raise FrontendError(message, notes=(f"dcpy has no dtype {error}",)) from None
        notes = str(error).split("\n")[0], "NumPy raises TypeError here"
        raise FrontendError(message, notes=notes) from None


@dataclass(frozen=True, slots=True)
class JoinedKind:
    """The kind of number that meets numbers of several kinds: the fields of a `Scalar`."""

    dtype: DType
    weak: bool
    other_kinds: Kinds = kinds_by_path.NONE


def promoted(operands: tuple[Value, ...]) -> tuple[DType, bool]:
    """The common dtype of numbers or arrays, and whether it is weak (all of them are)."""
    weak = all(map(is_weak, operands))
    found = [_result_type(kinds) for kinds in itertools.product(*map(kinds_of, operands))]
    require_same([(dtype,) for dtype in found], operands)
    return found[0], weak


def require_same(dtypes: Sequence[tuple[DType, ...]], operands: Sequence[Value]) -> None:
    """Refuse a result whose dtype depends on where a number comes from: Python's own do not promote, NumPy's do."""
    if all(found == dtypes[0] for found in dtypes):
        return
    names = list(dict.fromkeys(dtype.numpy_name for found in dtypes for dtype in found))
    mixed = next(value for value in operands if isinstance(value, Scalar) and value.other_kinds)
    raise kind_matters(
        mixed, f"the dtype of the result depends on the path taken: {' or '.join(names)}",
        f"convert it where it is set: {mixed_kinds(mixed)[-1]}(...)",
    )  # fmt: skip


def kind_matters(number: Scalar, message: str, help_text: str) -> KindMatters:
    """Return the error for code that depends on the kind of a number, which depends on the path taken."""
    error = KindMatters(message, notes=(f"a number is {by_path(number)}",), help=help_text)
    error.merges = number.other_kinds.merges
    return error


def by_path(number: Scalar) -> str:
    """Return a description of a number whose kind depends on the path through the program."""
    *others, last = (kind if kind.startswith("np.") else f"a Python {kind}" for kind in mixed_kinds(number))
    return f"{' or '.join(others)} on one path, and {last} on another"


def mixed_kinds(number: Scalar) -> list[str]:
    """The names of the kinds that a number has on different paths; the last one is that of the `Scalar`."""
    own = python_type(number.dtype).__name__ if number.weak else f"np.{number.dtype.numpy_name}"
    return [*map(kinds_by_path.name_of, number.other_kinds), own]


def joined_number(values: Sequence[Value], *, entering: int = 0) -> JoinedKind | None:
    """Return the common kind of numbers from different paths; None where the value of one would change.

    A known number meets any dtype that holds it; others keep theirs. The first few (`entering`) are what a loop starts
    with, and take the kind that it gives them: a larger dtype, NumPy's instead of Python's, and a float of Python's own
    a shorter one.
    """
    dtypes = {dtype_of(value) for value in values}
    if len(dtypes) > 1 and types.bool_ in dtypes:
        return None
    dtype, weak = _result_type(tuple(map(numpy_kind, values))), all(map(is_weak, values))
    if not all(_keeps(value, dtype, entering=k < entering) for k, value in enumerate(values)):
        return None
    mixed = [value for k, value in enumerate(values) if k >= entering or not is_weak(value)]
    found = kinds_by_path.all_of([value.other_kinds for value in values if isinstance(value, Scalar)])
    others = (kind for value in mixed for kind in (*python_types(value), *instead_of(value)))
    own = python_type(dtype) if weak else dtype.numpy.type
    return JoinedKind(
        dtype, weak,
        Kinds((k for k in others if k is not own), found.merges, tells=found.tells, entering=found.entering,
              of_items=found.of_items),
    )  # fmt: skip


def _keeps(value: Value, dtype: DType, *, entering: bool) -> bool:
    source = dtype_of(value)
    if source == dtype:
        return True
    if entering and (np.can_cast(source.numpy, dtype.numpy) or (dtype.is_inexact and is_weak(value))):
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


@lru_cache(maxsize=16384)
def _resolve(ufunc: np.ufunc, kinds: tuple[Any, ...], signature: tuple[Any, ...] | None) -> tuple[DType, ...]:
    if all(isinstance(kind, type) for kind in kinds):  # no NumPy operand decides what Python's numbers become
        kinds = tuple(np.dtype(kind) for kind in kinds)
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
