"""Arrays on many ranks, as users make them: `grid`, `on`, `distribute`, `zeros`, `from_local`, `on_root`.

    g = dcpy.grid(2, 2)
    A = dcpy.distribute(a, g, blocks=("block", "block"))

Without MPI there is one rank, and all of it works there, too. All ranks make the same calls in the same order.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from dcpy.base.errors import ArgumentError, GridError
from dcpy.base.foreign_arrays import foreign_array
from dcpy.base.rank_grids import balanced
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.runtime.distributed.array_placement import DistributedAxis, Grid, Placement
from dcpy.runtime.distributed.distributed_arrays import DistArray, OnRoot
from dcpy.runtime.distributed.files import read
from dcpy.runtime.distributed.redistribution import redistributed
from dcpy.runtime.distributed.world import World, current_world, world_of

__all__ = [
    "DistArray", "Grid", "OnRoot", "Placement", "block", "cyclic", "distribute", "empty", "from_local", "full", "grid",
    "load", "on", "on_root", "ones", "world", "zeros",
]  # fmt: skip

#: "block", "cyclic", what `block` and `cyclic` make; None: the whole dimension everywhere
Blocks = str | DistributedAxis | None
NDArray = np.ndarray[Any, Any]


def world(comm: Any = None) -> World:
    """The ranks that there are: its `rank` and `size`; of a communicator of mpi4py's, if one is given."""
    return current_world() if comm is None else world_of(comm)


@own_frames_hidden
def grid(*sizes: int, dims: int = 2, comm: Any = None) -> Grid:
    """A grid of ranks; without sizes, of all that there are, in `dims` axes that are about equally long.

    Raises `GridError` where there are not so many ranks.
    """
    everyone = world(comm)
    return Grid(tuple(sizes) or balanced(everyone.size, dims), everyone)


def block(size: int | None = None, axis: int | None = None) -> DistributedAxis:
    """Blocks of so many elements, one for each rank along an axis of the grid; without a size, balanced ones."""
    return DistributedAxis(-1 if axis is None else axis, _positive(size))


def cyclic(size: int = 1, axis: int | None = None) -> DistributedAxis:
    """Blocks of so many elements that go round the ranks."""
    return DistributedAxis(-1 if axis is None else axis, _positive(size), cyclic=True)


def _positive(size: int | None) -> int | None:
    if size is not None and size < 1:
        raise GridError(f"blocks of {size} elements hold nothing")
    return size


@own_frames_hidden
def on(grid: Grid, *blocks: Blocks) -> Placement:
    """A distribution: per dimension of an array "block", "cyclic", ``dcpy.cyclic(32)``, or None for all of it.

    The first one that is not None is along the first axis of the grid, the second one along the second.
    """
    axes: list[DistributedAxis | None] = []
    taken = {each.axis for each in blocks if isinstance(each, DistributedAxis) and each.axis >= 0}
    free = iter(axis for axis in range(len(grid.sizes)) if axis not in taken)
    for each in blocks:
        if each is None or (isinstance(each, DistributedAxis) and each.axis >= 0):
            axes.append(each)
            continue
        if each not in ("block", "cyclic") and not isinstance(each, DistributedAxis):
            raise GridError(f"{each!r} is no distribution of a dimension", help="write 'block', 'cyclic' or None")
        axis = next(free, None)
        if axis is None:
            raise GridError(f"more dimensions are distributed than the grid has axes, which are {len(grid.sizes)}")
        made = each if isinstance(each, DistributedAxis) else DistributedAxis(0, None, each == "cyclic")
        axes.append(DistributedAxis(axis, made.block, made.cyclic))
    return Placement(grid, tuple(axes))


@own_frames_hidden
def distribute(array: Any, grid: Grid | Placement, blocks: Sequence[Blocks] | None = None) -> DistArray:
    """An array that all ranks have (or one, as `on_root` says), dealt out: each keeps a copy of its part.

    Without `blocks`, the first dimensions are in balanced blocks along the axes of the grid. In a program with
    ``distributed=True`` the result lives there from then on.
    """
    where = grid if isinstance(grid, Placement) else None
    if isinstance(grid, Grid):
        rank_of = array.ndim if isinstance(array, DistArray) else np.ndim(getattr(array, "array", array))
        where = on(grid, *(blocks_of_first(rank_of, grid) if blocks is None else blocks))
    assert where is not None
    if isinstance(array, DistArray):
        return array.redistribute(where)
    if isinstance(array, OnRoot):
        return _scattered(array, where)
    values = _in_memory(array, "array")
    if values.ndim != len(where.axes):
        raise GridError(f"an array of {values.ndim} dimensions does not fit the distribution {where}")
    indices = where.indices(values.shape, where.grid.world.rank)
    part = values[np.ix_(*indices)] if indices else values
    return DistArray(np.array(part, order="C"), values.shape, where)


