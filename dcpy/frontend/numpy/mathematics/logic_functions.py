"""Logic functions: tests of elements and of whole arrays, as Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(np.isposinf)
def isposinf(x: Any, out: Any = None) -> Any:
    """Return whether elements are positive infinity."""
    return np.isinf(x) & ~np.signbit(x)


@written_in_python(np.isneginf)
def isneginf(x: Any, out: Any = None) -> Any:
    """Return whether elements are negative infinity."""
    return np.isinf(x) & np.signbit(x)


@written_in_python(np.iscomplex)
def iscomplex(x: Any) -> Any:
    """Return whether elements have an imaginary part that is not 0."""
    x = np.asarray(x)
    return (np.imag(x) != 0 if x.dtype.kind == "c" else np.zeros(x.shape, np.bool_))[()]


@written_in_python(np.isreal)
def isreal(x: Any) -> Any:
    """Return whether elements have no imaginary part but 0; of a number of Python's own a bool of Python's own."""
    return np.imag(np.asarray(x) if isinstance(x, tuple | list) else x) == 0


@written_in_python(np.asarray_chkfinite)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """The array; `ValueError` where it holds NaN or infinities."""
    found = np.asarray(a, dtype=dtype, order=order)
    if found.dtype.kind in "fc" and not np.all(np.isfinite(found)):
        raise ValueError("array must not contain infs or NaNs")
    return found


@written_in_python(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> bool:
    """Return whether arrays that broadcast together have equal elements."""
    left, right = np.asarray(a1), np.asarray(a2)
    shared = min(left.ndim, right.ndim)
    found = True
    for k in tuple(range(1, shared + 1)):
        n, m = left.shape[-k], right.shape[-k]
        found = found and (n == m or n == 1 or m == 1)
    if found:
        found = bool(np.all(left == right))
    return found
