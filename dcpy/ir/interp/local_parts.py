"""Local parts of global arrays: what each rank has of one, by the definition of its distribution.

The reference for `ir.analysis.distributed.ownership`, whose formulas are for programs. Nothing here is clever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dcpy.base.errors import CommunicationError
from dcpy.ir.analysis.distributed.ownership import resolved
from dcpy.ir.communication import NDArray
from dcpy.ir.distribution import Axis, Blocked, Cyclic, Distribution, Partial, ProcessGrid, Root, coordinate_names
from dcpy.ir.symbolic import const

Symbols = Mapping[str, int]
Grids = Mapping[str, ProcessGrid]


@dataclass(frozen=True, slots=True)
class AxisPositions:
    """Of one dimension: indices in the whole array, and where these are in the memory of a rank."""

    whole: NDArray
    local: NDArray


@dataclass(frozen=True, slots=True)
class LocalPart:
    """A rank's part of an array: its own elements, and all that it has room for, along each dimension.

    `here` is false on ranks that have nothing of what is kept at roots.
    """

    own: tuple[AxisPositions, ...]
    room: tuple[AxisPositions, ...]
    shape: tuple[int, ...]
    here: bool


def part_of(placed: Distribution | None, shape: tuple[int, ...], grids: Grids, symbols: Symbols) -> LocalPart:
    """Return the part of an array of `shape` that the rank with these symbols has."""
    if placed is None:
        every = tuple(AxisPositions(np.arange(size), np.arange(size)) for size in shape)
        return LocalPart(every, every, shape, True)
    _require_blocks(placed, shape, grids, symbols)
    exact = resolved(placed, tuple(map(const, shape)), grids)
    sizes = [size.evaluate(symbols) for size in grids[placed.grid].sizes]
    at = [symbols[name] for name in coordinate_names(placed.grid, len(sizes))]
    here = all(at[part.axis] == part.at.evaluate(symbols) for part in placed.rest if isinstance(part, Root))
    own, room, lengths = [], [], []
    for dim, (axis, size) in enumerate(zip(exact.axes, shape, strict=True)):
        mine, reach = _positions(axis, size, at, sizes, placed.halo_of(dim), symbols)
        own.append(mine)
        room.append(reach)
        lengths.append(len(mine.whole) + sum(placed.halo_of(dim)))
    if lengths and not here:
        lengths[0] = 0
    return LocalPart(tuple(own), tuple(room), tuple(lengths), here)


def _positions(
    axis: Axis, size: int, at: list[int], ranks: list[int], halo: tuple[int, int], symbols: Symbols
) -> tuple[AxisPositions, AxisPositions]:
    everything = np.arange(size)
    if axis is None:
        return AxisPositions(everything, everything), AxisPositions(everything, everything)
    assert axis.block is not None  # it is resolved
    block, offset, mine = axis.block.evaluate(symbols), axis.offset.evaluate(symbols), at[axis.axis]
    if block < 1 and size:
        raise CommunicationError(f"blocks have {block} elements: {axis}")
    owners = (everything + offset) // max(block, 1)
    if isinstance(axis, Cyclic):
        owners = owners % ranks[axis.axis]
    owned = np.flatnonzero(owners == mine)
    low = max(0, mine * block - offset) if not len(owned) else int(owned[0])
    reach = np.arange(low - halo[0], low + len(owned) + halo[1])
    local = np.arange(len(reach))
    if isinstance(axis, Cyclic):
        return AxisPositions(owned, local), AxisPositions(owned, local)
    there = (reach >= 0) & (reach < size)
    return AxisPositions(owned, halo[0] + np.arange(len(owned))), AxisPositions(reach[there], local[there])


def _require_blocks(placed: Distribution, shape: tuple[int, ...], grids: Grids, symbols: Symbols) -> None:
    """`CommunicationError` where blocks are so small that elements would be on no rank."""
    for axis, size in zip(placed.axes, shape, strict=True):
        if isinstance(axis, Blocked) and axis.block is not None:
            ranks = grids[placed.grid].sizes[axis.axis].evaluate(symbols)
            block, offset = axis.block.evaluate(symbols), axis.offset.evaluate(symbols)
            if block * ranks < size + offset:
                raise CommunicationError(
                    f"{ranks} blocks of {block} elements do not hold {size} elements", notes=(f"of {placed}",)
                )


def local_part(values: NDArray, placed: Distribution | None, grids: Grids, symbols: Symbols) -> NDArray:
    """A rank's own part of a global array, in memory of its own; what it has room for beside that is left as zeros."""
    part = part_of(placed, values.shape, grids, symbols)
    found = np.zeros(part.shape, values.dtype)
    if part.here:
        found[_index(part.own, "local")] = values[_index(part.own, "whole")]
    return found


