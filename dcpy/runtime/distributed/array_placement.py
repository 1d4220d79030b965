"""Placements: where the elements of an array are on a grid of ranks, in numbers. Ownership of High Performance Fortran.

The distribution of one array in memory, in numbers; `ir.distribution` has that of a program, in symbols. Blocks are
balanced (the elements by the ranks, rounded up) unless their size is said; element i is at the coordinate ``i //
block``, of cyclic dimensions modulo the ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dcpy.base.errors import GridError
from dcpy.base.rank_grids import coordinates
from dcpy.runtime.distributed.world import World

Indices = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True)
class Grid:
    """Ranks in rows and columns, the last axis fastest: the first ones of a world.

    `periods` says of each axis whether its last rank is followed by the first one; by default none is.
    """

    sizes: tuple[int, ...]
    world: World = field(compare=False, repr=False)
    periods: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "periods", self.periods or (False,) * len(self.sizes))
        if len(self.periods) != len(self.sizes):
            raise GridError(f"a grid of {len(self.sizes)} axes has {len(self.periods)} periods")
        count = self.world.size
        if any(size < 1 for size in self.sizes) or math.prod(self.sizes) > count:
            extent = " x ".join(map(str, self.sizes))
            raise GridError(
                f"a grid of {extent} has {math.prod(self.sizes)} ranks, and there are {count}",
                help=f"dcpy.grid() uses all ranks; mpirun -n {max(math.prod(self.sizes), 1)} starts so many",
            )

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return math.prod(self.sizes)

    def coordinates(self, rank: int) -> tuple[int, ...]:
        """Return the coordinates of a rank; one outside of the grid has the grid's sizes."""
        return coordinates(rank, self.sizes)

    @property
    def coords(self) -> tuple[int, ...]:
        """Coordinates of this rank."""
        return self.coordinates(self.world.rank)

    @property
    def all_sizes(self) -> tuple[int, ...]:  # this and the next ones: see base.rank_grids.RankGrid
        return self.sizes

    @property
    def keep(self) -> tuple[bool, ...]:
        return (True,) * len(self.sizes)

    @property
    def exact(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class DistributedAxis:
    """One dimension, dealt out along an axis of the grid; no `block`: a balanced one (cyclic: single elements)."""

    axis: int
    block: int | None = None
    cyclic: bool = False

    def size_of_blocks(self, size: int, ranks: int) -> int:
        """Elements of a block."""
        if self.block is not None:
            return self.block
        return 1 if self.cyclic else max(1, -(-size // ranks))

    def __str__(self) -> str:
        by = "" if self.block is None else f" by {self.block}"
        return f"{'cyclic' if self.cyclic else 'block'} {self.axis}{by}"


@dataclass(frozen=True)
class Placement:
    """Placement of an array's elements: an entry per dimension, None where each rank has all of it.

    With a `root`, only that rank of a grid of one axis has them.
    """

    grid: Grid
    axes: tuple[DistributedAxis | None, ...]
    root: int | None = None

    def __post_init__(self) -> None:
        used = [axis.axis for axis in self.axes if axis is not None]
        if any(axis >= len(self.grid.sizes) for axis in used) or len(set(used)) < len(used):
            raise GridError(f"{self} deals out {len(used)} dimensions on a grid of {len(self.grid.sizes)}")

    def indices(self, shape: Sequence[int], rank: int) -> tuple[Indices, ...]:
        """The elements that a rank has, along each dimension."""
        at = self.grid.coordinates(rank)
        found = [self._indices(axis, size, at) for axis, size in zip(self.axes, shape, strict=True)]
        if self.root is not None and rank != self.root and found:
            found[0] = found[0][:0]
        return tuple(found)

    def _indices(self, axis: DistributedAxis | None, size: int, at: Sequence[int]) -> Indices:
        if axis is None:
            return np.arange(size)
        ranks = self.grid.sizes[axis.axis]
        block, mine = axis.size_of_blocks(size, ranks), at[axis.axis]
        if axis.cyclic:
            every = np.arange(size)
            return every[(every // block) % ranks == mine] if mine < ranks else every[:0]
        if block * ranks < size:
            raise GridError(f"{ranks} blocks of {block} elements do not hold {size} elements")
        return np.arange(min(mine * block, size), min((mine + 1) * block, size))

    def local_shape(self, shape: Sequence[int], rank: int) -> tuple[int, ...]:
        """The shape of a rank's part."""
        return tuple(len(each) for each in self.indices(shape, rank))

    def first_owner(self, rank: int) -> bool:
        """Return whether a rank is the first one of those that have its elements."""
        at = self.grid.coordinates(rank)
        used = {axis.axis for axis in self.axes if axis is not None}
        if self.root is not None:
            return rank == self.root
        return rank < self.grid.ranks and all(c == 0 for axis, c in enumerate(at) if axis not in used)

    def __str__(self) -> str:
        axes = ", ".join("whole" if axis is None else str(axis) for axis in self.axes)
        where = f" on {' x '.join(map(str, self.grid.sizes))}"
        return f"({axes}){where}" if self.root is None else f"rank {self.root}"
