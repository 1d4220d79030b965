"""Adding and removing elements: ``insert``, ``delete``, ``resize``, ``trim_zeros``, as Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.frontend.numpy.python_implementations import call_body, written_in_python

BOTH_SIDES = Static("fb")


_SIDES = ("fb", "bf", "f", "b", "FB", "BF", "F", "B", "Fb", "fB", "bF", "Bf")


@written_in_python(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """The elements over and over in an array of another shape."""
    flat = np.ravel(a)
    result = np.zeros(new_shape, flat.dtype)
    out = result.reshape(-1)
    if len(flat) > 0:
        for k in range(len(out)):
            out[k] = flat[k % len(flat)]
    return result


@written_in_python(np.delete)
def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """The array without the slices at some positions along an axis (of the flat array, by default)."""
    source = np.ravel(arr) if axis is None else np.moveaxis(np.asarray(arr), axis, 0)
    n, place = len(source), 0 if axis is None else axis % np.ndim(arr)
    if not isinstance(obj, slice) and np.shape(obj) == (0,) and np.asarray(obj).dtype.kind == "f":  # an empty list
        obj = np.asarray(obj).astype(np.int64)
    if isinstance(obj, int | np.integer) and not isinstance(obj, bool):
        if obj < -n or obj >= n:
            raise IndexError(f"index {obj} is out of bounds for axis {place} with size {n}")
        at = obj + n if obj < 0 else obj
        found = np.concatenate((source[:at], source[at + 1 :]))
    else:
        keep = np.ones(n, np.bool_)
        if not isinstance(obj, slice) and np.asarray(obj).dtype.kind == "b" and np.shape(obj) != (n,):
            raise ValueError(
                f"boolean array argument obj to delete must be one dimensional and match the axis length of {n}"
            )
        keep[obj] = False
        found = source[keep]
    return found if axis is None else np.moveaxis(found, 0, axis)


@written_in_python(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """The array with values before some positions along an axis (of the flat array, by default)."""
    source = np.ravel(arr) if axis is None else np.moveaxis(np.asarray(arr), axis, 0)
    place = 0 if axis is None else axis % np.ndim(arr)
    if isinstance(obj, slice):
        where = np.arange(len(source))[obj]
    else:
        where = np.asarray(obj)
        if where.dtype.kind == "b":
            if where.ndim != 1:
                raise ValueError("boolean array argument obj to insert must be one dimensional")
            where = np.flatnonzero(where)
        if where.ndim > 1:
            raise ValueError("index array argument obj to insert must be one dimensional or scalar")
        if where.dtype.kind not in "iu" and where.size:
            raise TypeError("slice indices must be integers or None or have an __index__ method")
    if where.ndim == 0 or where.shape == (1,):
        more = np.array(values, dtype=source.dtype, ndmin=source.ndim)
        if where.ndim == 1:
            more = np.moveaxis(more, place, 0)
        found = _with_block(source, where, more, place)
    else:
        shape = np.moveaxis(source, 0, place).shape
        full = np.broadcast_to(values, (*shape[:place], where.shape[0], *shape[place + 1 :]))
        found = _with_rows(source, where.astype(np.int64), np.moveaxis(full, place, 0))
    return found if axis is None else np.moveaxis(found, 0, axis)


def _with_block(source: Any, where: Any, more: Any, axis: int) -> Any:
    """All rows of `more` before one position."""
    n, m = len(source), len(more)
    at = int(where.reshape(-1)[0])
    if at < -n or at > n:
        if where.ndim == 1:
            raise IndexError(f"index [{at}] is out of bounds for axis {axis} with size {n}")
        raise IndexError(f"index {at} is out of bounds for axis {axis} with size {n}")
    first = at + n if at < 0 else at
    found = np.empty((n + m, *source.shape[1:]), source.dtype)
    for k in range(n):
        found[k if k < first else k + m] = source[k]
    for k in range(m):
        found[first + k] = more[k]
    return found


def _with_rows(source: Any, where: Any, rows: Any) -> Any:
    """Each row before its own position, which counts in the old array."""
    n, m = len(source), len(where)
    places = np.where(where < 0, where + n, where)
    order = np.argsort(places)
    for k in range(m):
        places[order[k]] += k
    found = np.empty((n + m, *source.shape[1:]), source.dtype)
    is_new = np.zeros(n + m, np.bool_)
    for k in range(m):
        at = int(places[k])
        if at < -(n + m) or at >= n + m:
            raise IndexError(f"index {at} is out of bounds for axis 0 with size {n + m}")
        found[at] = rows[k]
        is_new[at] = True
    old = 0
    for k in range(n + m):
        if not is_new[k]:
            found[k] = source[old]
            old += 1
    return found


@implements(np.trim_zeros)
def trim_zeros(b: OpBuilder, filt: Value, trim: Value = BOTH_SIDES, axis: Value = NONE) -> Value:
    """The array without zeros at its ends, along all axes or some: a copy that takes no writes (NumPy's is a view)."""
    if not b.array(filt).rank:
        return filt
    found = call_body(b, _trimmed, filt, trim, axis)
    assert isinstance(found, ArrayValue)
    b.copied_view(found, b.array(filt), "np.trim_zeros gives a copy here, where NumPy gives a view")
    return found


def _trimmed(filt: Any, trim: str, axis: Any) -> Any:
    source = np.asarray(filt)
    if trim not in _SIDES:
        raise ValueError("unexpected character(s) in `trim`")
    axes = tuple(range(source.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    places = tuple(k % source.ndim for k in axes)
    bounds = [_bounds(source, k, trim) if k in places else (0, source.shape[k]) for k in range(source.ndim)]
    return source[tuple(slice(low, high) for low, high in bounds)].copy()


def _bounds(source: Any, axis: int, sides: str) -> tuple[int, int]:
    rest = tuple(k for k in range(source.ndim) if k != axis)
    flags = np.any(source != 0, axis=rest)
    start, stop = 0, len(flags)
    if "f" in sides or "F" in sides:
        while start < stop and not flags[start]:
            start += 1
    if "b" in sides or "B" in sides:
        while stop > start and not flags[stop - 1]:
            stop -= 1
    return start, stop
