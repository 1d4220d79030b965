"""Sector counts: how many distinct elements and sectors a launch moves, exactly, where all sizes are numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from dcpy.base.errors import SymbolicError
from dcpy.ir.analysis.gpu.memory_traffic import SECTOR, AccessedPart, MovedBytes, Traffic
from dcpy.ir.analysis.polyhedral.footprints import Box

MOST_ELEMENTS = 1 << 26  #: of an array whose places are looked at one by one
MOST_BOXES = 1 << 16  #: that one access touches


@dataclass(frozen=True, slots=True)
class SectorCount:
    """Bytes of distinct elements that have to move, and of the sectors that are touched.

    Unless it is `exact`, only the run knows, or it is too much to count: the elements are at least, the sectors at most
    so many.
    """

    floor: int
    moved: int
    exact: bool = True

    def __add__(self, other: SectorCount) -> SectorCount:
        return SectorCount(self.floor + other.floor, self.moved + other.moved, self.exact and other.exact)


def counted(traffic: Traffic, sizes: Mapping[str, int]) -> SectorCount:
    """Return the traffic of a launch; `sizes` are the values of all known symbols, those of loops around it too."""
    return sum((count(move, sizes) for move in traffic.moves), SectorCount(0, 0))


def count(move: MovedBytes, sizes: Mapping[str, int]) -> SectorCount:
    """The sectors of one container, in one direction."""
    try:
        shape, strides = ([each.evaluate(sizes) for each in dims] for dims in (move.shape, move.strides))
    except SymbolicError:
        return SectorCount(0, 0, exact=False)
    places = 1 + sum((size - 1) * abs(stride) for size, stride in zip(shape, strides, strict=True))
    if 0 in shape:
        return SectorCount(0, 0)
    if places > MOST_ELEMENTS:
        return _estimated(move, sizes, places)
    accessed, every = _marked(move.parts, shape, strides, places, sizes, certain=False)
    needed, _ = _marked(move.needed, shape, strides, places, sizes, certain=True)
    exact = every and not move.is_data_dependent
    return SectorCount(int(needed.sum()) * move.itemsize, _sectors(accessed, move.itemsize) * SECTOR, exact)


def _estimated(move: MovedBytes, sizes: Mapping[str, int], places: int) -> SectorCount:
    """The sectors by the closed forms; what these do not know is the whole container."""
    most = math.ceil(places * move.itemsize / SECTOR) * SECTOR
    try:
        floor, moved = move.floor.evaluate(sizes), move.moved.evaluate(sizes)
    except SymbolicError:
        return SectorCount(0, most, exact=False)
    return SectorCount(max(floor, 0), min(max(moved, 0), most), exact=False)


def _marked(
    parts: Sequence[AccessedPart],
    shape: Sequence[int],
    strides: Sequence[int],
    places: int,
    sizes: Mapping[str, int],
    *,
    certain: bool,
) -> tuple[np.ndarray, bool]:
    """The places in memory that parts touch, and whether all parts are known; `certain`: only those that surely do."""
    marks = np.zeros(places, bool)
    elements = as_strided(marks, shape, strides)
    every = True
    for part in parts:
        if certain and not part.certain:
            continue
        boxes = list(_boxes(part, sizes))
        if boxes and boxes[-1] is None:
            every = False
            if not certain:
                elements[...] = True
            continue
        for box in boxes:
            assert box is not None
            elements[tuple(map(_slice, box))] = True
    return marks, every


def _boxes(part: AccessedPart, sizes: Mapping[str, int]) -> Iterator[Box | None]:
    """The boxes of a part; None, last, where only the run knows them, or they are too many."""
    if part.footprint is None or part.footprint.is_run_time:
        yield None
        return
    try:
        for number, box in enumerate(part.footprint.sample(sizes, MOST_BOXES)):
            if number == MOST_BOXES:
                yield None
                return
            yield box
    except SymbolicError:
        yield None


def _slice(indices: range) -> slice:
    """The same indices, upwards."""
    low, high = sorted((indices[0], indices[-1]))
    return slice(low, high + 1, abs(indices.step))


def _sectors(marks: np.ndarray, itemsize: int) -> int:
    """Return the number of sectors with a marked place; arrays begin at a sector's boundary."""
    if itemsize >= SECTOR:
        return int(marks.sum()) * -(-itemsize // SECTOR)
    together = SECTOR // itemsize
    padded = np.zeros(-(-len(marks) // together) * together, bool)
    padded[: len(marks)] = marks
    return int(padded.reshape(-1, together).any(axis=1).sum())
