"""Derivatives of power series, the lowest degree first (`numpy.polynomial.polynomial`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(polynomial.polyder)
def polyder(c: Any, m: int = 1, scl: float = 1, axis: int = 0) -> Any:
    """The coefficients of the derivative of order `m`, each differentiation multiplied by `scl`."""
    if m < 0:
        raise ValueError("The order of derivation must be non-negative")
    factors = np.atleast_1d(np.asarray(c))
    factors = factors.astype(np.float64) if factors.dtype.kind in "bui" else factors.copy()
    if m == 0:
        return factors
    factors = np.moveaxis(factors, axis, 0)
    constant = factors[:1] * 0
    for _ in range(m):
        factors = _derivative(factors, scl, constant)
    return np.moveaxis(factors, 0, axis)


def _derivative(c: Any, scl: Any, constant: Any) -> Any:
    """The first derivative in C order, as NumPy has it; that of a constant is `constant`."""
    n = len(c)
    found = np.empty((min(n, max(n - 1, 1)), *c.shape[1:]), c.dtype)
    if n > 1:
        found[:] = np.arange(1, n).reshape((-1,) + (1,) * (c.ndim - 1)) * (c[1:] * scl)
    else:
        found[:] = constant
    return found
