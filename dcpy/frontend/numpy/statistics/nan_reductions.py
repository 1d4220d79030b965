"""NaN reductions: ``np.nansum`` and its relatives, which leave out NaN, as Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.numpy.result_memory_order import lying_as_a_copy
from dcpy.frontend.numpy.statistics.averages_and_covariances import kept, merged, nan_where
from dcpy.frontend.numpy.statistics.quantiles import (
    DISCRETE,
    METHODS,
    between,
    neighbours,
    part_of_percent,
    part_of_whole,
    place_of,
    position_of,
    quantiles_along,
    share_of,
)


def _may_be_nan(a: Any) -> bool:
    return np.asarray(a).dtype.kind in "fc"


def _without_nan(a: Any, instead: Any) -> Any:
    """The array with another number where NaN is."""
    a = np.asarray(a)
    return lying_as_a_copy(np.where(np.isnan(a), a.dtype.type(instead), a), a) if _may_be_nan(a) else a


# -- sums ------------------------------------------------------------------------------------------------------------


@written_in_python(np.nansum)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> Any:  # fmt: skip
    """The sum without NaN."""
    return np.sum(_without_nan(a, 0), axis, dtype, None, keepdims, initial, where)


@written_in_python(np.nanprod)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> Any:  # fmt: skip
    """The product without NaN."""
    return np.prod(_without_nan(a, 1), axis, dtype, None, keepdims, initial, where)


@written_in_python(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums; NaN counts as 0."""
    return np.cumsum(_without_nan(a, 0), axis, dtype)


