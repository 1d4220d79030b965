"""Halos (ghost zones): the elements around a tile of a grid that it needs to compute several steps alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, Ranges, max_of, min_of
from dcpy.transforms.loops.sweeps import Sweeps, SweptArray
from dcpy.transforms.memory.local_buffers import BufferBox


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of the grid for a number of steps: `starts` are its first elements, symbols of the map over tiles."""

    sweeps: Sweeps
    steps: int
    sizes: tuple[int, ...]
    starts: tuple[Expr, ...]

    def box(self, grid: SweptArray, shape: Sequence[Expr]) -> BufferBox:
        """The tile of a grid with the halo of all steps, not clipped to the grid."""
        dims: list[DimSubset] = [Range(ZERO, size) for size in shape]
        for axis, dim in enumerate(grid.dims):
            below, above = self.sweeps.reach(axis)
            start = self.starts[axis]
            dims[dim] = Range(start - self.steps * below, start + self.sizes[axis] + self.steps * above)
        return BufferBox(grid.array, Subset(tuple(dims)))

    def inside(self, grid: SweptArray, shape: Sequence[Expr], ranges: Ranges) -> Subset:
        """The tile without halo, clipped to the grid."""
        dims: list[DimSubset] = [Range(ZERO, size) for size in shape]
        for axis, dim in enumerate(grid.dims):
            start = self.starts[axis]
            dims[dim] = _upto(start, min_of(start + self.sizes[axis], shape[dim]), ranges)
        return Subset(tuple(dims))

    def iterations(self, number: int, axis: int, values: Range, left: Expr, ranges: Ranges) -> Range:
        """The iterations of a sweep that compute the elements that a tile needs when `left` more steps follow."""
        course, start = self.sweeps.sweeps[number].courses[axis], self.starts[axis]
        below, above = self.sweeps.reach(axis)
        later_below, later_above = self.sweeps.reach(axis, after=number)
        first = start - left * below - later_below - course.writes[1]
        end = start + self.sizes[axis] + left * above + later_above - course.writes[0]
        return Range(ranges.simplify(max_of(values.start, first)), ranges.simplify(min_of(values.stop, end)))


def clipped(box: BufferBox, shape: Sequence[Expr], ranges: Ranges) -> Subset:
    """The part of a box that lies inside the grid."""
    dims = []
    for dim, size in zip(box.subset.dims, shape, strict=True):
        assert isinstance(dim, Range)
        dims.append(_upto(max_of(dim.start, ZERO), min_of(dim.stop, size), ranges))
    return Subset(tuple(dims))


def _upto(start: Expr, stop: Expr, ranges: Ranges) -> Range:
    """The range ``start:stop``, empty (not reversed) if the grid is too small to reach the tile."""
    first, end = ranges.simplify(start), ranges.simplify(stop)
    return Range(first, end if ranges.proves_le(first, end) else max_of(first, end))
