"""Subsets: the elements of a container that an access touches.

A `Subset` has one entry per dimension: an expression (one index; the dimension is dropped) or a `Range` (kept). The
algebra here is symbolic and quick; each question returns True only when it is proved under the given `Ranges`.
Exact answers over parametric sets come from `ir.analysis.polyhedral.integer_sets`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from dcpy.base.errors import SymbolicError
from dcpy.ir.symbolic import (
    ONE,
    ZERO,
    Expr,
    ExprLike,
    Ranges,
    as_expr,
    ceil_div,
    max_of,
    min_of,
    parse_expr,
    product_of,
)

_NOTHING_KNOWN = Ranges()


@dataclass(frozen=True, slots=True)
class Range:
    """``start:stop:step`` as in Python, `stop` excluded; `step` is never 0. Bounds are never negative-from-the-end."""

    start: Expr
    stop: Expr
    step: Expr = ONE

    @classmethod
    def of(cls, start: ExprLike, stop: ExprLike, step: ExprLike = 1) -> Range:
        return cls(as_expr(start), as_expr(stop), as_expr(step))

    @property
    def size(self) -> Expr:
        """Number of elements, for a range that is not inside out (``stop`` is not before ``start``)."""
        if self.step is ONE:
            return self.stop - self.start
        number = self.step.constant
        if number is None or number > 0:
            return ceil_div(self.stop - self.start, self.step)
        return ceil_div(self.start - self.stop, -self.step)

    def size_within(self, ranges: Ranges) -> Expr:
        """Return the number of elements, 0 for a range inside out unless `ranges` rule that out."""
        size = self.size
        return size if ranges.proves_nonneg(size) else max_of(size, 0)

    @property
    def last(self) -> Expr:
        """The last element, if there is one."""
        return self.start + (self.size - 1) * self.step

    def direction(self, ranges: Ranges) -> int:
        """The sign of the step, 1 or -1; 0 where it is not proved."""
        number = self.step.constant
        if number is not None:
            return 1 if number > 0 else -1
        if ranges.proves_nonneg(self.step):  # a step is never 0
            return 1
        return -1 if ranges.proves_nonneg(-self.step) else 0

    def hull(self, ranges: Ranges) -> tuple[Expr, Expr]:
        """Interval hull: smallest and largest element, if there is one.

        Where the sign of the step is not proved: two numbers between which all elements lie.
        """
        direction = self.direction(ranges)
        if not direction:
            return min_of(self.start, self.stop + 1), max_of(self.start, self.stop - 1)
        return (self.start, self.last) if direction > 0 else (self.last, self.start)

    def at(self, index: ExprLike) -> Expr:
        """The element number `index`."""
        return self.start + self.step * as_expr(index)

    def subs(self, values: Mapping[str, ExprLike]) -> Range:
        return Range(self.start.subs(values), self.stop.subs(values), self.step.subs(values))

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.start.symbols, *self.stop.symbols, *self.step.symbols)))

    def __str__(self) -> str:
        return f"{self.start}:{self.stop}" + ("" if self.step is ONE else f":{self.step}")


DimSubset = Expr | Range


@dataclass(frozen=True, slots=True)
class Subset:
    """One index or range per dimension of a container; empty for a 0-d one."""

    dims: tuple[DimSubset, ...] = ()

    @classmethod
    def whole(cls, shape: Iterable[Expr]) -> Subset:
        """All elements of a container of this shape."""
        return cls(tuple(Range(ZERO, size) for size in shape))

    @classmethod
    def point(cls, *indices: ExprLike) -> Subset:
        """One element."""
        return cls(tuple(as_expr(index) for index in indices))

    @property
    def rank(self) -> int:
        """Number of dimensions of the container."""
        return len(self.dims)

    @property
    def is_point(self) -> bool:
        return all(isinstance(dim, Expr) for dim in self.dims)

    @property
    def indices(self) -> tuple[Expr, ...]:
        """The indices of a point; `SymbolicError` where the subset has a range."""
        if not self.is_point:
            raise SymbolicError(f"[{self}] is not a single element")
        return tuple(dim for dim in self.dims if isinstance(dim, Expr))

    @property
    def shape(self) -> tuple[Expr, ...]:
        """Sizes of the kept dimensions."""
        return tuple(dim.size for dim in self.dims if isinstance(dim, Range))

    @property
    def volume(self) -> Expr:
        """Number of elements."""
        return product_of(*self.shape)

    @property
    def symbols(self) -> tuple[str, ...]:
        return _symbols_of(self.dims)

    def subs(self, values: Mapping[str, ExprLike]) -> Subset:
        """The subset with symbols replaced."""
        for name in self.symbols:
            if name in values:
                return Subset(tuple([dim.subs(values) for dim in self.dims]))
        return self

    def compose(self, inner: Subset) -> Subset:
        """`inner`, which counts within this subset's kept dimensions, as a subset of the container."""
        kept = iter(inner.dims)
        dims: list[DimSubset] = []
        for dim in self.dims:
            if isinstance(dim, Expr):
                dims.append(dim)
                continue
            part = next(kept)
            if isinstance(part, Expr):
                dims.append(dim.at(part))
            else:
                dims.append(Range(dim.at(part.start), dim.at(part.stop), dim.step * part.step))
        return Subset(tuple(dims))

    def covers(self, other: Subset, ranges: Ranges) -> bool:
        """Return whether every element of `other` is proved to be in this subset."""
        return self == other or all(
            _dim_covers(mine, its, ranges) for mine, its in zip(self.dims, other.dims, strict=True)
        )

    def disjoint(self, other: Subset, ranges: Ranges) -> bool:
        """Return whether the subsets are proved to share no element."""
        return any(_dim_disjoint(mine, its, ranges) for mine, its in zip(self.dims, other.dims, strict=True))

    def hull_with(self, other: Subset, ranges: Ranges = _NOTHING_KNOWN) -> Subset:
        """A box that holds both: their union, rounded up."""
        return Subset(tuple(_dim_hull(mine, its, ranges) for mine, its in zip(self.dims, other.dims, strict=True)))

    def intersection(self, other: Subset, ranges: Ranges = _NOTHING_KNOWN) -> Subset | None:
        """A box that holds what both share; exact for steps of 1. None where a dimension is proved disjoint."""
        if self.disjoint(other, ranges):
            return None
        dims: list[DimSubset] = []
        for mine, its in zip(self.dims, other.dims, strict=True):
            if isinstance(mine, Expr) or isinstance(its, Expr):
                dims.append(mine if isinstance(mine, Expr) else its)
                continue
            (low, high), (its_low, its_high) = mine.hull(ranges), its.hull(ranges)
            dims.append(Range(max_of(low, its_low), min_of(high, its_high) + 1))
        return Subset(tuple(dims))

    def difference(self, other: Subset, ranges: Ranges) -> tuple[Subset, ...] | None:
        """Disjoint boxes that together hold what is in this subset and not in `other`; None where a step is not 1.

        Exact. Boxes may be inside out, that is empty, for some values of the symbols.
        """
        ours, its = _edges(self), _edges(other)
        if ours is None or its is None:
            return None
        pieces: list[Subset] = []
        common: tuple[Range, ...] = ()  # what both have along the dimensions that are done
        for axis, ((low, stop), (cut, end)) in enumerate(zip(ours, its, strict=True)):
            after = tuple(Range(*edge) for edge in ours[axis + 1 :])
            before_cut = Range(low, ranges.simplify(min_of(stop, cut)))
            behind_cut = Range(ranges.simplify(max_of(low, cut, end)), stop)
            pieces += [Subset((*common, slab, *after)) for slab in (before_cut, behind_cut)]
            common = (*common, Range(ranges.simplify(max_of(low, cut)), ranges.simplify(min_of(stop, end))))
        return tuple(piece for piece in pieces if not any(_is_empty(dim, ranges) for dim in piece.dims))

    def __str__(self) -> str:
        return ", ".join(map(str, self.dims))


