"""Histograms: ``np.histogram`` and its relatives, as Python functions (see `python_implementations`)."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import Value
from dcpy.frontend.implements import operation
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.python_implementations import written_in_python


@operation
def _refuse_rule(b: OpBuilder) -> Value:
    """The error of rules that choose the number of bins from the data."""
    raise b.error(
        "rules for the number of bins, such as bins='auto', are not supported",
        help="pass a number of bins, or compute edges outside of the program: np.histogram_bin_edges(x, 'auto')",
    )


def _outer_edges(flat: Any, range: Any) -> tuple[float, float]:
    if range is None:
        low, high = (0.0, 1.0) if len(flat) == 0 else (float(np.min(flat)), float(np.max(flat)))
    else:
        low, high = float(range[0]), float(range[1])
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("the range of the bins is not finite")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _require_bins(bins: Any) -> None:
    if isinstance(bins, str):
        _refuse_rule()
    if np.ndim(bins) > 1:
        raise ValueError("`bins` must be 1d, when an array")
    if np.ndim(bins) == 0:
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
    elif np.any(np.asarray(bins)[:-1] > np.asarray(bins)[1:]):
        raise ValueError("`bins` must increase monotonically, when an array")


@written_in_python(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of bins of equal width; those given, where there are some."""
    _require_bins(bins)
    if np.ndim(bins) == 1:
        return np.asarray(bins)
    flat = np.ravel(a)
    low, high = _outer_edges(flat, range)
    return _even_edges(flat, low, high, bins, range)


def _even_edges(flat: Any, low: Any, high: Any, bins: Any, range: Any) -> Any:
    if range is None and flat.dtype.kind == "f" and len(flat) > 0:  # the extrema are numbers of the array's type
        return np.linspace(flat.dtype.type(low), flat.dtype.type(high), bins + 1)
    return np.linspace(low, high, bins + 1, dtype=flat.dtype if flat.dtype.kind == "f" else np.float64)


@written_in_python(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None) -> Any:
    """Counts of elements (or sums of their weights) in bins, and the edges of the bins."""
    flat = np.ravel(a)
    _require_bins(bins)
    low, high = _outer_edges(flat, range) if np.ndim(bins) == 0 else (0.0, 0.0)
    edges = _even_edges(flat, low, high, bins, range) if np.ndim(bins) == 0 else np.asarray(bins)
    count = len(edges) - 1
    if weights is None:
        counts, step = np.zeros(count, np.int64), np.ones(1, np.int64)
    else:
        if np.shape(weights) != np.shape(a):
            raise ValueError("weights should have the same shape as a.")
        step = np.ravel(weights)
        counts = np.zeros(count, step.dtype)
    if np.ndim(bins) == 1:
        _count_between(counts, flat, edges, step)
    else:
        _count_evenly(counts, flat, edges, step, low, high)
    if density:
        return counts / np.diff(edges).astype(np.float64) / np.sum(counts), edges
    return counts, edges


def _count_evenly(counts: Any, flat: Any, edges: Any, step: Any, low: Any, high: Any) -> None:
    """Bins of equal width: the number of the bin is computed, and put right where rounding missed it."""
    bins = len(counts)
    for i in builtins.range(len(flat)):
        x = flat[i]
        if low <= x <= high:
            k = int((x - low) / (high - low) * bins)
            if k >= bins:
                k = bins - 1
            if x < edges[k]:
                k = max(k - 1, 0)
            elif x >= edges[k + 1]:
                k = min(k + 1, bins - 1)
            counts[k] += step[min(i, len(step) - 1)]


def _count_between(counts: Any, flat: Any, edges: Any, step: Any) -> None:
    places = np.searchsorted(edges, flat, "right")
    for i in builtins.range(len(flat)):
        k = places[i] - (1 if flat[i] != edges[-1] else 2)
        if 0 <= k < len(counts) and flat[i] <= edges[-1]:
            counts[k] += step[min(i, len(step) - 1)]


# -- in several dimensions -------------------------------------------------------------------------------------------


@written_in_python(np.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> Any:
    """Counts of points (or sums of their weights) in boxes, and the edges along each dimension."""
    if isinstance(sample, tuple | list):
        dtype = np.result_type(*sample)
        columns = [np.ravel(column).astype(dtype) for column in sample]
    elif np.ndim(sample) == 1:
        columns = [sample]
    else:
        known = len(bins) if isinstance(bins, tuple | list) else sample.shape[1]
        columns = [sample[:, k] for k in builtins.range(known)]
    rank = len(columns)
    every = bins if isinstance(bins, tuple | list) else [bins] * rank
    spans = [None] * rank if range is None else range
    if len(every) != rank:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if len(spans) != rank:
        raise ValueError("range argument must have one entry per dimension")
    edges = [_edges_along(columns[k], every[k], spans[k]) for k in builtins.range(rank)]
    places = [_bins_of(columns[k], edges[k]) for k in builtins.range(rank)]
    counts = np.zeros(tuple(len(along) - 1 for along in edges))
    for i in builtins.range(len(columns[0])):
        box = tuple(along[i] for along in places)
        if min(box) >= 0:
            counts[box] += 1.0 if weights is None else weights[i]
    if density:
        total = np.sum(counts)
        for k, along in enumerate(edges):
            counts = counts / np.diff(along).reshape(tuple(-1 if k == other else 1 for other in builtins.range(rank)))
        counts = counts / total
    return counts, edges


def _edges_along(column: Any, bins: Any, range: Any) -> Any:
    _require_bins(bins)
    if np.ndim(bins) == 1:
        return np.asarray(bins)
    low, high = _outer_edges(column, range)
    if range is None and column.dtype.kind == "f" and len(column) > 0:
        return _even_edges(column, low, high, bins, range)
    is_short = range is None and column.dtype.kind == "f" and column.dtype.itemsize < 8
    return np.linspace(low, high, bins + 1, dtype=column.dtype if is_short else np.float64)


def _bins_of(column: Any, edges: Any) -> Any:
    """The number of the bin of each element; -1 outside."""
    places = np.searchsorted(edges, column, "right") - 1
    places = np.where(column == edges[-1], places - 1, places)
    return np.where(places < len(edges) - 1, places, -1)


@written_in_python(np.histogram2d)
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> Any:
    """Counts of points of a plane in rectangles, and the edges along both dimensions."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        raise ValueError("x and y must be vectors")
    if np.ndim(bins) == 1 and len(bins) > 2:
        bins = (bins, bins)
    counts, edges = histogramdd((x, y), bins, range, density, weights)
    return counts, edges[0], edges[1]