class Assembly:
    """A global array that is put together of the parts of ranks, and which rank each element comes from."""

    def __init__(self, shape: tuple[int, ...], placed: Distribution | None, grids: Grids) -> None:
        self.shape, self.placed, self.grids = shape, placed, grids
        self.values: NDArray | None = None
        self.owners = np.full(shape, -1)
        self.contributions: dict[tuple[int, ...], NDArray] = {}
        self.parts: dict[tuple[int, ...], tuple[NDArray, ...]] = {}  #: of what is combined: the elements of each
        rest = () if placed is None else placed.rest
        self.sums = tuple(part for part in rest if isinstance(part, Partial))

    def add(self, rank: int, values: NDArray, symbols: Symbols) -> None:
        """Enter a rank's part. `CommunicationError` where it differs from a copy that another rank has."""
        part = part_of(self.placed, self.shape, self.grids, symbols)
        if values.shape != part.shape:
            raise CommunicationError(
                f"the part of rank {rank} has the shape {values.shape}; its distribution says {part.shape}"
            )
        if self.values is None:
            self.values = np.zeros(self.shape, values.dtype)
        if not part.here or not on_grid(self.placed, self.grids, symbols):
            return
        index, mine = _index(part.own, "whole"), values[_index(part.own, "local")]
        known = self.owners[index]
        first = known < 0
        if self.sums:
            self._combine(index, mine, first, symbols)
        else:
            before = self.values[index]
            if not np.array_equal(before[~first], mine[~first], equal_nan=mine.dtype.kind in "fc"):
                other = int(known[~first].flat[0])
                raise CommunicationError(f"ranks {other} and {rank} have different copies of one element")
            self.values[index] = np.where(first, mine, before)
        self.owners[index] = np.where(first, rank, known)

    def _combine(self, index: tuple[NDArray, ...], mine: NDArray, first: NDArray, symbols: Symbols) -> None:
        """One contribution per coordinate along the axes that are combined: copies along others do not count."""
        from dcpy.ir.interp.scalars import combine

        assert self.values is not None
        place = self.place_of(symbols)
        if place in self.contributions:
            if not np.array_equal(self.contributions[place], mine, equal_nan=mine.dtype.kind in "fc"):
                raise CommunicationError("ranks have different copies of one element")
            return
        self.contributions[place] = mine
        self.parts[place] = index
        before = self.values[index]
        self.values[index] = np.where(first, mine, combine(self.sums[0].op, before, mine))

    def place_of(self, symbols: Symbols) -> tuple[int, ...]:
        """Return a rank's position among combined parts: its coordinates, -1 along axes on which there are copies."""
        assert self.placed is not None  # what is whole is not combined
        names = coordinate_names(self.placed.grid, len(self.grids[self.placed.grid].sizes))
        kept = {part.axis for part in self.sums} | {axis.axis for axis in self.placed.axes if axis is not None}
        return tuple(symbols[name] if number in kept else -1 for number, name in enumerate(names))


def on_grid(placed: Distribution | None, grids: Grids, symbols: Symbols) -> bool:
    """Return whether a rank is on the grid: one outside of the grid has copies of what is whole, which may be late."""
    if placed is None:
        return True
    sizes = grids[placed.grid].sizes
    names = coordinate_names(placed.grid, len(sizes))
    return all(symbols[name] < size.evaluate(symbols) for name, size in zip(names, sizes, strict=True))


def _index(positions: tuple[AxisPositions, ...], which: str) -> tuple[NDArray, ...]:
    return np.ix_(*(getattr(each, which) for each in positions)) if positions else ()