@lru_cache(maxsize=1 << 14)
def _symbols_of(dims: tuple[DimSubset, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for dim in dims for name in dim.symbols))


def parse_subset(text: str) -> Subset:
    """Reads ``i, 0:N, 1:N:2``; the inverse of ``str``. `ParseError` where the text does not fit."""
    if not text.strip():
        return Subset()
    dims: list[DimSubset] = []
    for part in _split_top(text):
        pieces = [parse_expr(piece) for piece in part.split(":")]
        dims.append(pieces[0] if len(pieces) == 1 else Range(pieces[0], pieces[1], *pieces[2:]))
    return Subset(tuple(dims))


def _split_top(text: str) -> list[str]:
    """Splits at commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def _edges(subset: Subset) -> list[tuple[Expr, Expr]] | None:
    """Start and stop along each dimension; None where a step is not 1."""
    if any(isinstance(dim, Range) and dim.step is not ONE for dim in subset.dims):
        return None
    return [(dim, dim + 1) if isinstance(dim, Expr) else (dim.start, dim.stop) for dim in subset.dims]


def _is_empty(dim: DimSubset, ranges: Ranges) -> bool:
    return isinstance(dim, Range) and ranges.proves_le(dim.stop, dim.start)


def _as_hull(dim: DimSubset, ranges: Ranges) -> tuple[Expr, Expr]:
    return (dim, dim) if isinstance(dim, Expr) else dim.hull(ranges)


def _dim_covers(outer: DimSubset, inner: DimSubset, ranges: Ranges) -> bool:
    if outer == inner:
        return True
    if isinstance(outer, Expr):
        low, high = _as_hull(inner, ranges)
        return low is outer and high is outer
    if isinstance(outer, Range) and outer.step is ONE:
        low, high = _as_hull(inner, ranges)
        return ranges.proves_le(outer.start, low) and ranges.proves_lt(high, outer.stop)
    return False


def _dim_disjoint(left: DimSubset, right: DimSubset, ranges: Ranges) -> bool:
    (left_low, left_high), (right_low, right_high) = _as_hull(left, ranges), _as_hull(right, ranges)
    if ranges.proves_lt(left_high, right_low) or ranges.proves_lt(right_high, left_low):
        return True
    return _different_phase(left, right)


def _different_phase(left: DimSubset, right: DimSubset) -> bool:
    """Ranges of one constant step that start at different remainders never meet: ``0:N:2`` and ``1:N:2``."""
    steps = [dim.step.constant for dim in (left, right) if isinstance(dim, Range)]
    if not steps or any(step is None or step != steps[0] for step in steps) or steps[0] in (0, 1, -1):
        return False
    starts = [dim.start if isinstance(dim, Range) else dim for dim in (left, right)]
    remainder = ((starts[0] - starts[1]) % abs(steps[0] or 1)).constant
    return remainder is not None and remainder != 0


def _dim_hull(left: DimSubset, right: DimSubset, ranges: Ranges) -> DimSubset:
    if left == right:
        return left
    (left_low, left_high), (right_low, right_high) = _as_hull(left, ranges), _as_hull(right, ranges)
    return Range(min_of(left_low, right_low), max_of(left_high, right_high) + 1)
