"""Set routines: the distinct elements of one or two vectors, sorted.

Sizes are known at run time only (see `boolean_indexing`). The work is in bodies that are lowered like a user's (see
`python_implementations`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import Static, TupleValue, Value
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, TRUE
from dcpy.frontend.numpy.python_implementations import call_body
from dcpy.frontend.numpy.result_memory_order import lying_in_c_order


@implements(np.unique)
def unique(
    b: OpBuilder,
    ar: Value,
    return_index: Value = FALSE,
    return_inverse: Value = FALSE,
    return_counts: Value = FALSE,
    axis: Value = NONE,
    *,
    equal_nan: Value = TRUE,
    sorted: Value = TRUE,
) -> Value:
    """The different elements, sorted; on request where each occurs first, which one each is, how often each occurs."""
    if axis != NONE:
        return call_body(b, _unique_rows, b.array(ar), return_index, return_inverse, return_counts, axis)
    return b.call(Static(_unique), b.array(ar), return_index, return_inverse, return_counts, equal_nan)


def _unique(a: Any, return_index: Any, return_inverse: Any, return_counts: Any, equal_nan: Any) -> Any:
    flat = np.ravel(a)
    order = np.argsort(flat) if return_index or return_inverse else np.empty(0, np.int64)
    values = flat[order] if return_index or return_inverse else np.sort(flat)
    starts = np.ones(len(flat), np.bool_)  # where the next element starts, among equal ones
    starts[1:] = values[1:] != values[:-1]
    if equal_nan:
        starts[1:] &= (values[1:] == values[1:]) | (values[:-1] == values[:-1])
    places = np.flatnonzero(starts)
    return _results(values[places], order, starts, places, a.shape, return_index, return_inverse, return_counts)


def _results(
    found: Any, order: Any, starts: Any, places: Any, shape: Any, return_index: Any, return_inverse: Any,
    return_counts: Any,
) -> Any:  # fmt: skip
    """The different elements, and what was asked for: where each is first, which one each is, how many there are."""
    if not (return_index or return_inverse or return_counts):
        return found
    results: Any = (found,)
    if return_index:
        results += (order[places],)
    if return_inverse:
        inverse = np.empty(len(starts), np.int64)
        inverse[order] = np.cumsum(starts) - 1
        results += (inverse.reshape(shape),)
    if return_counts:
        counts = np.empty(len(places), np.int64)
        for k in range(len(places)):
            counts[k] = (places[k + 1] if k + 1 < len(places) else len(starts)) - places[k]
        results += (counts,)
    return results


def _unique_rows(a: Any, return_index: Any, return_inverse: Any, return_counts: Any, axis: int) -> Any:
    """The different slices along an axis, in the order of their elements."""
    moved = np.array(np.moveaxis(a, axis, 0))
    rows = moved.reshape((len(moved), -1))
    order = np.arange(len(rows))
    for k in range(rows.shape[1]):
        order = order[np.argsort(rows[order, rows.shape[1] - 1 - k])]
    starts = np.ones(len(rows), np.bool_)
    starts[1:] = np.any(rows[order[1:]] != rows[order[:-1]], axis=1)
    places = np.flatnonzero(starts)
    found = np.moveaxis(lying_in_c_order(moved[order[places]]), 0, axis)
    return _results(found, order, starts, places, (len(rows),), return_index, return_inverse, return_counts)


@implements(np.unique_values)
def unique_values(b: OpBuilder, x: Value) -> Value:
    """The different elements, sorted."""
    return b.call(Static(_unique), b.array(x), FALSE, FALSE, FALSE, FALSE)


def _named(found: Value, *names: str) -> Value:
    assert isinstance(found, TupleValue)
    return TupleValue(found.items, names=names)


@implements(np.unique_counts)
def unique_counts(b: OpBuilder, x: Value) -> Value:
    """The different elements, sorted, and how often each occurs."""
    return _named(b.call(Static(_unique), b.array(x), FALSE, FALSE, TRUE, FALSE), "values", "counts")


@implements(np.unique_inverse)
def unique_inverse(b: OpBuilder, x: Value) -> Value:
    """The different elements, sorted, and which one each element is."""
    return _named(b.call(Static(_unique), b.array(x), FALSE, TRUE, FALSE, FALSE), "values", "inverse_indices")


@implements(np.unique_all)
def unique_all(b: OpBuilder, x: Value) -> Value:
    """The different elements, sorted; where each occurs first, which one each element is, how often each occurs."""
    found = b.call(Static(_unique), b.array(x), TRUE, TRUE, TRUE, FALSE)
    return _named(found, "values", "indices", "inverse_indices", "counts")


@implements(np.union1d)
def union1d(b: OpBuilder, ar1: Value, ar2: Value) -> Value:
    """Return the values that occur in either array."""
    return b.call(Static(_union), ar1, ar2)


def _union(x: Any, y: Any) -> Any:
    return np.unique(np.concatenate((x, y), axis=None))  # where a Python number takes the dtype of the other


@implements(np.intersect1d)
def intersect1d(
    b: OpBuilder, ar1: Value, ar2: Value, assume_unique: Value = FALSE, return_indices: Value = FALSE
) -> Value:
    """Return the values that occur in both arrays."""
    if return_indices != FALSE:
        return call_body(b, _intersection_with_places, ar1, ar2, assume_unique)
    return b.call(Static(_intersection), ar1, ar2, assume_unique)


def _intersection(x: Any, y: Any, assume_unique: Any) -> Any:
    if assume_unique:
        both = np.sort(np.concatenate((np.ravel(x), np.ravel(y))))
    else:
        both = np.sort(np.concatenate((np.unique(x), np.unique(y))))
    return both[:-1][both[1:] == both[:-1]]


def _intersection_with_places(x: Any, y: Any, assume_unique: Any) -> Any:
    """Return the values that occur in both arrays, and their first positions in each."""
    if assume_unique:
        left, right = np.ravel(x), np.ravel(y)
        first, second = np.arange(len(left)), np.arange(len(right))
    else:
        left, first = np.unique(x, return_index=True)
        right, second = np.unique(y, return_index=True)
    both = np.concatenate((left, right))
    order = np.argsort(both)
    ordered = both[order]
    places = np.flatnonzero(ordered[1:] == ordered[:-1])
    return ordered[places], first[order[places]], second[order[places + 1] - len(left)]


@implements(np.setdiff1d)
def setdiff1d(b: OpBuilder, ar1: Value, ar2: Value, assume_unique: Value = FALSE) -> Value:
    """Return the values that occur in the first array only; with `assume_unique` in its order."""
    return b.call(Static(_difference), ar1, ar2, assume_unique)


def _difference(x: Any, y: Any, assume_unique: Any) -> Any:
    first = np.ravel(x) if assume_unique else np.unique(x)
    return first[~np.isin(first, y)]


@implements(np.setxor1d)
def setxor1d(b: OpBuilder, ar1: Value, ar2: Value, assume_unique: Value = FALSE) -> Value:
    """Return the values that occur in just one of the arrays."""
    return b.call(Static(_either), ar1, ar2, assume_unique)


def _either(x: Any, y: Any, assume_unique: Any) -> Any:
    if assume_unique:
        both = np.sort(np.concatenate((np.ravel(x), np.ravel(y))))
    else:
        both = np.sort(np.concatenate((np.unique(x), np.unique(y))))
    alone = np.ones(len(both) + 1, np.bool_)  # differs from the one before
    alone[1:-1] = both[1:] != both[:-1]
    return both[alone[1:] & alone[:-1]]
