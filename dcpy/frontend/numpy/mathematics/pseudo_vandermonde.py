"""Pseudo-Vandermonde matrices (`numpy.polynomial`): basis polynomials at points, one column per degree.

Least-squares fits solve systems with them. Columns follow from those before by the recurrences of `polynomial_series`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(polynomial.polyvander)
def polyvander(x: Any, deg: int) -> Any:
    """Powers."""
    points, v = _first_columns(x, deg)
    if deg > 0:
        v[1] = points
    for i in range(2, deg + 1):
        v[i] = v[i - 1] * points
    return np.moveaxis(v, 0, -1)


@written_in_python(chebyshev.chebvander)
def chebvander(x: Any, deg: int) -> Any:
    """Chebyshev polynomials."""
    points, v = _first_columns(x, deg)
    if deg > 0:
        v[1] = points
    for i in range(2, deg + 1):
        v[i] = v[i - 1] * (2 * points) - v[i - 2]
    return np.moveaxis(v, 0, -1)


@written_in_python(legendre.legvander)
def legvander(x: Any, deg: int) -> Any:
    """Legendre polynomials."""
    points, v = _first_columns(x, deg)
    if deg > 0:
        v[1] = points
    for i in range(2, deg + 1):
        v[i] = (v[i - 1] * points * (2 * i - 1) - v[i - 2] * (i - 1)) / i
    return np.moveaxis(v, 0, -1)


@written_in_python(hermite.hermvander)
def hermvander(x: Any, deg: int) -> Any:
    """Physicists' Hermite polynomials."""
    points, v = _first_columns(x, deg)
    if deg > 0:
        v[1] = points * 2
    for i in range(2, deg + 1):
        v[i] = v[i - 1] * (points * 2) - v[i - 2] * (2 * (i - 1))
    return np.moveaxis(v, 0, -1)


@written_in_python(hermite_e.hermevander)
def hermevander(x: Any, deg: int) -> Any:
    """Probabilists' Hermite polynomials."""
    points, v = _first_columns(x, deg)
    if deg > 0:
        v[1] = points
    for i in range(2, deg + 1):
        v[i] = v[i - 1] * points - v[i - 2] * (i - 1)
    return np.moveaxis(v, 0, -1)


@written_in_python(laguerre.lagvander)
def lagvander(x: Any, deg: int) -> Any:
    """Laguerre polynomials."""
    points, v = _first_columns(x, deg)
    if deg > 0:
        v[1] = 1 - points
    for i in range(2, deg + 1):
        v[i] = (v[i - 1] * (2 * i - 1 - points) - v[i - 2] * (i - 1)) / i
    return np.moveaxis(v, 0, -1)


def _first_columns(x: Any, deg: Any) -> tuple[Any, Any]:
    """Points in floating point, with an axis at least, and the matrix with the degree in front and degree 0 set."""
    if deg < 0:
        raise ValueError("deg must be non-negative")
    points = np.atleast_1d(np.asarray(x)) + 0.0
    v = np.empty((deg + 1, *points.shape), points.dtype)
    v[0] = points * 0 + 1
    return points, v
