"""Block layouts: how an array is distributed in blocks on a process grid, and the block of one rank.

A distribution (`ir.distribution`) whose grid the program computes. Where a grid is rows or columns of another one, each
part has an array of its own: together they are one array with a dimension more, of which each part has one element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcpy.frontend.abstract_values.values import ArrayValue, TupleValue, integer
from dcpy.frontend.comm.process_grids import CartesianGrid
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.ir.analysis.distributed.ownership import local_shape, presence
from dcpy.ir.distribution import (
    Axis,
    Blocked,
    Cyclic,
    Distribution,
    Partial,
    ProcessGrid,
    Rest,
    Root,
    Section,
    coordinate_names,
)
from dcpy.ir.expressions.scalar import Const, Index, op
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, max_of, min_of
from dcpy.ir.types import int64

NAME = "grid"  # of the grid of a section, which has it by itself


@dataclass(frozen=True)
class BlockLayout:
    """Distribution of an array of `shape` on a grid, and the shape of this rank's `block`.

    `parts` are the axes of the grid along which each rank has an array of its own.
    """

    grid: CartesianGrid
    shape: tuple[Expr, ...]
    axes: tuple[Axis, ...]
    rest: tuple[Rest, ...] = ()
    parts: tuple[int, ...] = ()
    block: tuple[Expr, ...] = ()

    @property
    def distribution(self) -> Distribution:
        """The distribution of one array for all parts."""
        own: tuple[Axis, ...] = tuple(Blocked(axis, ONE) for axis in self.parts)
        return Distribution(NAME, (*own, *self.axes), self.rest)

    @property
    def process_grid(self) -> ProcessGrid:
        return ProcessGrid(self.grid.sizes)

    @property
    def whole_shape(self) -> tuple[Expr, ...]:
        """The shape of one array for all parts."""
        return (*(self.grid.sizes[axis] for axis in self.parts), *self.shape)

    @property
    def section(self) -> Section:
        """All of the array."""
        shape = self.whole_shape
        return Section(shape, Subset.whole(shape), self.distribution, self.process_grid)

    def here(self, expr: Expr) -> Expr:
        """Return the value of an expression over coordinates on this rank."""
        return expr.subs(dict(zip(coordinate_names(NAME, len(self.grid.sizes)), self.grid.coords, strict=True)))

    def with_block(self, b: OpBuilder) -> BlockLayout:
        """The same with the shape of this rank's block, as numbers that are computed now."""
        shape = local_shape(self.distribution, self.whole_shape, {NAME: self.process_grid})
        return replace(self, block=_computed(b, [self.here(size) for size in shape]))

    @property
    def own_block(self) -> tuple[Expr, ...]:
        """The shape of this rank's block in the array of its part."""
        return self.block[len(self.parts) :]

    def misfits(self, memory: ArrayValue) -> tuple[Expr, ...]:
        """A number for each dimension: 1 where memory has not the size of this rank's block, else 0."""
        has_block = self.grid.is_inside * self.here(presence(self.distribution, {NAME: self.process_grid}))
        return tuple(
            min_of(1, max_of(size - wanted, wanted - size)) * has_block
            for size, wanted in zip(memory.shape, self.own_block, strict=True)
        )

    def window(self, b: OpBuilder, memory: ArrayValue) -> ArrayValue:
        """Return this rank's block of an array: all of it, or nothing on ranks that have none."""
        return self.with_parts(b, _first(memory, self.own_block))

    def with_parts(self, b: OpBuilder, memory: ArrayValue) -> ArrayValue:
        """This rank's block of the array for all parts, in memory of its size; nothing on ranks outside of the grid."""
        if not self.parts:
            return memory
        for _ in self.parts:
            memory = memory.expanded(0)
        desc = memory.as_view(b.desc(memory))
        return _first(ArrayValue.whole(b.emit.view(desc), desc), self.block)


def _first(memory: ArrayValue, sizes: Sequence[Expr]) -> ArrayValue:
    """The first elements of each dimension, as many as `sizes` say."""
    ranges = tuple(Range(ZERO, size) for size in sizes)
    return replace(memory, shape=tuple(sizes), window=memory.subset(ranges), fresh=False)


def dealt(
    grid: CartesianGrid, shape: Sequence[Expr], axes: Sequence[int | None], blocks: Sequence[Expr | None]
) -> BlockLayout:
    """Blocks: of each dimension the axis of the grid, or None, and their size; None stands for balanced ones."""
    made: list[Axis] = [
        None if axis is None else Blocked(axis, block) for axis, block in zip(axes, blocks, strict=True)
    ]
    return BlockLayout(grid, tuple(shape), tuple(made))


def cyclic(
    grid: CartesianGrid, shape: Sequence[Expr], axes: Sequence[int | None], blocks: Sequence[Expr]
) -> BlockLayout:
    """Blocks of these sizes that go round."""
    made = (None if axis is None else Cyclic(axis, block) for axis, block in zip(axes, blocks, strict=True))
    return BlockLayout(grid, tuple(shape), tuple(made))


