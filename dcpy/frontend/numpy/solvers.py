"""Vector products, and numerical calculus on samples, as Python functions (see `traced`).

Linear systems and decompositions are in `decompositions` and `matrices`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.traced import written_in_python


def _inexact_copy(a: Any) -> Any:
    """A new array to compute in: integers become float64."""
    a = np.asarray(a)
    return np.array(a, dtype=a.dtype if np.issubdtype(a.dtype, np.inexact) else np.float64)


# -- vectors and matrices --------------------------------------------------------------------------------------------


@written_in_python(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any) -> None:
    """Sets the diagonal of a matrix to a number."""
    for k in range(min(a.shape[0], a.shape[1])):
        a[k, k] = val


@written_in_python(np.cross)
def cross(a: Any, b: Any) -> Any:
    """The vector products of vectors of three elements, along the last dimension."""
    x, y = np.asarray(a), np.asarray(b)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError("incompatible dimensions for cross product (dimension must be 3)")
    first = x[..., 1] * y[..., 2] - x[..., 2] * y[..., 1]
    second = x[..., 2] * y[..., 0] - x[..., 0] * y[..., 2]
    third = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    return np.stack((first, second, third), axis=-1)


# -- samples ---------------------------------------------------------------------------------------------------------


@written_in_python(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of samples by the trapezoidal rule."""
    values = np.moveaxis(np.asarray(y), axis, -1)
    widths = dx if x is None else np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(np.asarray(x), axis, -1))
    return np.sum(widths * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)


@written_in_python(np.gradient)
def gradient(f: Any, spacing: Any = 1.0, axis: int = 0) -> Any:
    """Derivatives of evenly spaced samples of a vector, or along one axis: central inside, one-sided at the ends."""
    assert np.ndim(spacing) == 0, "np.gradient takes one spacing"
    source = _inexact_copy(f)
    values = np.moveaxis(source, axis, 0)
    if len(values) < 2:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    result = np.empty_like(source)
    out = np.moveaxis(result, axis, 0)
    out[1:-1] = (values[2:] - values[:-2]) / (2.0 * spacing)
    out[0] = (values[1] - values[0]) / spacing
    out[-1] = (values[-1] - values[-2]) / spacing
    return result


@written_in_python(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """The convolution of two vectors."""
    n, m = len(a), len(v)
    if n == 0 or m == 0:
        raise ValueError("a cannot be empty")
    result = np.zeros(n + m - 1, np.result_type(a, v))
    for i in range(n):
        for j in range(m):
            result[i + j] += a[i] * v[j]
    if mode == "full":
        return result
    short, long = min(n, m), max(n, m)
    if mode == "same":
        return result[(short - 1) // 2 : (short - 1) // 2 + long].copy()
    return result[short - 1 : long].copy()


@written_in_python(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """Linear interpolation between samples at increasing places."""
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    wanted = np.asarray(x, np.float64).reshape(-1)
    result = np.empty(len(wanted))
    for k in range(len(wanted)):
        at = wanted[k]
        low, high = 0, len(xp)
        while low < high:  # the first sample after the place
            middle = (low + high) // 2
            if xp[middle] <= at:
                low = middle + 1
            else:
                high = middle
        last = len(xp) - 1
        j = max(min(low - 1, last - 1), 0)
        i = min(j + 1, last)
        slope = (fp[i] - fp[j]) / (xp[i] - xp[j]) if i > j else 0.0
        inside = slope * (at - xp[j]) + fp[j]
        before = fp[0] if left is None else left
        after = fp[last] if right is None else right
        result[k] = before if at < xp[0] else after if at > xp[last] else fp[last] if at == xp[last] else inside
        if at != at:
            result[k] = at
    return result.reshape(np.shape(x)) if np.ndim(x) > 0 else result[0]


@written_in_python(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """A polynomial with coefficients from the highest power down."""
    result = np.zeros(np.shape(x), np.result_type(p, x)) + 0  # of a number, a number
    for k in range(len(p)):
        result = result * x + p[k]
    return result


# -- writes ----------------------------------------------------------------------------------------------------------


def _values_at(a: Any, indices: Any, b: Any) -> Any:
    """One value per index: of an array of one dimension a number, of others a row."""
    if isinstance(indices, tuple):
        return np.broadcast_to(b, np.shape(indices[0]))
    if np.ndim(a) == 1:
        return np.broadcast_to(b, np.shape(indices)).reshape(-1)
    return np.broadcast_to(b, (len(indices), *np.shape(a)[1:]))


def _place(indices: Any, k: Any) -> Any:
    """Index number `k`: one, or one per dimension."""
    return tuple(index[k] for index in indices) if isinstance(indices, tuple) else np.ravel(indices)[k]


@written_in_python(np.add.at)
def add_at(a: Any, indices: Any, b: Any) -> None:
    """Adds to elements, again for each time that an index occurs."""
    values = _values_at(a, indices, b)
    for k in range(len(values)):
        at = _place(indices, k)
        a[at] += values[k]


@written_in_python(np.subtract.at)
def subtract_at(a: Any, indices: Any, b: Any) -> None:
    """Subtracts from elements, again for each time that an index occurs."""
    values = _values_at(a, indices, b)
    for k in range(len(values)):
        at = _place(indices, k)
        a[at] -= values[k]


@written_in_python(np.multiply.at)
def multiply_at(a: Any, indices: Any, b: Any) -> None:
    """Multiplies elements, again for each time that an index occurs."""
    values = _values_at(a, indices, b)
    for k in range(len(values)):
        at = _place(indices, k)
        a[at] *= values[k]


@written_in_python(np.maximum.at)
def maximum_at(a: Any, indices: Any, b: Any) -> None:
    """Raises elements to numbers that are larger."""
    values = _values_at(a, indices, b)
    for k in range(len(values)):
        at = _place(indices, k)
        a[at] = np.maximum(a[at], values[k])


@written_in_python(np.minimum.at)
def minimum_at(a: Any, indices: Any, b: Any) -> None:
    """Lowers elements to numbers that are smaller."""
    values = _values_at(a, indices, b)
    for k in range(len(values)):
        at = _place(indices, k)
        a[at] = np.minimum(a[at], values[k])


@written_in_python(np.copyto)
def copyto(dst: Any, src: Any) -> None:
    """``dst[...] = src``."""
    dst[...] = src
