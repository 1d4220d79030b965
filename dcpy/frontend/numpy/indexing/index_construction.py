"""Index arrays: positions of triangles, diagonals, open grids and flat arrays. Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(np.ix_)
def ix_(*args: Any) -> Any:
    """Positions along each dimension as index arrays that select a grid: views of arrays of any dtype."""
    return tuple(_along(positions, k, len(args)) for k, positions in enumerate(args))


def _along(positions: Any, axis: int, rank: int) -> Any:
    found = np.asarray(positions)
    if found.ndim != 1:
        raise ValueError("Cross index must be 1 dimensional")
    if found.dtype.kind == "b":
        found = np.flatnonzero(found)
    elif not isinstance(positions, np.ndarray) and not found.size:
        found = found.astype(np.int64)
    return found.reshape((1,) * axis + (-1,) + (1,) * (rank - axis - 1))


@written_in_python(np.tril_indices)
def tril_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """The positions at and below a diagonal."""
    return np.nonzero(np.tri(n, m, k, np.bool_))


@written_in_python(np.triu_indices)
def triu_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """The positions at and above a diagonal."""
    return np.nonzero(~np.tri(n, m, k - 1, np.bool_))


@written_in_python(np.tril_indices_from)
def tril_indices_from(arr: Any, k: int = 0) -> Any:
    """The positions of a matrix at and below a diagonal."""
    if np.ndim(arr) != 2:
        raise ValueError("input array must be 2-d")
    return tril_indices(arr.shape[0], k, arr.shape[1])


@written_in_python(np.triu_indices_from)
def triu_indices_from(arr: Any, k: int = 0) -> Any:
    """The positions of a matrix at and above a diagonal."""
    if np.ndim(arr) != 2:
        raise ValueError("input array must be 2-d")
    return triu_indices(arr.shape[0], k, arr.shape[1])


@written_in_python(np.mask_indices)
def mask_indices(n: int, mask_func: Any, k: Any = 0) -> Any:
    """The positions that a function leaves in a matrix of ones."""
    return np.nonzero(mask_func(np.ones((n, n), np.int64), k) != 0)


@written_in_python(np.diag_indices)
def diag_indices(n: int, ndim: int = 2) -> Any:
    """The positions of the diagonal of a cube."""
    return (np.arange(n),) * ndim


@written_in_python(np.diag_indices_from)
def diag_indices_from(arr: Any) -> Any:
    """The positions of the diagonal of an array whose sizes are equal."""
    if np.ndim(arr) < 2:
        raise ValueError("input array must be at least 2-d")
    for size in arr.shape[1:]:
        if size != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], np.ndim(arr))


# -- the flat array --------------------------------------------------------------------------------------------------


@written_in_python(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    """Positions in the flat array as one index per dimension."""
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    flat = np.asarray(indices)
    if flat.dtype.kind not in "iub":
        raise TypeError("only int indices permitted")
    total = 1
    for size in sizes:
        total = total * size
    for index in np.ravel(flat):
        if index < 0 or index >= total:
            raise ValueError(f"index {index} is out of bounds for array with size {total}")
    rest = flat.astype(np.int64)[()]
    found: tuple[Any, ...] = ()
    for size in reversed(sizes) if order == "C" else sizes:
        found = (rest % size, *found) if order == "C" else (*found, rest % size)
        rest = rest // size
    return found


@written_in_python(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """One index per dimension as positions in the flat array."""
    sizes = dims if isinstance(dims, tuple | list) else (dims,)
    modes = mode if isinstance(mode, tuple | list) else (mode,) * len(sizes)
    total = np.int64(0)
    step = 1
    for k, size in reversed(tuple(enumerate(sizes))) if order == "C" else enumerate(sizes):
        total = total + _within(np.asarray(multi_index[k]), size, modes[k]) * step
        step = step * size
    return total


def _within(index: Any, size: int, mode: str) -> Any:
    if index.dtype.kind not in "iub":
        raise TypeError("only int indices permitted")
    index = index.astype(np.int64)[()]
    if mode == "wrap":
        return index % size
    if mode == "clip":
        return np.clip(index, 0, size - 1)
    if np.any((index < 0) | (index >= size)):
        raise ValueError("invalid entry in coordinates array")
    return index
