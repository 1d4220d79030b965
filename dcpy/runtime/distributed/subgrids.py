"""Subgrids: the rows or columns of a grid of ranks, each with ranks of its own (as ``MPI_Cart_sub``)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from dcpy.base.errors import GridError
from dcpy.base.rank_grids import coordinates
from dcpy.runtime.distributed.array_placement import Grid
from dcpy.runtime.distributed.world import World


@dataclass(frozen=True)
class SubGrid:
    """The part of a grid that has this rank: the ranks that differ from it along the axes which it may `keep`.

    With `exact`, a rank, the part that has this rank is the only one.
    """

    grid: Grid
    keep: tuple[bool, ...]
    exact: int | None = None

    def __post_init__(self) -> None:
        if len(self.keep) != len(self.grid.sizes) or not any(self.keep):
            raise GridError(f"a part of a grid of {len(self.grid.sizes)} axes keeps some of them, not {self.keep}")
        if self.exact is not None and not 0 <= self.exact < self.grid.ranks:
            raise GridError(f"rank {self.exact} is not on the grid, which has {self.grid.ranks}")

    @property
    def world(self) -> World:
        """All ranks."""
        return self.grid.world

    @property
    def all_sizes(self) -> tuple[int, ...]:  # this and the next one: see base.rank_grids.RankGrid
        return self.grid.sizes

    @property
    def periods(self) -> tuple[bool, ...]:
        return self.grid.periods

    @property
    def sizes(self) -> tuple[int, ...]:
        """Lengths of its axes."""
        return tuple(size for size, has in zip(self.grid.sizes, self.keep, strict=True) if has)

    @property
    def coords(self) -> tuple[int, ...]:
        """Coordinates of this rank on its part."""
        return tuple(at for at, has in zip(self.grid.coords, self.keep, strict=True) if has)


def axes_of(grid: Grid | SubGrid) -> tuple[int, ...]:
    """The axes of the whole that a grid has."""
    return tuple(axis for axis, has in enumerate(grid.keep) if has)


@functools.cache
def world_along(world: World, sizes: tuple[int, ...], axes: tuple[int, ...]) -> World | None:
    """The ranks that differ from this one along some axes of a grid; None outside of it. All ranks call it."""
    inside = world.rank < math.prod(sizes)
    if world.comm is None:
        return world if inside else None
    from mpi4py import MPI

    own = 0
    for axis, (at, size) in enumerate(zip(coordinates(world.rank, sizes), sizes, strict=True)):
        own = own if axis in axes else own * size + at
    comm = world.comm.Split(own if inside else MPI.UNDEFINED, world.rank)
    return World(int(comm.Get_rank()), int(comm.Get_size()), comm) if inside else None


def rank_at(coords: Sequence[int], sizes: Sequence[int]) -> int:
    """The number of the rank at some coordinates."""
    number = 0
    for at, size in zip(coords, sizes, strict=True):
        number = number * size + at
    return number
