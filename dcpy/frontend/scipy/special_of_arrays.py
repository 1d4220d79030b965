"""Array functions of ``scipy.special``, and counts, that SciPy writes in Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from dcpy.frontend.implements import results_lie
from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.numpy.result_memory_order import in_c_order

results_lie(sc.logsumexp, sc.factorial)(in_c_order)


@written_in_python(sc.logsumexp)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """The logarithm of a sum of exponentials, those of the largest ones apart."""
    x = _as_floats(a)
    weights = None if b is None else np.asarray(b)
    largest = np.max(x, axis=axis, keepdims=True) if weights is None else _largest(x, weights, axis)
    shift = np.where(np.isfinite(largest), largest, np.zeros_like(largest))
    terms = np.exp(x - shift) if weights is None else weights * np.exp(x - shift)
    total = np.sum(terms, axis=axis, keepdims=keepdims)
    sign = np.sign(total)
    found = np.log(np.abs(total) if return_sign else total)
    result = found + (shift if keepdims else np.reshape(shift, np.shape(found)))
    return (result, sign) if return_sign else result


def _largest(x: Any, weights: Any, axis: Any) -> Any:
    return np.max(np.where(weights == 0, -np.inf, x), axis=axis, keepdims=True)


def _as_floats(a: Any) -> Any:
    x = np.asarray(a)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


@written_in_python(sc.softmax)
def softmax(x: Any, axis: Any = None) -> Any:
    """Exponentials, divided by their sum."""
    values = _as_floats(x)
    powers = np.exp(values - np.max(values, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


@written_in_python(sc.log_softmax)
def log_softmax(x: Any, axis: Any = None) -> Any:
    """The logarithm of the softmax."""
    values = _as_floats(x)
    largest = np.max(values, axis=axis, keepdims=True)
    shifted = values - np.where(np.isfinite(largest), largest, np.zeros_like(largest))
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


@written_in_python(sc.comb)
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:  # noqa: N803
    """Return the number of ways to choose `k` of `N` things."""
    if exact:
        return math.comb(N + k - 1 if repetition else N, k) if N >= 0 and k >= 0 else 0
    if repetition:
        N = N + k - 1  # noqa: N806
    counted = (k <= N) & (N >= 0) & (k >= 0)
    return np.where(counted, sc.binom(N, k), 0.0)[()]


@written_in_python(sc.perm)
def perm(N: Any, k: Any, exact: bool = False) -> Any:  # noqa: N803
    """Return the number of ways to choose `k` of `N` things in order."""
    if exact:
        return math.perm(N, k) if N >= 0 and k >= 0 else 0
    counted = (k <= N) & (N >= 0) & (k >= 0)
    return np.where(counted, sc.poch(N - k + 1.0, k), 0.0)[()]


@written_in_python(sc.factorial)
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """``gamma(n + 1)``, 0 for negative numbers."""
    if exact:
        return math.factorial(n) if n >= 0 else 0
    return np.where(n < 0, 0.0, sc.gamma(n + 1.0))[()]
