"""Gather and scatter at positions in arrays: ``take_along_axis``, ``choose``, ``put``. Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Value, dtype_of, is_number, is_weak
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.promotion import can_cast
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE, SAME_KIND, TRUE
from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.numpy.ufuncs.out_and_where import masked

# -- reading ---------------------------------------------------------------------------------------------------------


@written_in_python(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """The element that the index names, in that line of `arr`, for each position of `indices`."""
    source = np.asarray(arr)
    if axis is None:
        if np.ndim(indices) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        source, axis = np.ravel(source), 0
    return source[_lines(source, np.asarray(indices), axis % source.ndim)]


def _lines(arr: Any, indices: Any, axis: int) -> tuple[Any, ...]:
    """Index arrays: `indices` along one axis, all positions along the others."""
    if indices.dtype == np.bool_:
        raise IndexError("`indices` must be an integer array")
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return tuple(
        indices if k == axis else np.arange(arr.shape[k]).reshape(tuple(-1 if k == j else 1 for j in range(arr.ndim)))
        for k in range(arr.ndim)
    )


@written_in_python(np.choose, methods=("choose",))
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """The choice with the number of each element."""
    number = np.asarray(a)
    if not np.can_cast(number.dtype, np.int64):
        raise TypeError("the numbers of the choices must be integers")
    options = _alike(choices) if isinstance(choices, tuple | list) else choices
    count = len(options)
    if mode == "wrap":
        number = number % count
    elif mode == "clip":
        number = np.clip(number, 0, count - 1)
    elif not np.all((number >= 0) & (number < count)):
        raise ValueError("invalid entry in choice array")
    found = np.asarray(options[0]) if isinstance(options, tuple | list) else options[0]
    if isinstance(options, tuple | list):
        found = np.where(number == 0, options[0], options[-1])
        for k, option in enumerate(options[1:-1], 1):
            found = np.where(number == k, option, found)
        return np.asarray(found)[()]
    places = np.broadcast_to(number, np.broadcast_shapes(number.shape, options.shape[1:]))
    rest = np.broadcast_to(options, (options.shape[0], *places.shape))
    return np.take_along_axis(rest, places[None], 0)[0]


def _alike(choices: Any) -> Any:
    """Arrays of one shape and of the dtype that is common to all; Python's numbers do not add to it, and wrap."""
    kinds = [choice if isinstance(choice, int | float | complex) else np.asarray(choice) for choice in choices]
    dtype = np.result_type(*kinds)
    return np.broadcast_arrays(*[np.asarray(choice).astype(dtype) for choice in choices])


# -- writing ---------------------------------------------------------------------------------------------------------


@implements(np.copyto)
def copyto(b: OpBuilder, dst: Value, src: Value, casting: Value = SAME_KIND, where: Value = TRUE) -> Value:
    """Writes to all elements, or to those where a mask holds."""
    if not isinstance(dst, ArrayValue):
        raise b.error("np.copyto writes to an array", notes=("NumPy raises TypeError here",))
    source = src if is_number(src) else b.array(src)
    rule = str(b.static(casting, "casting"))
    if not is_weak(source) and not can_cast(dtype_of(source), dst.dtype, rule):
        raise b.error(
            f"Cannot cast array data from {dtype_of(source).numpy!r} to {dst.dtype.numpy!r} according to the rule "
            f"'{rule}'",
            notes=("NumPy raises TypeError here",),
            help="pass casting='unsafe', or write dst[...] = src",
        )
    b.store(dst, source if where == TRUE else masked(b, where, source, dst))
    return NONE


def _point(k: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The indices of element `k` of the flat array."""
    if len(shape) == 1:
        return (k,)
    indices: tuple[int, ...] = ()
    for size in reversed(shape):
        indices = (k % size, *indices)
        k = k // size
    return indices


@written_in_python(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Writes to the elements that `take_along_axis` reads."""
    if axis is None:
        if arr.ndim != 1:
            raise ValueError("assignment destination is read-only")
        axis = 0
    arr[_lines(arr, np.asarray(indices), axis % arr.ndim)] = values


@written_in_python(np.put, methods=("put",))
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Writes to elements of the flat array, one after the other; values are repeated."""
    places, values = np.ravel(ind), np.ravel(v)
    n = a.size
    require_safe(ind, np.zeros(0, np.int64))
    if n == 0 and len(values) > 0 and len(places) > 0:
        raise IndexError("cannot replace elements of an empty array")
    if len(values) > 0:
        for k in range(len(places)):
            at = int(places[k])
            if mode == "wrap":
                at = at % n
            elif mode == "clip":
                at = min(max(at, 0), n - 1)
            elif at < -n or at >= n:
                raise IndexError(f"index {at} is out of bounds for axis 0 with size {n}")
            a[_point(at if at >= 0 else at + n, a.shape)] = values[k % len(values)]


@written_in_python(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write values in turn to the elements where the mask holds."""
    flags, values = np.ravel(mask), np.ravel(vals)
    require_safe(vals, arr)
    if len(flags) != arr.size:
        raise ValueError("place: mask and data must be the same size")
    if len(values) == 0 and np.any(flags):
        raise ValueError("Cannot insert from an empty array!")
    count = 0
    for k in range(len(flags)):
        if flags[k]:
            arr[_point(k, arr.shape)] = values[count % len(values)]
            count += 1


@written_in_python(np.putmask)
def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """Write the value at the same place, repeated, to the elements where the mask holds."""
    flags, given = np.ravel(mask), np.ravel(values)
    require_safe(values, a)
    if len(flags) != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    if np.ndim(values) == 0:
        np.copyto(a, given[0], where=np.reshape(flags, a.shape), casting="unsafe")
    elif len(given) > 0:
        repeated = given[np.arange(len(flags)) % len(given)]
        np.copyto(a, np.reshape(repeated, a.shape), where=np.reshape(flags, a.shape), casting="unsafe")


def require_safe(values: Any, target: Any) -> None:
    """NumPy's `TypeError` where an array is not cast to the dtype of another one without loss."""
    if isinstance(values, np.ndarray) and not np.can_cast(values.dtype, target.dtype):
        raise TypeError(
            f"Cannot cast array data from {values.dtype!r} to {target.dtype!r} according to the rule 'safe'"
        )


@written_in_python(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Set the diagonal to numbers, in turn; in tall matrices again and again with `wrap`."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    values = np.ravel(val)
    if a.ndim == 2 and not wrap:
        for k in range(min(a.shape[0], a.shape[1])):
            a[k, k] = values[k % len(values)]
    elif a.ndim == 2:
        width = a.shape[1]
        for k in range((a.shape[0] * width + width) // (width + 1)):
            place = k * (width + 1)
            a[place // width, place % width] = values[k % len(values)]
    else:
        for size in a.shape[1:]:
            if size != a.shape[0]:
                raise ValueError("All dimensions of input must be of equal length")
        for k in range(a.shape[0]):
            a[(k,) * a.ndim] = values[k % len(values)]
