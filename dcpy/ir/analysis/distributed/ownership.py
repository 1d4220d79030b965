"""Ownership: which elements of a distributed array are on a rank, how many, and where in its memory.

The formulas of block-cyclic distributions, as expressions over the coordinates of a rank. Owned elements of a blocked
dimension are those of an interval ``low:high``, whose bounds are opaque to everything that reasons about sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcpy.ir.distribution import Axis, Blocked, Cyclic, Distribution, ProcessGrid, Root, coordinate_names
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, ceil_div, max_of, min_of, sym

Grids = Mapping[str, ProcessGrid]


@dataclass(frozen=True, slots=True)
class Share:
    """A rank's share of one dimension of `size` elements; its coordinate along the axis of `ranks` is `at`."""

    axis: Axis
    size: Expr
    ranks: Expr
    at: Expr
    halo: tuple[int, int] = (0, 0)

    @property
    def low(self) -> Expr:
        """The first element owned of a blocked dimension; one that is whole begins at 0."""
        return max_of(0, self.at * _block(self.axis) - self.axis.offset) if isinstance(self.axis, Blocked) else ZERO

    @property
    def high(self) -> Expr:
        """The end of the elements owned of a blocked dimension, or of one that is whole."""
        if not isinstance(self.axis, Blocked):
            return self.size
        return min_of(self.size, (self.at + 1) * _block(self.axis) - self.axis.offset)

    @property
    def owned(self) -> Expr:
        """Number of elements that the rank owns."""
        match self.axis:
            case None:
                return self.size
            case Blocked():
                return max_of(0, self.high - self.low)
            case Cyclic():
                return self.owned_before(self.size)

    @property
    def length(self) -> Expr:
        """Number of elements that the rank has room for, its halo included."""
        return self.owned + self.halo[0] + self.halo[1]

    @property
    def on_grid(self) -> Expr:
        """1 on ranks of the grid, 0 on those outside of it."""
        return min_of(1, max_of(0, self.ranks - self.at))

    def local(self, index: Expr) -> Expr:
        """Return the local index of an element in the memory of the rank that has it."""
        match self.axis:
            case None:
                return index
            case Blocked():
                return index - self.low + self.halo[0]
            case Cyclic(block=block, offset=offset):
                place = index + offset
                return place // (block * self.ranks) * block + place % block - self._dealt(offset)

    def owned_before(self, index: Expr) -> Expr:
        """Number of elements before one of the dimension that the rank owns."""
        match self.axis:
            case None:
                return index
            case Blocked():
                return max_of(0, min_of(index, self.high) - self.low)
            case Cyclic(offset=offset):
                return (self._dealt(index + offset) - self._dealt(offset)) * self.on_grid

    def _dealt(self, count: Expr) -> Expr:
        """Return how many of the first `count` elements, without an offset, a cyclic dimension gives this rank."""
        block, round_ = _block(self.axis), _block(self.axis) * self.ranks
        return count // round_ * block + min_of(block, max_of(0, count % round_ - self.at * block))


def resolved(placed: Distribution, shape: tuple[Expr, ...], grids: Grids) -> Distribution:
    """The distribution with the size of each block said: of balanced ones, the elements by the ranks, rounded up."""
    sizes = grids[placed.grid].sizes
    axes = tuple(
        replace(axis, block=ceil_div(size + axis.offset, sizes[axis.axis]))
        if isinstance(axis, Blocked) and axis.block is None
        else axis
        for axis, size in zip(placed.axes, shape, strict=True)
    )
    return replace(placed, axes=axes)


def shares_of(placed: Distribution, shape: tuple[Expr, ...], grids: Grids) -> tuple[Share, ...]:
    """Return a rank's share of each dimension; its coordinates are the symbols of the grid."""
    sizes = grids[placed.grid].sizes
    names = coordinate_names(placed.grid, len(sizes))
    exact = resolved(placed, shape, grids)
    return tuple(
        Share(None, size, ONE, ZERO, exact.halo_of(dim))
        if axis is None
        else Share(axis, size, sizes[axis.axis], sym(names[axis.axis]), exact.halo_of(dim))
        for dim, (axis, size) in enumerate(zip(exact.axes, shape, strict=True))
    )


def presence(placed: Distribution, grids: Grids) -> Expr:
    """1 on the ranks that have something of an array that is kept at roots only, 0 on others."""
    names = coordinate_names(placed.grid, len(grids[placed.grid].sizes))
    present = ONE
    for part in placed.rest:
        if isinstance(part, Root):
            away = sym(names[part.axis]) - part.at
            present = present * max_of(0, 1 - max_of(away, -away))
    return present


def local_shape(placed: Distribution, shape: tuple[Expr, ...], grids: Grids) -> tuple[Expr, ...]:
    """The shape of a rank's own part. Where it has none, that of an empty array."""
    lengths = [share.length for share in shares_of(placed, shape, grids)]
    if lengths:
        lengths[0] = lengths[0] * presence(placed, grids)
    return tuple(lengths)


def owner(axis: Blocked | Cyclic, index: Expr, ranks: Expr) -> Expr:
    """The coordinate of the ranks that own an element; the size of blocks has been said (`resolved`)."""
    place = (index + axis.offset) // _block(axis)
    return place if isinstance(axis, Blocked) else place % ranks


def shifted(axis: Axis, by: Expr) -> Axis:
    """Return the distribution of a part that begins at element `by` of a whole."""
    return axis if axis is None else replace(axis, offset=axis.offset + by)


def _block(axis: Axis) -> Expr:
    assert axis is not None, "what is whole has no blocks"
    assert axis.block is not None, "blocks of a resolved distribution have a size"
    return as_expr(axis.block)
