"""Polynomials as vectors of coefficients, the highest power first: Python functions (see `python_implementations`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """The values of a polynomial."""
    factors, values = np.asarray(p), np.asarray(x)
    result = np.zeros(values.shape, np.result_type(factors, values))[()]
    for k in range(len(factors)):
        result = result * values + factors[k]
    return result


@written_in_python(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials."""
    x, y = _of_one_length(a1, a2)
    return x + y


@written_in_python(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
    x, y = _of_one_length(a1, a2)
    return x - y


def _of_one_length(a1: Any, a2: Any) -> tuple[Any, Any]:
    """Coefficients with zeros in front of the shorter ones."""
    x, y = np.atleast_1d(a1), np.atleast_1d(a2)
    n = max(len(x), len(y))
    return _padded(x, n), _padded(y, n)


def _padded(a: Any, n: int) -> Any:
    """Coefficients with zeros in front, `n` in all; a matrix only where it has so many rows."""
    if a.ndim > 1:
        if len(a) < n:
            raise ValueError(
                "all the input arrays must have same number of dimensions, but the array at index 0 has 1 dimension(s) "
                f"and the array at index 1 has {a.ndim} dimension(s)"
            )
        return a
    found = np.zeros(n, a.dtype)
    found[n - len(a) :] = a
    return found


@written_in_python(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials; zeros in front of each do not count."""
    if np.ndim(a1) > 1 or np.ndim(a2) > 1:
        raise ValueError("Polynomial must be 1d only.")
    return np.convolve(_trimmed(np.atleast_1d(a1)), _trimmed(np.atleast_1d(a2)))


def _trimmed(a: Any) -> Any:
    longer = _padded(a, len(a) + 1)  # of nothing, 0 is left
    start = 0
    while start < len(a) and longer[start] == 0:
        start += 1
    return longer[start:].copy()


@written_in_python(np.polydiv)
def polydiv(u: Any, v: Any) -> Any:
    """The quotient and the remainder, without the zeros in front of that."""
    u, v = np.atleast_1d(u) + 0.0, np.atleast_1d(v) + 0.0
    steps = max(len(u) - len(v) + 1, 0)
    dtype = np.result_type(u, v)
    quotient = np.zeros(max(steps, 1), dtype)
    rest = u.astype(dtype)
    scale = 1.0 / v[0]
    for k in range(steps):
        quotient[k] = scale * rest[k]
        for j in range(len(v)):
            rest[k + j] -= quotient[k] * v[j]
    start = 0
    while start < len(rest) - 1 and abs(rest[start]) <= 1e-8:
        start += 1
    return quotient, rest[start:].copy()


@written_in_python(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """The derivative of order `m`."""
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    p = np.asarray(p)
    if p.ndim != 1:
        raise ValueError("the coefficients of a polynomial must be a vector")
    for _ in (None,) * m:
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


@written_in_python(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The integral of order `m`; `k` are the constants of integration, the first one first."""
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    p = np.asarray(p)
    constants = np.zeros(m) if k is None else np.broadcast_to(k, (m,)) if np.size(k) == 1 else np.asarray(k)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for number, _ in enumerate((None,) * m):
        p = np.concatenate((p / np.arange(len(p), 0, -1), constants[number : number + 1]))
    return p


@written_in_python(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """The polynomial with these roots, which are real."""
    roots = np.atleast_1d(seq_of_zeros)
    if roots.dtype.kind == "c" or roots.ndim > 1:
        raise TypeError("np.poly takes a vector of real roots: that of others is real or complex, by their values")
    if len(roots) == 0:
        raise ValueError("np.poly takes at least one root")
    found = np.zeros(len(roots) + 1, roots.dtype if roots.dtype.kind == "f" else np.float64)
    found[0] = 1
    for k in range(len(roots)):
        for j in range(k + 1):
            found[k + 1 - j] -= roots[k] * found[k - j]
    return found


@written_in_python(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803  (NumPy's name)
    """The powers of each element in a row."""
    x = np.asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = len(x) if N is None else N
    found = np.empty((len(x), count), np.promote_types(x.dtype, np.int64))
    powers = found if increasing else found[:, ::-1]
    powers[:, :1] = 1
    for k in range(1, count):
        powers[:, k] = powers[:, k - 1] * x
    return found


@written_in_python(np.polyfit)
def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """The polynomial that fits samples best, by least squares."""
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    _require_samples(x, y, deg)
    rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    left, right = vander(x, deg + 1), y
    if w is not None:
        weights = np.asarray(w) + 0.0
        left = left * weights[:, None]
        right = right * weights if y.ndim == 1 else right * weights[:, None]
    scale = np.sqrt(np.sum(left * left, axis=0))
    left = left / scale
    c, residuals, rank, values = np.linalg.lstsq(left, right, rcond)
    errors = np.sum((right - left @ c) ** 2, axis=0)
    c = c / scale if y.ndim == 1 else c / scale[:, None]
    if full:
        return c, residuals, rank, values, rcond
    if not cov:
        return c
    spread = np.linalg.inv(left.T @ left) / np.outer(scale, scale)
    if cov != "unscaled" and len(x) <= deg + 1:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    factor = 1 if cov == "unscaled" else errors / (len(x) - deg - 1)
    return c, spread * factor if y.ndim == 1 else spread[:, :, None] * factor


def _require_samples(x: Any, y: Any, deg: int) -> None:
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if len(x) == 0:
        raise TypeError("expected non-empty vector for x")
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
