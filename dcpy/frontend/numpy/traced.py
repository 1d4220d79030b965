"""NumPy functions whose implementation is a Python function: the frontend lowers its body like a user's.

What is written here is a program of dcpy's own: it uses what programs may use, decides by dtypes and ranks (which are
known), and is read best beside NumPy's documentation. Sorting and statistics; solvers are in `solvers`.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.numpy.defaults import LAST_AXIS, NONE
from dcpy.frontend.values import Static, Value

Body = Callable[..., Any]


def written_in_python(*functions: Any, methods: tuple[str, ...] = ()) -> Callable[[Body], Body]:
    """Registers the body as the implementation of functions of the same signature, and of methods of arrays."""

    def register(body: Body) -> Body:
        def call(b: Builder, *args: Value, **keywords: Value) -> Value:
            return b.call(Static(body), *args, **keywords)

        signature = inspect.signature(body)
        first = inspect.Parameter("_builder", inspect.Parameter.POSITIONAL_ONLY)
        plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
        call.__signature__ = signature.replace(parameters=[first, *plain])  # type: ignore[attr-defined]
        implements(*functions)(call)
        if methods:
            method(*methods)(call)
        return body

    return register


# -- sorting and searching -------------------------------------------------------------------------------------------


def _merge_sort(values: Any, order: Any) -> None:
    """Sorts a vector in place, stably; `order` is permuted alike."""
    n = len(values)
    spare = np.empty_like(values)
    spare_order = np.empty_like(order)
    width = 1
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            i = start
            j = middle
            for k in range(start, stop):
                x, y = values[min(i, n - 1)], values[min(j, n - 1)]
                smaller = (y < x) | ((x != x) & (y == y))  # NaN is last
                if (i >= middle) | ((j < stop) & smaller):
                    spare[k] = values[j]
                    spare_order[k] = order[j]
                    j += 1
                else:
                    spare[k] = values[i]
                    spare_order[k] = order[i]
                    i += 1
            start = stop
        values[:] = spare
        order[:] = spare_order
        width *= 2


@written_in_python(np.sort)
def sort(a: Any, axis: int | None = -1, kind: Any = None) -> Any:
    """A sorted copy along an axis."""
    if axis is None:
        a, axis = np.ravel(a), 0
    moved = np.array(np.moveaxis(np.asarray(a), axis, -1))
    flat, n = moved.reshape(-1), moved.shape[-1]
    for k in range(moved.size // max(n, 1)):
        _merge_sort(flat[k * n : (k + 1) * n], np.empty(n, np.int64))
    return np.moveaxis(moved, -1, axis)


@method("sort")
def sort_in_place(b: Builder, a: Value, axis: Value = LAST_AXIS, kind: Value = NONE) -> Value:
    """The array itself sorted along an axis."""
    target = b.array(a)
    b.store(target, b.call(Static(sort), target, axis))
    return NONE


@written_in_python(np.argsort, methods=("argsort",))
def argsort(a: Any, axis: int = -1, kind: Any = None) -> Any:
    """The order that sorts, stably."""
    moved = np.array(np.moveaxis(np.asarray(a), axis, -1))
    order = np.empty(moved.shape, np.int64)
    order[...] = np.arange(moved.shape[-1])
    flat, orders, n = moved.reshape(-1), order.reshape(-1), moved.shape[-1]
    for k in range(moved.size // max(n, 1)):
        _merge_sort(flat[k * n : (k + 1) * n], orders[k * n : (k + 1) * n])
    return np.moveaxis(order, -1, axis)


@written_in_python(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    """Where to insert numbers into a sorted vector."""
    places = np.empty(np.shape(v), np.int64)
    flat, wanted = places.reshape(-1), np.asarray(v).reshape(-1)
    for k in range(len(wanted)):
        low, high = 0, len(a)
        while low < high:
            middle = (low + high) // 2
            x, y = a[middle], wanted[k]
            before = (x < y) | ((y != y) & (x == x))  # NaN is last
            after = (y < x) | ((x != x) & (y == y))
            if before if side == "left" else not after:
                low = middle + 1
            else:
                high = middle
        flat[k] = low
    return places if np.ndim(v) > 0 else flat[0]


@written_in_python(np.isin)
def isin(element: Any, test_elements: Any) -> Any:
    """Whether elements are among some numbers."""
    return np.any(np.asarray(element)[..., None] == np.ravel(test_elements), axis=-1)


# -- statistics ------------------------------------------------------------------------------------------------------


def _nan_where(test: Any, value: Any) -> Any:
    """`value` with NaN where the test holds; a number where it is one."""
    return np.where(test, np.nan, value)[()]


@written_in_python(np.median)
def median(
    a: Any, axis: int | None = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The middle of the sorted elements, or the mean of the two in the middle; NaN where there is one."""
    assert out is None, "np.median takes no out="
    ordered = np.sort(a, axis)
    place = 0 if axis is None else axis
    n = ordered.shape[place]
    rows = np.moveaxis(ordered, place, 0)
    middle = np.mean(rows[(n - 1) // 2 : n // 2 + 1], axis=0)
    result = _nan_where(np.isnan(np.sum(rows[max(n - 1, 0) :], axis=0)), middle)  # NaN is last
    return np.expand_dims(result, place) if keepdims else result


@written_in_python(np.average)
def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    """The mean, of elements with weights."""
    if weights is None:
        return np.mean(a, axis)
    if np.ndim(weights) != np.ndim(a) and axis is not None:
        shape = tuple(np.shape(weights)[0] if k == axis % np.ndim(a) else 1 for k in range(np.ndim(a)))
        weights = np.broadcast_to(np.reshape(weights, shape), np.shape(a))
    scale = np.sum(np.asarray(weights, np.result_type(a, weights, np.float64)), axis)
    return np.sum(np.multiply(a, weights), axis) / scale


@written_in_python(np.nansum)
def nansum(a: Any, axis: Any = None) -> Any:
    """The sum without NaN."""
    return np.sum(np.where(np.isnan(a), 0, a), axis)


@written_in_python(np.nanmean)
def nanmean(a: Any, axis: Any = None) -> Any:
    """The mean without NaN."""
    return nansum(a, axis) / np.sum(~np.isnan(a), axis)


@written_in_python(np.nanmax)
def nanmax(a: Any, axis: Any = None) -> Any:
    """The maximum without NaN."""
    missing = np.isnan(a)
    return _nan_where(np.all(missing, axis), np.max(np.where(missing, -np.inf, a), axis))


@written_in_python(np.nanmin)
def nanmin(a: Any, axis: Any = None) -> Any:
    """The minimum without NaN."""
    missing = np.isnan(a)
    return _nan_where(np.all(missing, axis), np.min(np.where(missing, np.inf, a), axis))


@written_in_python(np.cov)
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> Any:
    """The covariance of variables in rows."""
    x = np.array(m, dtype=np.result_type(m, np.float64), ndmin=2)
    if not rowvar and np.ndim(m) > 1:
        x = x.T
    if y is not None:
        more = np.array(y, dtype=x.dtype, ndmin=2)
        x = np.concatenate((x, more if rowvar or np.ndim(y) == 1 else more.T))
    lost = (0 if bias else 1) if ddof is None else ddof
    x = x - np.mean(x, axis=1)[:, None]
    result = x @ np.conj(x.T) / max(x.shape[1] - lost, 0)
    return np.squeeze(result)


@written_in_python(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """Correlation coefficients of variables in rows."""
    c = cov(x, y, rowvar)
    if np.ndim(c) == 0:
        return c / c
    scale = np.sqrt(np.real(np.diag(c)))
    return np.clip(c / scale[:, None] / scale[None, :], -1, 1)


def _outer_edges(flat: Any, range: Any) -> tuple[float, float]:
    if range is None:
        low, high = (0.0, 1.0) if len(flat) == 0 else (float(np.min(flat)), float(np.max(flat)))
    else:
        low, high = float(range[0]), float(range[1])
    if low == high:
        low, high = low - 0.5, high + 0.5
    return low, high


@written_in_python(np.histogram)
def histogram(a: Any, bins: int = 10, range: Any = None, density: bool | None = None, weights: Any = None) -> Any:
    """Counts of elements (or sums of their weights) in bins of equal width, and the edges of the bins."""
    flat = np.ravel(a)
    low, high = _outer_edges(flat, range)
    edges = np.linspace(low, high, bins + 1, dtype=flat.dtype if flat.dtype.kind == "f" else np.float64)
    if weights is None:
        counts, step = np.zeros(bins, np.int64), np.ones(1, np.int64)
    else:
        if np.shape(weights) != np.shape(a):
            raise ValueError("weights should have the same shape as a.")
        step = np.ravel(weights)
        counts = np.zeros(bins, step.dtype)
    for i in builtins.range(len(flat)):
        x = flat[i]
        if low <= x <= high:
            k = int((x - low) / (high - low) * bins)
            if k == bins:
                k -= 1
            if x < edges[k]:
                k -= 1
            elif x >= edges[k + 1] and k != bins - 1:
                k += 1
            counts[k] += step[0 if weights is None else i]
    if density:
        return counts / np.diff(edges) / np.sum(counts), edges
    return counts, edges
