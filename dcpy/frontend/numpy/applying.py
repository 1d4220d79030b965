"""Functions of the user that NumPy applies to parts of arrays, as Python functions (see `traced`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.traced import written_in_python


@written_in_python(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of each line along an axis; its results stand at the place of the axis."""
    source = np.asarray(arr)
    place = axis % source.ndim
    moved = np.moveaxis(source, place, -1)
    rest = moved.shape[:-1]
    lines = np.array(moved).reshape((-1, moved.shape[-1]))
    if len(lines) == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = np.asarray(func1d(lines[0], *args, **kwargs))
    found = np.empty((len(lines), *first.shape), first.dtype)
    found[0] = first
    for k in range(1, len(lines)):
        found[k] = func1d(lines[k], *args, **kwargs)
    whole = found.reshape((*rest, *first.shape))
    own = tuple(range(len(rest), whole.ndim))
    return np.transpose(whole, (*range(place), *own, *range(place, len(rest))))


@written_in_python(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """A function of an array and an axis, again and again; the number of dimensions stays."""
    found = np.asarray(a)
    for axis in axes if isinstance(axes, tuple | list) else (axes,):
        place = axis % np.ndim(a)
        result = np.asarray(func(found, place))
        found = result if result.ndim == np.ndim(a) else np.expand_dims(result, place)
    return found


@written_in_python(np.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """A function of the coordinates of all elements of an array of a shape."""
    places = np.indices(shape, dtype=dtype)
    return function(*[places[k] for k in range(len(shape))], **kwargs)
