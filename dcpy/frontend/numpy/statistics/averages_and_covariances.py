"""Averages and covariances: medians, means, covariance and correlation, as Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python


def merged(a: Any, axis: Any) -> Any:
    """The array with the axes that are reduced as one, in front."""
    if axis is None:
        return np.ravel(a)
    if not isinstance(axis, tuple):
        return np.moveaxis(np.asarray(a), axis, 0)
    moved = np.moveaxis(np.asarray(a), axis, tuple(range(len(axis))))
    return moved.reshape((-1, *moved.shape[len(axis) :]))


def kept(result: Any, a: Any, axis: Any, keepdims: bool, first: int = 0) -> Any:
    """`result` with dimensions of size 1 where `a` was reduced, behind `first` dimensions of its own."""
    if not keepdims:
        return result
    if axis is None:
        places = tuple(range(first, first + np.ndim(a)))
    elif isinstance(axis, tuple):
        places = tuple(first + k % np.ndim(a) for k in axis)
    else:
        places = (first + axis % np.ndim(a),)
    return np.expand_dims(result, places)


def nan_where(test: Any, value: Any) -> Any:
    """`value` with NaN where the test holds; a number where it is one."""
    return np.where(test, np.nan, value)[()]


@written_in_python(np.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The middle of the sorted elements, or the mean of the two in the middle; NaN where there is one."""
    rows = merged(a, axis)
    n = len(rows)
    rows = np.partition(rows, (max(n - 1, 0) // 2, n // 2, n - 1), axis=0)
    middle = np.mean(rows[max(n - 1, 0) // 2 : n // 2 + 1], axis=0)
    result = nan_where(np.isnan(np.sum(rows[max(n - 1, 0) :], axis=0)), middle)  # NaN is last
    return kept(result, a, axis, keepdims)


@written_in_python(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The mean, of elements with weights; with `returned`, the sum of the weights, too."""
    a = np.asarray(a)
    if weights is None:
        mean = np.mean(a, axis, keepdims=keepdims)
        scale = mean.dtype.type(a.size / np.size(mean))
    else:
        weights = _as_wide(np.asarray(weights), a, axis)
        dtype = np.result_type(a, weights, np.float64) if a.dtype.kind in "iub" else np.result_type(a, weights)
        scale = np.sum(weights, axis, dtype=dtype, keepdims=keepdims)
        if np.any(scale == 0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = np.sum(np.multiply(a, weights, dtype=dtype), axis, keepdims=keepdims) / scale
    return (mean, np.broadcast_to(scale, np.shape(mean)).copy()[()]) if returned else mean


def _as_wide(weights: Any, a: Any, axis: Any) -> Any:
    """Weights of the axes that are reduced, as an array that broadcasts with `a`."""
    if weights.ndim == a.ndim:
        if weights.shape != a.shape:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = tuple(k % a.ndim for k in axis) if isinstance(axis, tuple) else (axis % a.ndim,)
    upwards = [k for k in range(a.ndim) if k in axes]
    order = tuple(sum(place if other == k else 0 for place, other in enumerate(axes)) for k in upwards)
    sizes = tuple(a.shape[k] if k in axes else 1 for k in range(a.ndim))
    return np.transpose(weights, order).reshape(sizes)


@written_in_python(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """The covariance of variables in rows, of samples that count several times or with weights."""
    x = _variables(m, y, rowvar, dtype)
    lost = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        x = x - np.mean(x, axis=1)[:, None]
        c = x @ x.T.conj() / max(x.shape[1] - lost, 0)
        return np.squeeze(c) if y is None else c
    w = _sample_weights(fweights, aweights, x.shape[1])
    total = np.sum(w)
    x = x - (np.sum(x * w, axis=1) / total)[:, None]
    if aweights is not None:
        lost = lost * np.sum(w * aweights) / total
    c = x @ (x * w).T.conj() / np.maximum(total - lost, 0)
    return np.squeeze(c) if y is None else c


def _variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """Variables as rows, those of `y` behind those of `m`."""
    if np.ndim(m) > 2 or (y is not None and np.ndim(y) > 2):
        raise ValueError("m has more than 2 dimensions")
    if dtype is None:
        dtype = np.result_type(m, np.float64) if y is None else np.result_type(m, y, np.float64)
    x = np.array(m, dtype=dtype, ndmin=2)
    if not rowvar and np.ndim(m) > 1:
        x = x.T
    if y is None:
        return x
    more = np.array(y, dtype=dtype, ndmin=2)
    return np.concatenate((x, more if rowvar or np.ndim(y) == 1 else more.T))


def _sample_weights(fweights: Any, aweights: Any, n: int) -> Any:
    w = np.ones(n)
    if fweights is not None:
        counts = np.asarray(fweights, np.float64)
        if np.any(counts != np.rint(counts)):
            raise TypeError("fweights must be integer")
        if counts.shape[0] != n:
            raise RuntimeError("incompatible numbers of samples and fweights")
        if np.any(counts < 0):
            raise ValueError("fweights cannot be negative")
        w = w * counts
    if aweights is not None:
        shares = np.asarray(aweights, np.float64)
        if shares.shape[0] != n:
            raise RuntimeError("incompatible numbers of samples and aweights")
        if np.any(shares < 0):
            raise ValueError("aweights cannot be negative")
        w = w * shares
    return w


@written_in_python(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """Correlation coefficients of variables in rows."""
    c = cov(x, y, rowvar, dtype=dtype)
    if np.ndim(c) == 0:
        return c / c
    scale = np.sqrt(np.real(np.diag(c)))
    found = c / scale[:, None] / scale[None, :]
    if found.dtype.kind != "c":
        return np.clip(found, -1, 1)
    return (np.clip(found.real, -1, 1) + 1j * np.clip(found.imag, -1, 1)).astype(found.dtype)
