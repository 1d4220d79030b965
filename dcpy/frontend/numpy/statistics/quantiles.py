"""Quantiles by all of NumPy's methods, as Python functions (see `python_implementations`).

A quantile lies at a position among the sorted elements, a number between two places. The methods differ in the
position, and in how what lies at both places is combined: interpolated, or one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.numpy.statistics.averages_and_covariances import kept, merged

#: methods that interpolate at ``n * q + alpha + q * (1 - alpha - beta) - 1``, by alpha and beta
_OFFSETS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}
DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
METHODS = (*DISCRETE, *_OFFSETS, "linear", "midpoint", "averaged_inverted_cdf")


@written_in_python(np.quantile)
def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The number that a part `q` of the elements do not exceed; NaN where there is one."""
    return quantiles_along(a, part_of_whole(q), axis, method, keepdims, weights)


@written_in_python(np.percentile)
def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The number that `q` percent of the elements do not exceed; NaN where there is one."""
    return quantiles_along(a, part_of_percent(q), axis, method, keepdims, weights)


def part_of_whole(q: Any) -> Any:
    """Parts as numbers from 0 to 1."""
    return _in_range(np.asarray(q) if np.ndim(q) > 0 else q, "Quantiles must be in the range [0, 1]")


def part_of_percent(q: Any) -> Any:
    """The same of percents."""
    return _in_range((np.asarray(q) if np.ndim(q) > 0 else q) / 100, "Percentiles must be in the range [0, 100]")


def _in_range(part: Any, message: str) -> Any:
    if not np.all((part >= 0) & (part <= 1)):
        raise ValueError(message)
    return part


def quantiles_along(a: Any, q: Any, axis: Any, method: str, keepdims: bool, weights: Any) -> Any:
    """The parts `q` of the elements along axes."""
    a = np.asarray(a)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if np.ndim(q) > 2:
        raise ValueError("q must be a scalar or 1d")
    if method not in METHODS:
        raise ValueError("not a valid method")
    if weights is None:
        rows = merged(a, axis)
        found, rows = _discrete(rows, q, method) if _takes_one(q, method) else _interpolated(rows, q, method)
    else:
        rows = merged(a, axis)
        order = np.argsort(rows, axis=0)
        rows = np.take_along_axis(rows, order, 0)
        found = _weighted(rows, np.take_along_axis(_weights_of(weights, a, axis, method), order, 0), q)
    if a.dtype.kind == "f":
        found = np.where(np.isnan(rows[-1]), rows[-1], found)[()]
    return kept(found, a, axis, keepdims, np.ndim(q))


def _takes_one(q: Any, method: str) -> bool:
    """Return whether one element is taken: by discrete methods, and for parts that are integers."""
    return method in DISCRETE or (method == "linear" and np.asarray(q).dtype.kind in "iu")


def _discrete(rows: Any, q: Any, method: str) -> Any:
    """The quantiles, and the rows with the last of them at the end."""
    place = place_of(len(rows), q, method)
    rows = _partitioned(rows, (place,))
    return rows[place] + rows.dtype.type(0), rows


def _partitioned(rows: Any, places: Any) -> Any:
    """Rows in the order of sorted ones at some places, and at the last, where NaN is."""
    return np.partition(rows, np.concatenate([np.ravel(place) for place in (*places, len(rows) - 1)]), axis=0)


def place_of(n: Any, q: Any, method: str) -> Any:
    """The element that a discrete method takes of `n` sorted ones."""
    if method == "linear":
        return (n - 1) * q
    if method == "lower":
        return _integers(np.floor((n - 1) * q))
    if method == "higher":
        return _integers(np.ceil((n - 1) * q))
    if method == "nearest":
        return _integers(np.rint((n - 1) * q))
    position = n * q - 1 if method == "inverted_cdf" else n * q - 1 - 0.5
    low = np.floor(position)
    takes_low = position == low
    if method == "closest_observation":
        takes_low = takes_low & (low % 2 == 1)
    return np.maximum(_integers(np.where(takes_low, low, low + 1)[()]), 0)


def _integers(x: Any) -> Any:
    return x.astype(np.int64)


def position_of(n: Any, q: Any, method: str) -> Any:
    """Return the position of the quantile among `n` sorted elements."""
    if method in _OFFSETS:
        alpha, beta = _OFFSETS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    if method == "averaged_inverted_cdf":
        return n * q - 1
    if method == "midpoint":
        return 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    return (n - 1) * q


def share_of(position: Any, low: Any, method: str) -> Any:
    """Return the weight of the higher neighbour in the quantile."""
    if method == "averaged_inverted_cdf":
        return np.where(position == low, 0.5, 1.0)
    if method == "midpoint":
        return np.where(position == np.floor(position), 0.0, 0.5)
    return position - low


def neighbours(n: Any, position: Any) -> tuple[Any, Any, Any]:
    """The places of both neighbours of a position, which are one at the ends, and the lower one as a number."""
    low = np.floor(position)
    is_last, is_first = position >= n - 1, position < 0
    below = np.where(is_last, n - 1, np.where(is_first, 0, low))
    above = np.where(is_last, n - 1, np.where(is_first, 0, low + 1))
    return _integers(below), _integers(above), low


def _interpolated(rows: Any, q: Any, method: str) -> Any:
    """The quantiles, and the rows with the last of them at the end."""
    position = position_of(len(rows), q, method)
    below, above, low = neighbours(len(rows), position)
    share = np.asarray(share_of(position, low, method), np.asarray(q / 1).dtype)
    share = share.reshape(np.shape(q) + (1,) * (np.ndim(rows) - 1))
    rows = _partitioned(rows, (below, above))
    return between(rows[below], rows[above], _like(share, rows, q)), rows


def _like(share: Any, rows: Any, q: Any) -> Any:
    """The share in the precision of the result: that of the elements, where `q` is a number of Python's own."""
    dtype = np.result_type(rows, q) if rows.dtype.kind == "f" else np.asarray(q / 1).dtype
    return share.astype(dtype)


