"""Distributed arrays: `DistArray`, of which each rank has a part, and arrays on one rank (`OnRoot`)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from dcpy.base.errors import ArgumentError, BlockError
from dcpy.runtime.distributed.array_placement import Grid, Placement
from dcpy.runtime.distributed.files import write
from dcpy.runtime.distributed.redistribution import redistributed
from dcpy.runtime.distributed.world import World, current_world

NDArray = np.ndarray[Any, Any]


class DistArray:
    """An array that is dealt out to the ranks of a grid.

    Attributes
    ----------
    local
        The part of this rank, an array of NumPy's in C order; changes of it are changes of the array. What takes its
        place has the same shape.
    shape, dtype, ndim, size
        Those of the whole.
    placement
        Which elements each rank has.
    """

    __slots__ = ("__weakref__", "_local", "placement", "shape")

    _local: NDArray

    def __init__(self, local: NDArray, shape: Sequence[int], placement: Placement) -> None:
        self.shape = tuple(int(size) for size in shape)
        self.placement = placement
        if len(self.shape) != len(placement.axes):
            raise BlockError(f"a shape of {len(self.shape)} dimensions, and a distribution {placement}")
        self.local = local

    @property
    def local(self) -> NDArray:
        """The part of this rank."""
        return self._local

    @local.setter
    def local(self, local: NDArray) -> None:
        rank = self._world.rank
        wanted = self.placement.local_shape(self.shape, rank)
        if local.shape != wanted:
            raise BlockError(
                f"the block of rank {rank} is {_by(local.shape)}, and the distribution {self.placement} of "
                f"{_by(self.shape)} elements says {_by(wanted)}",
                help="blocks are balanced, the elements by the ranks, rounded up: the last ones are short",
            )
        if local.dtype.hasobject:
            raise BlockError(f"elements of {local.dtype} cannot be sent to other ranks")
        self._local = np.ascontiguousarray(local)

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = self._local.dtype
        return found

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements of the whole."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def grid(self) -> Grid:
        """The ranks that have it."""
        return self.placement.grid

    @property
    def indices(self) -> tuple[NDArray, ...]:
        """Global indices of this rank's elements, along each dimension."""
        return self.placement.indices(self.shape, self._world.rank)

    @property
    def _world(self) -> World:
        return self.placement.grid.world

    def gather(self, root: int = 0) -> NDArray | None:
        """The whole array on one rank, None on the others. All ranks call it."""
        world = self._world
        where = Placement(Grid((world.size,), world), (None,) * self.ndim, root)
        found = redistributed(self.local, self.shape, self.placement, where)
        return found if world.rank == root else None

    def allgather(self) -> NDArray:
        """The whole array, on every rank. All ranks call it."""
        world = self._world
        everywhere = Placement(Grid((world.size,), world), (None,) * self.ndim)
        return redistributed(self.local, self.shape, self.placement, everywhere)

    def redistribute(self, on: Placement) -> DistArray:
        """The same array with another distribution. All ranks call it."""
        return DistArray(redistributed(self.local, self.shape, self.placement, on), self.shape, on)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole as one file of NumPy's (``.npy``): each rank its part. All ranks call it."""
        write(path, self.local, self.shape, self.placement)

    def copy(self) -> DistArray:
        """An array of its own memory, distributed alike."""
        return DistArray(self.local.copy(), self.shape, self.placement)

    def __array__(self, *arguments: object, **named: object) -> NoReturn:
        raise ArgumentError(
            f"a DistArray of {_by(self.shape)} elements is on {self.grid.ranks} ranks, and is not a NumPy array",
            help="d.gather() brings it to one rank, d.allgather() to all; d.local is the part of this one",
        )

    def __getitem__(self, index: object) -> NoReturn:
        raise ArgumentError(
            "elements of a DistArray are not read one by one: each would be a message",
            help="index d.local, the part of this rank, or d.allgather(), a NumPy array on all ranks",
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DistArray(shape={self.shape}, dtype={self.dtype}, on {self.placement})"

    def __reduce__(self) -> Any:
        """Pickled, it is the part of this rank: each rank loads its own, in a world as large."""
        return _restored, (self.local, self.shape, self.grid.sizes, self.placement.axes, self.placement.root)

    @property
    def __partitioned__(self) -> dict[str, Any]:
        """The protocol by which distributed arrays are interchanged: the parts of all ranks, and this rank's own."""
        grid, axes = self.grid, self.placement.axes
        tiling = tuple(1 if axis is None else grid.sizes[axis.axis] for axis in axes)
        parts: dict[tuple[int, ...], dict[str, Any]] = {}
        for rank in range(grid.ranks):
            if not self.placement.first_owner(rank) and rank != self._world.rank:
                continue
            at = grid.coordinates(rank)
            position = tuple(0 if axis is None else at[axis.axis] for axis in axes)
            found = self.placement.indices(self.shape, rank)
            mine = rank == self._world.rank
            parts[position] = {
                "start": tuple(int(own[0]) if len(own) else size for own, size in zip(found, self.shape, strict=True)),
                "shape": tuple(map(len, found)),
                "data": self.local if mine else None,
                "location": [rank],
            }
        here = [position for position in itertools.product(*map(range, tiling)) if parts[position]["data"] is not None]
        return {
            "shape": self.shape, "partition_tiling": tiling, "partitions": parts, "locals": here,
            "get": lambda data: data,
        }  # fmt: skip


class OnRoot:
    """An array that one rank passes to a program: `array` there, None on the others."""

    __slots__ = ("array", "root", "world")

    def __init__(self, array: NDArray | None, root: int, world: World) -> None:
        self.array, self.root, self.world = array, root, world

    def __repr__(self) -> str:
        return f"on_root({'...' if self.array is None else repr(self.array)}, root={self.root})"


def _restored(
    local: NDArray, shape: tuple[int, ...], sizes: tuple[int, ...], axes: tuple[Any, ...], root: int | None
) -> DistArray:
    return DistArray(local, shape, Placement(Grid(sizes, current_world()), axes, root))


def _by(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) if shape else "1"
