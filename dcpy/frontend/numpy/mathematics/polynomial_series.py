"""Values of polynomial series, the lowest degree first (`numpy.polynomial`), by Clenshaw's recurrences as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(polynomial.polyval)
def polyval(x: Any, c: Any, tensor: bool = True) -> Any:
    """The values of a series of powers."""
    x, c = _operands(x, c, tensor)
    result = c[len(c) - 1] + x * 0
    for k in range(len(c) - 2, -1, -1):
        result = c[k] + result * x
    return result


@written_in_python(chebyshev.chebval)
def chebval(x: Any, c: Any, tensor: bool = True) -> Any:
    """The values of a series of Chebyshev polynomials."""
    x, c = _operands(x, c, tensor)
    first, second = _highest(x, c)
    for k in range(len(c) - 3, -1, -1):
        first, second = c[k] - second, first + second * (2 * x)
    return first + second * x


@written_in_python(legendre.legval)
def legval(x: Any, c: Any, tensor: bool = True) -> Any:
    """The values of a series of Legendre polynomials."""
    x, c = _operands(x, c, tensor)
    first, second = _highest(x, c)
    for k in range(len(c) - 3, -1, -1):
        first, second = c[k] - second * ((k + 1) / (k + 2)), first + second * x * ((2 * k + 3) / (k + 2))
    return first + second * x


@written_in_python(hermite.hermval)
def hermval(x: Any, c: Any, tensor: bool = True) -> Any:
    """The values of a series of physicists' Hermite polynomials."""
    x, c = _operands(x, c, tensor)
    first, second = _highest(x, c)
    for k in range(len(c) - 3, -1, -1):
        first, second = c[k] - second * (2 * (k + 1)), first + second * (x * 2)
    return first + second * (x * 2)


@written_in_python(hermite_e.hermeval)
def hermeval(x: Any, c: Any, tensor: bool = True) -> Any:
    """The values of a series of probabilists' Hermite polynomials."""
    x, c = _operands(x, c, tensor)
    first, second = _highest(x, c)
    for k in range(len(c) - 3, -1, -1):
        first, second = c[k] - second * (k + 1), first + second * x
    return first + second * x


@written_in_python(laguerre.lagval)
def lagval(x: Any, c: Any, tensor: bool = True) -> Any:
    """The values of a series of Laguerre polynomials."""
    x, c = _operands(x, c, tensor)
    first, second = _highest(x, c)
    for k in range(len(c) - 3, -1, -1):
        first, second = c[k] - (second * (k + 1)) / (k + 2), first + (second * ((2 * k + 3) - x)) / (k + 2)
    return first + second * (1 - x)


def _operands(x: Any, c: Any, tensor: Any) -> tuple[Any, Any]:
    """Points, and coefficients in floating point; with `tensor` these get an axis for each one of the points."""
    points = np.asarray(x) if isinstance(x, (tuple, list)) else x
    factors = np.atleast_1d(np.asarray(c))
    if factors.dtype.kind in "bui":
        factors = factors.astype(np.float64)
    if tensor and np.ndim(points):
        factors = factors.reshape(factors.shape + (1,) * np.ndim(points))
    return points, factors


def _highest(x: Any, c: Any) -> tuple[Any, Any]:
    """The last two coefficients, in the shape and the dtype of the result; 0 behind the only one."""
    n = len(c)
    zero = np.zeros(np.broadcast_shapes(c.shape[1:], np.shape(x)), np.result_type(x, c))[()]
    return zero + c[max(n - 2, 0)], zero + np.where(n > 1, c[n - 1], 0)