def between(low: Any, high: Any, share: Any) -> Any:
    """NumPy's interpolation: from the nearer end."""
    distance = high - low
    return np.where(share >= 0.5, high - distance * (1 - share), low + distance * share)[()]


# -- weights ---------------------------------------------------------------------------------------------------------


def _weights_of(weights: Any, a: Any, axis: Any, method: str) -> Any:
    """Weights as `merged` arranges the elements."""
    if method != "inverted_cdf":
        raise ValueError("Only method 'inverted_cdf' supports weights.")
    weights = np.asarray(weights)
    if np.any(weights < 0):
        raise ValueError("Weights must be non-negative.")
    if weights.ndim == a.ndim:
        return merged(weights, axis)
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    order = np.argsort(np.asarray(axis)) if isinstance(axis, tuple) else None
    flat = weights.reshape(-1) if order is None else np.transpose(weights, order).reshape(-1)
    rest = merged(a, axis).shape[1:]
    return np.broadcast_to(flat.reshape(flat.shape + (1,) * len(rest)), flat.shape + rest)


def _weighted(rows: Any, weights: Any, q: Any) -> Any:
    """The first element at which the sum of the weights reaches the part `q` of the whole."""
    sums = np.cumsum(weights, axis=0, dtype=np.float64)
    parts = sums / sums[-1]
    if np.any(np.isnan(parts[-1])):
        raise ValueError("Weights included NaN, inf or were all zero.")
    parts = np.where(parts == 0, -1, parts)  # elements without weight are never the first
    wanted = np.asarray(q, np.float64).reshape(np.shape(q) + (1,) * np.ndim(rows))
    places = np.minimum(np.sum(parts < wanted, axis=np.ndim(q)), len(rows) - 1)
    flat = np.asarray(places).reshape((-1, *rows.shape[1:]))
    return np.take_along_axis(rows, flat, 0).reshape(np.shape(places))[()]
