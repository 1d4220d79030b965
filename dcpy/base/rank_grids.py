"""Rank grids: the axes of Cartesian grids of ranks, the last axis fastest, and the coordinates of a rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from dcpy.base.errors import GridError


@runtime_checkable
class RankGrid(Protocol):
    """Grid of ranks that is made before programs run: a whole grid, or rows or columns of one.

    Attributes
    ----------
    all_sizes
        How long its axes are; for a part of a grid, those of the whole.
    periods
        Of each of these, whether its last rank is followed by the first one.
    keep
        Which of these the grid has: all, or some where it is a part.
    exact
        A rank of the one part that counts; None where each part is the grid of its own ranks.
    """

    @property
    def all_sizes(self) -> tuple[int, ...]: ...

    @property
    def periods(self) -> tuple[bool, ...]: ...

    @property
    def keep(self) -> tuple[bool, ...]: ...

    @property
    def exact(self) -> int | None: ...


def balanced(count: int, dims: int) -> tuple[int, ...]:
    """`count` as a product of so many factors, the greatest first, as equal as they can be (as ``MPI_Dims_create``)."""
    if dims < 1:
        raise GridError("a grid has one axis at least")
    if dims == 1:
        return (count,)
    divisors = [n for n in range(1, count + 1) if count % n == 0]
    last = max(n for n in divisors if n**dims <= count)
    return (*balanced(count // last, dims - 1), last)


def fitted(sizes: Sequence[int], count: int) -> tuple[int, ...]:
    """Sizes of a grid of `count` ranks: 0 stands for what the others leave, balanced over all axes of size 0."""
    used = math.prod(size for size in sizes if size)
    rest = iter(balanced(max(count // max(used, 1), 1), sizes.count(0)) if 0 in sizes else ())
    return tuple(size or next(rest) for size in sizes)


def coordinates(rank: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the coordinates of a rank; a rank outside of the grid has the grid's sizes."""
    if rank >= math.prod(sizes):
        return tuple(sizes)
    found = []
    for size in reversed(sizes):
        rank, at = divmod(rank, size)
        found.append(at)
    return tuple(reversed(found))
