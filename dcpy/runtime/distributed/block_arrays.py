"""Block arrays outside of programs: scattered from one rank, gathered, and redistributed.

What `dcpy.comm` does undecorated; in programs it is the library node ``comm.copy``. All ranks call each of these: what
does not fit raises `ValueError` on all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.base.rank_grids import balanced, coordinates
from dcpy.runtime.distributed.array_placement import DistributedAxis, Grid, Placement
from dcpy.runtime.distributed.mpi_datatypes import operation
from dcpy.runtime.distributed.redistribution import redistributed
from dcpy.runtime.distributed.subgrids import SubGrid, axes_of, rank_at, world_along
from dcpy.runtime.distributed.world import World

NDArray = np.ndarray[Any, Any]
AnyGrid = Grid | SubGrid
Blocks = Sequence[int | None]  # the size of blocks that go round, of each dimension; None: balanced ones, one each


@dataclass(frozen=True)
class BlockArray:
    """An array in blocks on a grid: its shape, and where its elements are."""

    shape: tuple[int, ...]
    placement: Placement


def default_grid(world: World, dims: int) -> Grid:
    """All ranks, in as many axes as an array has dimensions."""
    if not dims:
        raise ValueError("arrays are dealt out, and a number has no dimensions")
    return Grid(balanced(world.size, dims), world)


def axes_for(grid: AnyGrid, dims: int, correspondence: Sequence[int | None] | None) -> tuple[int | None, ...]:
    """The axis of the whole grid of each dimension."""
    has = axes_of(grid)
    if correspondence is None:
        return tuple(has[dim] if dim < len(has) else None for dim in range(dims))
    taken = [axis for axis in correspondence if axis is not None]
    if len(correspondence) != dims or len(set(taken)) < len(taken) or any(not 0 <= a < len(has) for a in taken):
        raise ValueError(f"correspondence {correspondence} names axes of a grid of {len(has)}, for {dims} dimensions")
    return tuple(None if axis is None else has[axis] for axis in correspondence)


class BlockScattering:
    """An array at the first rank of each part of a grid, and in blocks on the ranks of that part.

    The axes of `other`, another part of the same grid, belong to it, too: they have copies of blocks, or sums.
    """

    def __init__(
        self, grid: AnyGrid, other: AnyGrid | None, axes: Sequence[int | None], blocks: Blocks, name: str
    ) -> None:
        whole, more = grid.all_sizes, () if other is None else axes_of(other)
        if other is not None and (other.all_sizes != whole or set(more) & set(axes_of(grid))):
            raise ValueError(f"the grids of {name} are not parts of one grid, with other axes")
        self.name, self.world, self.sizes, self.axes, self.blocks = name, grid.world, whole, tuple(axes), tuple(blocks)
        self.along = tuple(sorted({*axes_of(grid), *more}))
        self.ranks = world_along(grid.world, whole, self.along)
        at = coordinates(grid.world.rank, whole)
        fixed = (0,) * len(whole) if grid.exact is None else coordinates(grid.exact, whole)
        others = (axis for axis in range(len(whole)) if axis not in self.along)
        self.here = self.ranks is not None and (grid.exact is None or all(at[k] == fixed[k] for k in others))
        first = [fixed[axis] if axis in more else 0 for axis in self.along]
        self.root = rank_at(first, [whole[axis] for axis in self.along])
        self.is_first_of_more = all(at[axis] == fixed[axis] for axis in more)
        self.is_root = self.here and self.ranks is not None and self.ranks.rank == self.root

    @property
    def at_root(self) -> Placement:
        """The whole array at the first rank."""
        assert self.ranks is not None
        return Placement(Grid((self.ranks.size,), self.ranks), (None,) * len(self.axes), self.root)

    @property
    def in_blocks(self) -> Placement:
        """Its blocks."""
        assert self.ranks is not None
        grid = Grid(tuple(self.sizes[axis] for axis in self.along), self.ranks)
        return Placement(grid, dealt([None if a is None else self.along.index(a) for a in self.axes], self.blocks))

    def block(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of this rank's block; no elements where it has none."""
        if not self.here or self.ranks is None:
            return (0,) * len(self.axes)
        return self.in_blocks.local_shape(shape, self.ranks.rank)

    def require_agreement(self, shape: Sequence[int], block: NDArray | None) -> None:
        """`ValueError` on all ranks where they pass other shapes, or a block is not what the distribution says."""
        wanted = self.block(shape)
        wrong = block is not None and self.here and block.shape != wanted
        found = [[list(block.shape), list(wanted)]] if wrong and block is not None else []
        told = self.world.all([list(shape), found])
        shapes = [each for each, _ in told]
        if any(each != shapes[0] for each in shapes):
            raise ValueError(f"the ranks of a {self.name} pass arrays of other shapes: {shapes}")
        _require_blocks([misfits for _, misfits in told])

    def scatter(self, x: NDArray, out: NDArray | None) -> NDArray | None:
        """The blocks of what the first rank has: into `out`, or as new arrays."""
        self.require_agreement(x.shape, out)
        if not self.here:
            return np.empty(self.block(x.shape), x.dtype) if out is None else None
        found = redistributed(x, x.shape, self.at_root, self.in_blocks)
        if out is None:
            return found
        out[...] = found
        return None

    def gather(self, x: NDArray, out: NDArray, sums: AnyGrid | None) -> None:
        """Gather all blocks at the first rank."""
        self.require_agreement(out.shape, x)
        block = self.summed(x, sums)
        if not self.here:
            return
        mine = block if self.is_first_of_more else np.empty(self.block(out.shape), x.dtype)
        found = redistributed(mine, out.shape, self.in_blocks, self.at_root)
        if self.is_root:
            out[...] = found

    def gather_everywhere(self, x: NDArray, sums: AnyGrid | None) -> NDArray:
        """Gather all blocks on every rank; the shape is the sum of theirs along each axis."""
        mine = coordinates(self.world.rank, self.sizes)
        told = [(mine, list(x.shape))] if self.world.rank < math.prod(self.sizes) else []
        all_told = [each for ranks in self.world.all(told) for each in ranks]
        shape = [
            sum(size[dim] for at, size in all_told if all(c == 0 for k, c in enumerate(at) if k != axis))
            for dim, axis in enumerate(self.axes)
        ]
        self.require_agreement(shape, x)
        source = Placement(Grid(self.sizes, self.world), dealt(self.axes, self.blocks))
        everywhere = Placement(Grid((self.world.size,), self.world), (None,) * x.ndim)
        block = self.summed(x, sums)
        if not self.here:
            block = np.empty(source.local_shape(shape, self.world.rank), x.dtype)
        return redistributed(block, shape, source, everywhere)

    def summed(self, x: NDArray, sums: AnyGrid | None) -> NDArray:
        """The sum of a block over the ranks of a part of the grid."""
        ranks = None if sums is None else world_along(self.world, self.sizes, axes_of(sums))
        if ranks is None or ranks.comm is None:
            return x
        given, found = np.ascontiguousarray(x), np.empty(x.shape, x.dtype)
        ranks.comm.Allreduce(given, found, operation("SUM", x.dtype))
        return found