@written_in_python(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running products; NaN counts as 1."""
    return np.cumprod(_without_nan(a, 1), axis, dtype)


# -- means and deviations --------------------------------------------------------------------------------------------


def _count(a: Any, axis: Any, keepdims: bool, where: Any) -> Any:
    return np.sum(~np.isnan(a), axis, keepdims=keepdims, where=where)


@written_in_python(np.nanmean)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """The mean without NaN; NaN where there is nothing else."""
    if not _may_be_nan(a):
        return np.mean(a, axis, dtype, None, keepdims, where=where)
    total = np.sum(_without_nan(a, 0), axis, dtype, None, keepdims, where=where)
    return (total / _count(a, axis, keepdims, where)).astype(total.dtype)


@written_in_python(np.nanvar)
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    """The variance without NaN; NaN where too little is left."""
    if not _may_be_nan(a):
        return np.var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    lost = ddof if correction is None else correction
    known = ~np.isnan(a)
    middle = nanmean(a, axis, dtype, keepdims=True, where=where) if mean is None else mean
    distance = np.where(known, np.asarray(a) - middle, middle.dtype.type(0))
    squares = (distance * np.conj(distance)).real
    total = np.sum(squares, axis, keepdims=keepdims, where=where)
    left = np.sum(known, axis, keepdims=keepdims, where=where) - lost
    return nan_where(left <= 0, (total / left).astype(total.dtype))


@written_in_python(np.nanstd)
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    """The square root of the variance without NaN."""
    return np.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction))


# -- extremes --------------------------------------------------------------------------------------------------------


@written_in_python(np.nanmin)
def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The minimum without NaN; NaN where there is nothing else."""
    if not _may_be_nan(a):
        return np.min(a, axis, None, keepdims, initial, where)
    least = np.min(_without_nan(a, np.inf), axis, None, keepdims, initial, where)
    return least if initial is not None else _nan_without_numbers(a, axis, keepdims, least, np.inf)


@written_in_python(np.nanmax)
def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The maximum without NaN; NaN where there is nothing else."""
    if not _may_be_nan(a):
        return np.max(a, axis, None, keepdims, initial, where)
    largest = np.max(_without_nan(a, -np.inf), axis, None, keepdims, initial, where)
    return largest if initial is not None else _nan_without_numbers(a, axis, keepdims, largest, -np.inf)


def _nan_without_numbers(a: Any, axis: Any, keepdims: bool, extremum: Any, instead: Any) -> Any:
    """The extremum, or NaN where all elements are NaN: only where it is `instead`, what NaN counted as, may that be."""
    if axis is not None or keepdims:
        return nan_where(np.all(np.isnan(a), axis, keepdims=keepdims), extremum)
    if extremum == instead:
        extremum = nan_where(np.all(np.isnan(a)), extremum)
    return extremum


@written_in_python(np.nanargmin)
def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The position of the minimum without NaN."""
    _require_number(a, axis)
    return np.argmin(_without_nan(a, np.inf), axis, keepdims=keepdims)


@written_in_python(np.nanargmax)
def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The position of the maximum without NaN."""
    _require_number(a, axis)
    return np.argmax(_without_nan(a, -np.inf), axis, keepdims=keepdims)


def _require_number(a: Any, axis: Any) -> None:
    if _may_be_nan(a) and np.any(np.all(np.isnan(a), axis)):
        raise ValueError("All-NaN slice encountered")


# -- order -----------------------------------------------------------------------------------------------------------


@written_in_python(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The middle of the sorted elements without NaN; NaN where there is nothing else."""
    if not _may_be_nan(a):
        return np.median(a, axis, keepdims=keepdims)
    rows = _sorted(a, axis)
    n = np.sum(~np.isnan(rows), axis=0, keepdims=True)
    low = np.take_along_axis(rows, np.maximum(n - 1, 0) // 2, 0)[0]
    high = np.take_along_axis(rows, np.minimum(n // 2, len(rows) - 1), 0)[0]
    return kept(nan_where(n[0] == 0, np.mean(np.stack((low, high)), axis=0)), a, axis, keepdims)


@written_in_python(np.nanquantile)
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The number that a part `q` of the elements that are not NaN do not exceed."""
    return _along_numbers(a, part_of_whole(q), axis, method, keepdims, weights)


@written_in_python(np.nanpercentile)
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The number that `q` percent of the elements that are not NaN do not exceed."""
    return _along_numbers(a, part_of_percent(q), axis, method, keepdims, weights)


def _along_numbers(a: Any, q: Any, axis: Any, method: str, keepdims: bool, weights: Any) -> Any:
    """Quantiles of rows of different lengths: NaN is sorted to the end, and each row counts what comes before."""
    if not _may_be_nan(a):
        return quantiles_along(a, q, axis, method, keepdims, weights)
    if np.asarray(a).dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if method not in METHODS:
        raise ValueError("not a valid method")
    if weights is not None:
        raise TypeError("weights of elements that may be NaN are not supported")
    rows = _sorted(a, axis)
    n = np.sum(~np.isnan(rows), axis=0)
    wanted = np.asarray(q).reshape(np.shape(q) + (1,) * np.ndim(n))
    if method in DISCRETE:
        found = _at(rows, place_of(n, wanted, method))
    else:
        position = position_of(n, wanted, method)
        below, above, low = neighbours(n, position)
        share = np.asarray(share_of(position, low, method)).astype(np.result_type(rows, q))
        found = between(_at(rows, below), _at(rows, above), share)
    result = np.where(n == 0, np.nan, found)
    return kept(result.reshape(np.shape(q) + np.shape(n))[()], a, axis, keepdims, np.ndim(q))


def _sorted(a: Any, axis: Any) -> Any:
    """The elements in order, NaN last; a row of NaN more, so that there is one."""
    rows = np.sort(merged(a, axis), axis=0)
    return np.concatenate((rows, np.full((1, *rows.shape[1:]), np.nan, rows.dtype)))


def _at(rows: Any, places: Any) -> Any:
    """The elements at one place of each column, for several such places."""
    within = np.clip(places, 0, len(rows) - 1)
    flat = within.reshape((-1, *rows.shape[1:]))
    return np.take_along_axis(rows, flat, 0).reshape(np.shape(places))