def blocks_of_first(dims: int, grid: Grid) -> tuple[Blocks, ...]:
    """Balanced blocks of the first dimensions of an array, as many as the grid has axes; all of the others."""
    dealt = min(dims, len(grid.sizes))
    return ("block",) * dealt + (None,) * (dims - dealt)


def _scattered(array: OnRoot, where: Placement) -> DistArray:
    everyone = where.grid.world
    said = everyone.tell(None if array.array is None else [array.array.shape, array.array.dtype.str], array.root)
    if said is None:
        raise ArgumentError(f"rank {array.root} passes no array", help="dcpy.on_root(A): A there, None elsewhere")
    shape, dtype = tuple(said[0]), np.dtype(said[1])
    source = Placement(Grid((everyone.size,), everyone), (None,) * len(shape), array.root)
    empty_part = np.empty(source.local_shape(shape, everyone.rank), dtype)
    mine = np.ascontiguousarray(array.array) if everyone.rank == array.root and array.array is not None else empty_part
    return DistArray(redistributed(mine, shape, source, where), shape, where)


def on_root(array: Any, root: int = 0, comm: Any = None) -> OnRoot:
    """An array that the rank `root` passes, and the others None: it gets the results, too."""
    everyone = world(comm)
    if not 0 <= root < everyone.size:
        raise GridError(f"there is no rank {root}: there are {everyone.size}")
    mine = everyone.rank == root
    if mine and not isinstance(array, np.ndarray):
        raise ArgumentError(f"rank {root} passes an array of NumPy's, not {type(array).__name__}")
    return OnRoot(array if mine else None, root, everyone)


@own_frames_hidden
def from_local(local: Any, on: Placement, shape: Sequence[int]) -> DistArray:
    """An array of that shape, of which each rank passes its part. `BlockError` where that is not what `on` says."""
    return DistArray(_in_memory(local, "local"), shape, on)


def _in_memory(array: Any, name: str) -> np.ndarray[Any, Any]:
    """The array as NumPy's. `ArgumentError` for one on a device: nothing is copied from there unasked."""
    foreign = foreign_array(array)
    if foreign is not None and foreign.device:
        raise ArgumentError(
            f"argument {name!r} is {foreign.kind} on {foreign.device}",
            notes=("ranks store and send arrays in the memory of the CPU",),
            help=f"pass {foreign.to_numpy.format(name)}",
        )
    return np.asarray(array)


@own_frames_hidden
def load(path: str | os.PathLike[str], on: Placement) -> DistArray:
    """The array in a file of NumPy's (``.npy``), dealt out: each rank reads its part. All ranks call it.

    Raises on all of them where one cannot read the file, or they see different ones.
    """
    local, shape = read(path, on)
    return DistArray(local, shape, on)


def full(shape: Sequence[int] | int, value: Any, dtype: Any = None, *, on: Placement) -> DistArray:
    """An array of one value."""
    sizes = _sizes(shape)
    return DistArray(np.full(on.local_shape(sizes, on.grid.world.rank), value, dtype), sizes, on)


def zeros(shape: Sequence[int] | int, dtype: Any = np.float64, *, on: Placement) -> DistArray:
    """An array of zeros: no rank has more of it than its part."""
    return full(shape, 0, dtype, on=on)


def ones(shape: Sequence[int] | int, dtype: Any = np.float64, *, on: Placement) -> DistArray:
    """An array of ones."""
    return full(shape, 1, dtype, on=on)


def empty(shape: Sequence[int] | int, dtype: Any = np.float64, *, on: Placement) -> DistArray:
    """An array with uninitialized elements."""
    sizes = _sizes(shape)
    return DistArray(np.empty(on.local_shape(sizes, on.grid.world.rank), dtype), sizes, on)


def _sizes(shape: Sequence[int] | int) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(map(math.trunc, shape))