def across(
    b: OpBuilder, layout: BlockLayout, copies: CartesianGrid | None, over: str = ""
) -> tuple[BlockLayout, BlockLayout]:
    """A layout on its grid, and the array at the first rank of each part: ``(at the root, in blocks)``.

    The axes of `copies` have copies of blocks, or, where `over` is an operation, what is still to be combined by it.
    """
    grid = layout.grid
    more = () if copies is None else copies.axes
    fixed = None if grid.exact is None else grid.coords_of(grid.exact)
    roots: list[Rest] = []
    own: list[Rest] = []
    parts: list[int] = []
    for axis in range(len(grid.sizes)):
        at = ZERO if fixed is None or axis in grid.axes else fixed[axis]
        if axis in grid.axes:
            roots.append(Root(axis))
        elif axis in more:
            roots.append(Root(axis, at))
            own += [Partial(axis, over)] if over else []
        elif fixed is not None:
            roots.append(Root(axis, at))
            own.append(Root(axis, at))
        else:
            parts.append(axis)
    whole = (None,) * len(layout.shape)
    at_root = replace(layout, axes=whole, rest=tuple(roots), parts=tuple(parts))
    return at_root.with_block(b), replace(layout, rest=tuple(own), parts=tuple(parts)).with_block(b)


def move(b: OpBuilder, x: ArrayValue, source: BlockLayout, out: ArrayValue, target: BlockLayout) -> None:
    """The copy from one layout to another, of windows of both."""
    b.library("comm.copy", {"src": x}, {"dst": out}, source=source.section, target=target.section)


def total(b: OpBuilder, *numbers: Expr) -> tuple[Expr, ...]:
    """The sum of each number over all ranks, none of which is negative."""
    return _together(b, numbers, "add", 0)


def _together(b: OpBuilder, numbers: Sequence[Expr], operation: str, least: int | None = None) -> tuple[Expr, ...]:
    found = b.empty((len(numbers),), int64, name="of_all")
    b.library("comm.allreduce", {"x": _stored(b, numbers)}, {"out": found}, op=operation)
    return tuple(b.emit.assign_symbol("n", found.load((k,)), least) for k in range(len(numbers)))


def _computed(b: OpBuilder, sizes: Sequence[Expr]) -> tuple[Expr, ...]:
    """Sizes as numbers and symbols: what is read from memory is not written out again wherever it is mentioned."""
    long = [size for size in dict.fromkeys(sizes) if size.constant is None and size.name is None]
    memory = _stored(b, long) if long else None
    known = {size: b.emit.assign_symbol("n", memory.load((k,)), 0) for k, size in enumerate(long) if memory}
    return tuple(known.get(size, size) for size in sizes)


def _stored(b: OpBuilder, numbers: Sequence[Expr]) -> ArrayValue:
    return b.array(TupleValue(tuple(map(integer, numbers))))


def require_agreement(b: OpBuilder, name: str, shape: Sequence[Expr], *parts: tuple[ArrayValue, BlockLayout]) -> None:
    """`ValueError` on all ranks where they pass other shapes, or the block of one is not what its layout says."""
    known = [size for size in shape if size.constant is None]
    misfits = [(*part, part[1].misfits(part[0])) for part in parts]
    wrong = [min_of(1, sum(off, ZERO)) * (layout.grid.rank + 1) for _, layout, off in misfits]
    asked = [*known, *(-size for size in known), *wrong]
    if not asked:
        return
    found, count = _together(b, asked, "max"), len(known)
    for size, negative in zip(found[:count], found[count : 2 * count], strict=True):
        same = op("eq", Index(size), Index(-negative))
        message = f"the ranks of a {name} pass arrays of other shapes: {{0}} and {{1}} elements along one axis"
        b.check(same, "ValueError", message, [Index(-negative), Index(size)])
    for (memory, layout, off), worst in zip(misfits, found[2 * count :], strict=True):
        _require_block(b, memory, layout, off, worst)


def _require_block(b: OpBuilder, memory: ArrayValue, layout: BlockLayout, off: Sequence[Expr], worst: Expr) -> None:
    """The rank with the wrong block says what is wrong with it; the others, that there is one."""
    for axis, each in enumerate(off):
        message = f"the block of rank {{0}} has {{1}} elements along axis {axis}, and the distribution says {{2}}"
        values = [Index(number) for number in (layout.grid.rank, memory.shape[axis], layout.own_block[axis])]
        b.check(op("eq", Index(each), Const(0, int64)), "ValueError", message, values)
    message = "the block of rank {0} has not the shape that the distribution says"
    b.check(op("eq", Index(worst), Const(0, int64)), "ValueError", message, [Index(worst - 1)])
