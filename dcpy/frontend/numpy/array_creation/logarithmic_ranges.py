"""Logarithmic ranges, ``logspace`` and ``geomspace``: Python functions (see `python_implementations`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(np.logspace)
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """Numbers whose logarithms are evenly spaced."""
    found = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else found.astype(dtype)


@written_in_python(np.geomspace)
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Numbers with even ratios, from `start` to `stop`; between reals of different signs they are NaN."""
    first, last = np.asarray(start), np.asarray(stop)
    number = np.complex128 if np.iscomplexobj(first) or np.iscomplexobj(last) else np.float64
    first, last = first.astype(number), last.astype(number)
    if np.any(first == 0) or np.any(last == 0):
        raise ValueError("Geometric sequence cannot include zero")
    sign = first / np.abs(first)
    found = sign * 10.0 ** np.linspace(np.log10(first / sign), np.log10(last / sign), num, endpoint)
    if num > 0:
        found[0] = first
        if num > 1 and endpoint:
            found[-1] = last
    found = np.moveaxis(found, 0, axis)
    return found if dtype is None else found.astype(dtype)
