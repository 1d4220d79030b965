"""Comparison of a value of Python's with that of a compiled program: the first element that differs, or the type.

Floats may differ by rounding: sums are added in another order. NaN equals NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: share of the value, and of the largest one in the array, by which floats may differ, by the bytes of a component
TOLERANCES = {2: 1e-2, 4: 1e-4, 8: 1e-9, 16: 1e-9}


@dataclass(frozen=True)
class ValueDifference:
    """A value that differs: the name of it, the element (), and what it is in both; or a sentence about the whole."""

    name: str
    element: tuple[int, ...] = ()
    python: Any = None
    compiled: Any = None
    count: int = 0  # of elements that differ
    size: int = 0  # of elements there are
    largest: float = 0.0  # absolute difference
    sentence: str = ""

    def __str__(self) -> str:
        """``y[3] is 0.5 in Python, and 0.25 in the program``."""
        if self.sentence:
            return f"{self.name} {self.sentence}"
        element = f"[{', '.join(map(str, self.element))}]" if self.element else ""
        return f"{self.name}{element} is {_shown(self.python)} in Python, and {_shown(self.compiled)} in the program"

    @property
    def extent(self) -> str:
        """The number of elements that differ, and by how much; "" for a number."""
        if self.size < 2:
            return ""
        by = f", by {self.largest:.3g} at most" if np.isfinite(self.largest) and self.largest else ""
        return f"{self.count} of {self.size} elements differ{by}"


def _shown(value: Any) -> str:
    return str(value.item()) if isinstance(value, np.generic) else str(value)


def difference(name: str, python: Any, compiled: Any, rtol: float | None = None) -> ValueDifference | None:
    """The first difference of two values, inside of tuples and lists, too; None where they are as good as equal.

    `rtol`: the relative tolerance of floats, default by dtype.
    """
    if isinstance(python, tuple | list):
        if type(python) is not type(compiled) or len(python) != len(compiled):
            return _whole(name, python, compiled)
        parts = (difference(f"{name}[{k}]", *pair, rtol) for k, pair in enumerate(zip(python, compiled, strict=True)))
        return next((part for part in parts if part is not None), None)
    if not _is_numeric(python):
        return None if type(python) is type(compiled) else _whole(name, python, compiled)
    if not _is_numeric(compiled) or isinstance(python, np.ndarray) is not isinstance(compiled, np.ndarray):
        return _whole(name, python, compiled)
    return _of_numbers(name, python, compiled, rtol)


def _is_numeric(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, bool | int | float | complex | np.number | np.bool_)


def _whole(name: str, python: Any, compiled: Any) -> ValueDifference:
    return ValueDifference(name, sentence=f"is {_kind(python)} in Python, and {_kind(compiled)} in the program")


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array {value.dtype}[{', '.join(map(str, value.shape))}]"
    return f"a {type(value).__name__} of {len(value)} items" if isinstance(value, tuple | list) else repr(value)


def _of_numbers(name: str, python: Any, compiled: Any, rtol: float | None) -> ValueDifference | None:
    if isinstance(python, int) and isinstance(compiled, int):  # of any size
        return None if python == compiled else ValueDifference(name, (), python, compiled, 1, 1, float(0))
    left, right = np.asarray(python), np.asarray(compiled)
    if left.shape != right.shape or (isinstance(python, np.ndarray) and left.dtype != right.dtype):
        return _whole(name, python, compiled)
    differs = _differing(left, right, rtol)
    if not differs.any():
        return None
    first = tuple(int(k) for k in np.argwhere(differs)[0])
    with np.errstate(all="ignore"):
        apart = np.abs(left[differs].astype(complex) - right[differs].astype(complex))
    largest = float(apart.max()) if np.isfinite(apart).all() else float("nan")
    return ValueDifference(name, first, left[first], right[first], int(differs.sum()), left.size, largest)


def _differing(left: Any, right: Any, rtol: float | None) -> Any:
    """A mask of the elements of two arrays that differ by more than rounding."""
    if left.dtype.kind not in "fc" and right.dtype.kind not in "fc":
        return left != right
    with np.errstate(all="ignore"):
        known = left if left.dtype.kind in "fc" else right
        size = known.dtype.itemsize // (2 if known.dtype.kind == "c" else 1)
        share = TOLERANCES.get(size, 1e-9) if rtol is None else rtol
        magnitudes = np.abs(left[np.isfinite(left)])
        allowed = share * (np.abs(left) + (float(magnitudes.max()) if magnitudes.size else 0.0))
        near = (np.abs(left - right) <= allowed) & np.isfinite(left)
        return ~(near | (left == right) | (np.isnan(left) & np.isnan(right)))