def dealt(axes: Sequence[int | None], blocks: Blocks) -> tuple[DistributedAxis | None, ...]:
    """Each dimension along its axis: in blocks that go round, or in balanced ones."""
    return tuple(
        None if axis is None else DistributedAxis(axis, size, cyclic=size is not None)
        for axis, size in zip(axes, blocks, strict=True)
    )


def redistribute(x: NDArray, source: BlockArray, out: NDArray, target: BlockArray) -> None:
    """The blocks of an array become other blocks of it."""
    world = source.placement.grid.world
    if source.shape != target.shape or target.placement.grid.world is not world:
        raise ValueError(f"Redistribute moves an array of {source.shape} elements into one of {target.shape}")
    misfits = []
    for memory, where in ((x, source), (out, target)):
        wanted = where.placement.local_shape(where.shape, world.rank)
        if world.rank < where.placement.grid.ranks and memory.shape != wanted:
            misfits.append([list(memory.shape), list(wanted)])
    _require_blocks(world.all(misfits))
    found = redistributed(x, source.shape, source.placement, target.placement)
    if found.size:
        out[...] = found


def _require_blocks(told: Sequence[Sequence[Sequence[Sequence[int]]]]) -> None:
    """`ValueError` for the first block of a wrong shape, with the shape that it should have."""
    for rank, misfits in enumerate(told):
        for has, wanted in misfits:
            axis = next(k for k in range(len(has)) if has[k] != wanted[k])
            raise ValueError(
                f"the block of rank {rank} has {has[axis]} elements along axis {axis}, and the distribution says "
                f"{wanted[axis]}"
            )
