"""Linear systems and decompositions, and numerical calculus on samples, as Python functions (see `traced`).

Plain loops: right for every dtype, and fast enough for small systems. Singular matrices raise `ValueError`, which
NumPy's LinAlgError is a kind of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.traced import written_in_python

# -- linear algebra --------------------------------------------------------------------------------------------------


def _inexact_copy(a: Any) -> Any:
    """A new array to compute in: integers become float64."""
    a = np.asarray(a)
    return np.array(a, dtype=a.dtype if np.issubdtype(a.dtype, np.inexact) else np.float64)


def _require_square(a: Any) -> None:
    assert np.ndim(a) == 2, "stacks of matrices are not supported: use a loop"
    if a.shape[0] != a.shape[1]:
        raise ValueError("Last 2 dimensions of the array must be square")


def _exchange(a: Any, first: Any, second: Any) -> None:
    for j in range(a.shape[1]):
        a[first, j], a[second, j] = a[second, j], a[first, j]


def _eliminate(a: Any, right: Any) -> Any:
    """Makes `a` upper triangular with row exchanges, `right` alike; returns the sign of the permutation, or 0."""
    n = len(a)
    sign = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        if a[best, k] == 0:
            sign = 0.0
        else:
            if best != k:
                _exchange(a, k, best)
                _exchange(right, k, best)
                sign = -sign
            for i in range(k + 1, n):
                factor = a[i, k] / a[k, k]
                for j in range(k, n):
                    a[i, j] -= factor * a[k, j]
                for j in range(right.shape[1]):
                    right[i, j] -= factor * right[k, j]
    return sign


def _substitute_back(a: Any, right: Any) -> None:
    """Solves the upper triangular system in place."""
    n = len(a)
    for back in range(n):
        i = n - 1 - back
        for j in range(right.shape[1]):
            total = right[i, j]
            for k in range(i + 1, n):
                total -= a[i, k] * right[k, j]
            right[i, j] = total / a[i, i]


@written_in_python(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    """The solution of ``a @ x = b``, for a vector or for the columns of a matrix."""
    _require_square(a)
    dtype = np.result_type(_inexact_copy(a), _inexact_copy(b))
    upper = np.array(a, dtype=dtype)
    x = np.array(b, dtype=dtype)
    columns = x.reshape(-1, 1) if np.ndim(b) == 1 else x
    if len(columns) != len(upper):
        raise ValueError("solve: Input operand 1 has a mismatch in its core dimension 0")
    if _eliminate(upper, columns) == 0.0:
        raise ValueError("Singular matrix")
    _substitute_back(upper, columns)
    return x


@written_in_python(np.linalg.inv)
def inv(a: Any) -> Any:
    """The inverse matrix."""
    _require_square(a)
    upper = _inexact_copy(a)
    result = np.eye(len(upper), dtype=upper.dtype)
    if _eliminate(upper, result) == 0.0:
        raise ValueError("Singular matrix")
    _substitute_back(upper, result)
    return result


@written_in_python(np.linalg.det)
def det(a: Any) -> Any:
    """The determinant."""
    _require_square(a)
    upper = _inexact_copy(a)
    sign = _eliminate(upper, np.empty((len(upper), 0), upper.dtype))
    return upper.dtype.type(sign) * np.prod(np.diag(upper))


@written_in_python(np.linalg.cholesky)
def cholesky(a: Any) -> Any:
    """The lower triangular matrix whose product with its adjoint is `a`."""
    _require_square(a)
    lower = np.tril(_inexact_copy(a))
    for j in range(len(lower)):
        for k in range(j):
            lower[j, j] -= lower[j, k] * np.conj(lower[j, k])
        if not np.real(lower[j, j]) > 0:
            raise ValueError("Matrix is not positive definite")
        lower[j, j] = np.sqrt(np.real(lower[j, j]))
        for i in range(j + 1, len(lower)):
            for k in range(j):
                lower[i, j] -= lower[i, k] * np.conj(lower[j, k])
            lower[i, j] /= lower[j, j]
    return lower


@written_in_python(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    """The matrix times itself, `n` times."""
    _require_square(a)
    if n == 0:
        return np.eye(len(a), dtype=a.dtype)
    if n < 0:
        a, n = np.linalg.inv(a), -n
    result = np.array(a)
    for _ in range(n - 1):
        result = result @ a
    return result


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


@written_in_python(np.add.at)
def add_at(a: Any, indices: Any, b: Any) -> None:
    """Adds to elements, again for each time that an index occurs."""
    for k in range(len(indices)):
        a[indices[k]] += b if np.ndim(b) == 0 else b[k]


@written_in_python(np.subtract.at)
def subtract_at(a: Any, indices: Any, b: Any) -> None:
    """Subtracts from elements, again for each time that an index occurs."""
    for k in range(len(indices)):
        a[indices[k]] -= b if np.ndim(b) == 0 else b[k]


@written_in_python(np.maximum.at)
def maximum_at(a: Any, indices: Any, b: Any) -> None:
    """Raises elements to numbers that are larger."""
    for k in range(len(indices)):
        a[indices[k]] = np.maximum(a[indices[k]], b if np.ndim(b) == 0 else b[k])


@written_in_python(np.copyto)
def copyto(dst: Any, src: Any) -> None:
    """``dst[...] = src``."""
    dst[...] = src
