"""Candidates: the distributions that an array may have, on grids of one axis or two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from dcpy.ir.distribution import Axis, Blocked, Distribution

SMALL = 4096  #: bytes of an array that is not worth distributing


def candidates_of(grid: str, extents: Sequence[int], shape: Sequence[int], itemsize: int) -> list[Distribution | None]:
    """None, which stands for all of it on each rank, then balanced blocks of dimensions that give each rank some.

    `shape`: what the sizes are in a typical run.
    """
    found: list[Distribution | None] = [None]
    bytes_ = itemsize
    for size in shape:
        bytes_ *= size
    if bytes_ > SMALL:
        found += _blocks(grid, extents, shape)
    return found


def _blocks(grid: str, extents: Sequence[int], shape: Sequence[int]) -> Iterator[Distribution]:
    """One dimension along an axis of the grid, or several, each along one of its own."""
    for count in range(len(extents), 0, -1):
        for axes in permutations(range(len(extents)), count):
            for dims in permutations(range(len(shape)), count):
                if list(dims) == sorted(dims) and all(
                    shape[dim] >= extents[axis] for dim, axis in zip(dims, axes, strict=True)
                ):
                    placed: dict[int, Axis] = {dim: Blocked(axis) for dim, axis in zip(dims, axes, strict=True)}
                    yield Distribution(grid, tuple(placed.get(dim) for dim in range(len(shape))))
