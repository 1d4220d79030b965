"""Sort and search: sorting, positions in sorted arrays, membership. Python functions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import Static, Value
from dcpy.frontend.implements import method, operation
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import LAST_AXIS, NONE
from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.ir import types
from dcpy.ir.subsets import Subset
from dcpy.ir.types import DType

INTROSELECT = Static("introselect")


def _require_one_kind(kind: Any, stable: bool | None) -> None:
    if kind is not None and stable is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")


@operation
def sorted_rows(b: OpBuilder, matrix: Value) -> Value:
    """Each row of a matrix of real numbers sorted, in a new array."""
    return _of_rows(b, "sort", matrix, b.array(matrix).dtype)


@operation
def orders_of_rows(b: OpBuilder, matrix: Value) -> Value:
    """The order that sorts each row of a matrix of real numbers, stably."""
    return _of_rows(b, "argsort", matrix, types.int64)


@operation
def rows_by_ranks(b: OpBuilder, matrix: Value, ranks: Value) -> Value:
    """Each row of a matrix of real numbers with the elements of some ranks in their places, in a new array."""
    return _of_rows(b, "partition", matrix, b.array(matrix).dtype, ranks=b.array(ranks))


def _of_rows(b: OpBuilder, kind: str, matrix: Value, dtype: DType, **others: Any) -> Value:
    x = b.array(matrix)
    out = b.empty([b.exact(size) for size in x.shape], dtype)
    rows = replace(out, shape=x.shape, window=Subset.whole(x.shape))  # spelled as the operand's are
    b.library(kind, {"x": x, **others}, {"out": rows})
    return out


def _as_rows(a: Any) -> Any:
    return a.reshape((a.size // max(a.shape[-1], 1), a.shape[-1]))


@written_in_python(np.sort)
def sort(a: Any, axis: int | None = -1, kind: Any = None, *, stable: bool | None = None) -> Any:
    """A sorted copy along an axis, the same for all kinds."""
    _require_one_kind(kind, stable)
    if axis is None:
        a, axis = np.ravel(a), 0
    if np.iscomplexobj(a):
        return np.take_along_axis(np.asarray(a), np.argsort(a, axis), axis)
    moved = np.moveaxis(np.asarray(a), axis, -1)
    return np.moveaxis(sorted_rows(_as_rows(moved)).reshape(moved.shape), -1, axis)


@method("sort")
def sort_in_place(
    b: OpBuilder, a: Value, axis: Value = LAST_AXIS, kind: Value = NONE, *, stable: Value = NONE
) -> Value:
    """The array itself sorted along an axis."""
    target = b.array(a)
    b.store(target, b.call(Static(sort), target, axis))
    return NONE


@written_in_python(np.argsort, methods=("argsort",))
def argsort(a: Any, axis: int | None = -1, kind: Any = None, *, stable: bool | None = None) -> Any:
    """The order that sorts, stably."""
    _require_one_kind(kind, stable)
    if axis is None or np.ndim(a) == 0:
        a, axis = np.ravel(a), 0
    a = np.asarray(a)
    if not np.iscomplexobj(a):
        return _order(a, axis)
    order = _order(a.imag, axis)
    for key in (a.real, 2 * np.isnan(a.real) + np.isnan(a.imag)):  # NaN is last, a real part that is NaN last of all
        again = _order(np.take_along_axis(key, order, axis), axis)
        order = np.take_along_axis(order, again, axis)
    return order


def _order(reals: Any, axis: int) -> Any:
    moved = np.moveaxis(reals, axis, -1)
    return np.moveaxis(orders_of_rows(_as_rows(moved)).reshape(moved.shape), -1, axis)


@written_in_python(np.partition)
def partition(a: Any, kth: Any, axis: int | None = -1, kind: Any = "introselect") -> Any:
    """A copy with the elements at places `kth` where sorting puts them, smaller ones before and larger ones behind."""
    if axis is None:
        a, axis = np.ravel(a), 0
    a = np.asarray(a)
    if np.iscomplexobj(a):
        found = np.sort(a, axis)
        _require_places(kth, found.shape[axis])
        return found
    moved = np.moveaxis(a, axis, -1)
    n = moved.shape[-1]
    _require_places(kth, n)
    ranks = np.ravel(np.asarray(kth)).astype(np.int64)
    found = rows_by_ranks(_as_rows(moved), np.where(ranks < 0, ranks + n, ranks))
    return np.moveaxis(found.reshape(moved.shape), -1, axis)


@method("partition")
def partition_in_place(b: OpBuilder, a: Value, kth: Value, axis: Value = LAST_AXIS, kind: Value = INTROSELECT) -> Value:
    """The array itself partitioned along an axis."""
    target = b.array(a)
    b.store(target, b.call(Static(partition), target, kth, axis))
    return NONE


@written_in_python(np.argpartition, methods=("argpartition",))
def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: Any = "introselect") -> Any:
    """The order that partitions: the one that sorts."""
    found = np.argsort(a, axis)
    _require_places(kth, found.shape[-1 if axis is None else axis])
    return found


def _require_places(kth: Any, n: int) -> None:
    places = np.asarray(kth)
    if places.dtype.kind == "b":
        raise ValueError("Booleans unacceptable as partition index")
    if places.dtype.kind not in "iu":
        raise TypeError("Partition index must be integer")
    if n > 0 and not np.all((places >= -n) & (places < n)):
        raise ValueError("kth out of bounds")


@written_in_python(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    """The order that sorts by several keys, the last one first."""
    for key in keys[1:]:
        if np.shape(key) != np.shape(keys[0]):
            raise ValueError("all keys need to be the same shape")
    if np.ndim(keys[0]) == 0:
        return np.int64(0)
    order = np.argsort(keys[0], axis)
    for key in keys[1:]:
        again = np.argsort(np.take_along_axis(np.asarray(key), order, axis), axis)
        order = np.take_along_axis(order, again, axis)
    return order


@written_in_python(np.sort_complex)
def sort_complex(a: Any) -> Any:
    """A sorted copy, as complex numbers."""
    found = np.sort(a)
    if found.dtype.kind == "c":
        return found
    is_short = found.dtype.kind in "iu" and found.dtype.itemsize < 4
    return found.astype(np.complex64 if is_short else np.complex128)


# -- searching -------------------------------------------------------------------------------------------------------


@written_in_python(np.searchsorted, methods=("searchsorted",))
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Return the positions at which to insert numbers into a sorted vector (or one that `sorter` sorts)."""
    if side != "left" and side != "right":
        raise ValueError("search side must be 'left' or 'right'")
    a = np.asarray(a)
    if a.ndim != 1:
        raise ValueError("object too deep for desired array")
    places = np.empty(np.shape(v), np.int64)
    flat, wanted = places.reshape(-1), np.asarray(v).reshape(-1)
    rises, low = np.all(wanted[1:] >= wanted[:-1]), 0
    for k in range(len(wanted)):
        y, high = wanted[k], len(a)
        low = low if rises else 0  # the last place is no larger; else searches are independent, and overlap
        while low < high:
            middle = (low + high) // 2
            x = a[middle if sorter is None else sorter[middle]]
            before = (x < y) | ((y != y) & (x == x))  # NaN is last
            after = (y < x) | ((x != x) & (y == y))
            if before if side == "left" else not after:
                low = middle + 1
            else:
                high = middle
        flat[k] = low
    return places if np.ndim(v) > 0 else flat[0]


