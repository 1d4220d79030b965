"""Distributions: on which rank of a grid each element of an array lives, and each iteration of a map runs.

Data distribution of High Performance Fortran and of ScaLAPACK, as values. A distribution never says what elements are:
without all of them a program means the same. The formulas that follow from one are in
`ir.analysis.distributed.ownership`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, ExprLike, as_expr, sym


@dataclass(frozen=True, slots=True)
class ProcessGrid:
    """Ranks in rows and columns, the last axis fastest. Sizes may be symbols, which have values when a program runs."""

    sizes: tuple[Expr, ...]

    @classmethod
    def of(cls, *sizes: ExprLike | str) -> ProcessGrid:
        """A grid of these sizes, which may be names of symbols."""
        return cls(tuple(sym(size) if isinstance(size, str) else as_expr(size) for size in sizes))

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for size in self.sizes for name in size.symbols))

    def subs(self, values: Mapping[str, ExprLike]) -> ProcessGrid:
        return ProcessGrid(tuple(size.subs(values) for size in self.sizes))

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.sizes))}]"


@dataclass(frozen=True, slots=True)
class Blocked:
    """Element i is at the coordinate ``(i + offset) // block`` of a grid's axis; all coordinates are on the grid.

    No `block` stands for a balanced one: the number of elements, offset included, by that of ranks, rounded up. An
    offset aligns what has the size of a part with the whole: element i of it is where element i + offset is.
    """

    axis: int
    block: Expr | None = None
    offset: Expr = ZERO

    def __str__(self) -> str:
        by = "" if self.block is None else f" by {_factor(self.block)}"
        return f"block {self.axis}{by}{_offset(self.offset)}"


@dataclass(frozen=True, slots=True)
class Cyclic:
    """Element i is at the coordinate ``(i + offset) // block % p`` of an axis of p ranks: blocks go round."""

    axis: int
    block: Expr = ONE
    offset: Expr = ZERO

    def __str__(self) -> str:
        by = "" if self.block is ONE else f" by {_factor(self.block)}"
        return f"cyclic {self.axis}{by}{_offset(self.offset)}"


@dataclass(frozen=True, slots=True)
class Root:
    """Of the ranks along an axis, only those at one coordinate have the elements."""

    axis: int
    at: Expr = ZERO

    def __str__(self) -> str:
        return f"root {self.axis}" if self.at is ZERO else f"root {self.axis} at {_factor(self.at)}"


@dataclass(frozen=True, slots=True)
class Partial:
    """The elements are what the operation `op` makes of all values along an axis: a sum that is still to be taken."""

    axis: int
    op: str

    def __str__(self) -> str:
        return f"partial {self.axis} {self.op}"


Axis = Blocked | Cyclic | None  # None: every rank has the whole dimension
Rest = Root | Partial


@dataclass(frozen=True, slots=True)
class Distribution:
    """Distribution of an array's elements on a grid: one entry of `axes` per dimension (for a map, per parameter).

    An axis of the grid that no dimension uses, and that `rest` does not name, has copies on all its ranks. `halo` is
    how many elements of the neighbours, before and behind, there is room for along each dimension (none: no room); of
    a map, how many of their iterations a rank runs as well, to have what these compute.
    """

    grid: str
    axes: tuple[Axis, ...] = ()
    rest: tuple[Rest, ...] = ()
    halo: tuple[tuple[int, int], ...] = ()

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols in sizes of blocks, offsets and coordinates; the sizes of the grid are the grid's."""
        return tuple(dict.fromkeys(name for value in self._values() for name in value.symbols))

    def _values(self) -> Iterator[Expr]:
        for axis in self.axes:
            if axis is not None:
                yield from (axis.offset,) if axis.block is None else (axis.block, axis.offset)
        yield from (part.at for part in self.rest if isinstance(part, Root))

    def subs(self, values: Mapping[str, ExprLike]) -> Distribution:
        if not any(name in values for name in self.symbols):
            return self
        rest = tuple(replace(part, at=part.at.subs(values)) if isinstance(part, Root) else part for part in self.rest)
        return replace(self, axes=tuple(_axis_subs(axis, values) for axis in self.axes), rest=rest)

    @property
    def has_copies_everywhere(self) -> bool:
        """Return whether each rank has all elements, as without a distribution."""
        return not self.rest and all(axis is None for axis in self.axes)

    def halo_of(self, dim: int) -> tuple[int, int]:
        """The room before and behind, along one dimension."""
        return self.halo[dim] if self.halo else (0, 0)

    def without_halo(self) -> Distribution:
        return replace(self, halo=()) if self.halo else self

    def __str__(self) -> str:
        axes = ", ".join("whole" if axis is None else str(axis) for axis in self.axes)
        rest = "".join(f" {part}" for part in self.rest)
        halo = f" halo ({', '.join(f'{low}:{high}' for low, high in self.halo)})" if self.halo else ""
        return f"{self.grid}({axes}){rest}{halo}"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a distributed array, in the array's own indices: what a message carries, wherever it lives.

    A program that is written for one rank computes its grids: then a section has the `grid` of its distribution.
    """

    shape: tuple[Expr, ...]
    subset: Subset
    distribution: Distribution | None = None
    grid: ProcessGrid | None = None

    @property
    def symbols(self) -> tuple[str, ...]:
        own = () if self.distribution is None else self.distribution.symbols
        of_grid = () if self.grid is None else self.grid.symbols
        of_shape = (name for size in self.shape for name in size.symbols)
        return tuple(dict.fromkeys((*of_shape, *self.subset.symbols, *own, *of_grid)))

    def subs(self, values: Mapping[str, ExprLike]) -> Section:
        placed = None if self.distribution is None else self.distribution.subs(values)
        grid = None if self.grid is None else self.grid.subs(values)
        return Section(tuple(size.subs(values) for size in self.shape), self.subset.subs(values), placed, grid)

    def __str__(self) -> str:
        where = "" if self.distribution is None else f" on {self.distribution}"
        where += "" if self.grid is None else f" of {self.grid}"
        return f"[{', '.join(map(str, self.shape))}] at [{self.subset}]{where}"


def coordinate_names(grid: str, dims: int) -> tuple[str, ...]:
    """The symbols of a rank's coordinates on a grid: ``g_c0``, ``g_c1``. One outside of it has the grid's sizes."""
    return tuple(f"{grid}_c{axis}" for axis in range(dims))


def _axis_subs(axis: Axis, values: Mapping[str, ExprLike]) -> Axis:
    if axis is None:
        return None
    if isinstance(axis, Cyclic):
        return replace(axis, block=axis.block.subs(values), offset=axis.offset.subs(values))
    return replace(axis, block=None if axis.block is None else axis.block.subs(values), offset=axis.offset.subs(values))


def _offset(offset: Expr) -> str:
    return "" if offset is ZERO else f" offset {_factor(offset)}"


def _factor(value: Expr) -> str:
    """An expression as it stands between words: in parentheses, unless it is one word."""
    return str(value) if value.name is not None or (value.constant or -1) >= 0 else f"({value})"
