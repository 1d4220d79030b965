"""Vector products, and numerical calculus on samples, as Python functions (see `traced`).

Linear systems and decompositions are in `decompositions` and `matrices`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.traced import written_in_python


def _inexact_copy(a: Any) -> Any:
    """A new array to compute in: integers become float64."""
    a = np.asarray(a)
    return np.array(a, dtype=a.dtype if np.issubdtype(a.dtype, np.inexact) else np.float64)


# -- vectors and matrices --------------------------------------------------------------------------------------------


@written_in_python(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any) -> None:
    """Sets the diagonal of a matrix to a number."""
    for k in range(min(a.shape[0], a.shape[1])):
        a[k, k] = val


@written_in_python(np.cross)
def cross(a: Any, b: Any) -> Any:
    """The vector products of vectors of three elements, along the last dimension."""
    x, y = np.asarray(a), np.asarray(b)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError("incompatible dimensions for cross product (dimension must be 3)")
    first = x[..., 1] * y[..., 2] - x[..., 2] * y[..., 1]
    second = x[..., 2] * y[..., 0] - x[..., 0] * y[..., 2]
    third = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    return np.stack((first, second, third), axis=-1)


# -- writes ----------------------------------------------------------------------------------------------------------


def _values_at(a: Any, indices: Any, b: Any) -> Any:
    """One value per index: of an array of one dimension a number, of others a row."""
    if isinstance(indices, tuple):
        return np.broadcast_to(b, np.shape(indices[0]))
    if np.ndim(a) == 1:
        return np.broadcast_to(b, np.shape(indices)).reshape(-1)
    return np.broadcast_to(b, (len(indices), *np.shape(a)[1:]))


def _place(indices: Any, k: Any) -> Any:
    """Index number `k`: one, or one per dimension."""
    return tuple(index[k] for index in indices) if isinstance(indices, tuple) else np.ravel(indices)[k]


@written_in_python(np.add.at)
def add_at(a: Any, indices: Any, b: Any) -> None:
    """Adds to elements, again for each time that an index occurs."""
    values = _values_at(a, indices, b)
    for k in range(len(values)):
        at = _place(indices, k)
        a[at] += values[k]


@written_in_python(np.subtract.at)
def subtract_at(a: Any, indices: Any, b: Any) -> None:
    """Subtracts from elements, again for each time that an index occurs."""
    values = _values_at(a, indices, b)
    for k in range(len(values)):
        at = _place(indices, k)
        a[at] -= values[k]


@written_in_python(np.multiply.at)
def multiply_at(a: Any, indices: Any, b: Any) -> None:
    """Multiplies elements, again for each time that an index occurs."""
    values = _values_at(a, indices, b)
    for k in range(len(values)):
        at = _place(indices, k)
        a[at] *= values[k]


@written_in_python(np.maximum.at)
def maximum_at(a: Any, indices: Any, b: Any) -> None:
    """Raises elements to numbers that are larger."""
    values = _values_at(a, indices, b)
    for k in range(len(values)):
        at = _place(indices, k)
        a[at] = np.maximum(a[at], values[k])


@written_in_python(np.minimum.at)
def minimum_at(a: Any, indices: Any, b: Any) -> None:
    """Lowers elements to numbers that are smaller."""
    values = _values_at(a, indices, b)
    for k in range(len(values)):
        at = _place(indices, k)
        a[at] = np.minimum(a[at], values[k])


@written_in_python(np.copyto)
def copyto(dst: Any, src: Any) -> None:
    """``dst[...] = src``."""
    dst[...] = src