@written_in_python(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The numbers of the bins that elements are in; `bins` rise or fall."""
    edges = np.asarray(bins)
    if np.iscomplexobj(x):
        raise TypeError("x may not be complex")
    rises = np.all(edges[1:] >= edges[:-1])
    if not (rises or np.all(edges[1:] <= edges[:-1])):
        raise ValueError("bins must be monotonically increasing or decreasing")
    places = np.searchsorted(np.where(rises, edges, edges[::-1]), x, "left" if right else "right")
    return np.where(rises, places, len(edges) - places)[()]


def _are_integers(a: Any, b: Any) -> Any:
    """Return whether both arrays, and what they have in common, are of integers."""
    return a.dtype.kind in "iu" and b.dtype.kind in "iu" and np.result_type(a, b).kind in "iu"


def _lie_close(numbers: Any, most: Any) -> Any:
    """Return whether a table from the smallest to the largest integer has at most so many places."""
    return float(np.max(numbers)) - float(np.min(numbers)) < most


@written_in_python(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> Any:
    """Return whether elements are among some numbers."""
    values, numbers = np.asarray(element), np.ravel(test_elements)
    found = np.full(values.shape, invert, np.bool_)
    if len(numbers) > 0:
        if _are_integers(values, numbers) and _lie_close(numbers, 6 * (values.size + numbers.size)):
            low, high = np.min(numbers), np.max(numbers)
            first = low.astype(np.int64)  # differences are right in 64 bits, also where these wrap
            table = np.full(high.astype(np.int64) - first + 1, invert, np.bool_)
            table[numbers.astype(np.int64) - first] = not invert
            inside = (values >= low) & (values <= high)
            found[...] = np.where(inside, table[np.where(inside, values, low).astype(np.int64) - first], invert)
        else:
            ordered = np.sort(numbers)
            places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
            found[...] = ordered[places] != values if invert else ordered[places] == values
    return found
