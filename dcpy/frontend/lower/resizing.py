"""Arrays whose sizes depend on the path taken: ``Z = Z[mask]`` in a loop, a branch that makes more columns.

Versions of a name meet in the front of a *home* that is large enough for all of them; scalars hold the sizes of the
one that is there. A name that is read shows that part, as an array with sizes that are symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.frontend.values import ArrayValue, Resized
from dcpy.ir import types
from dcpy.ir.expr import Index, Load, ScalarExpr
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, Ranges, max_of, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame, Names

Version = ArrayValue | Resized


def meet(
    frame: Frame, name: str, values: Sequence[Version], facts: Sequence[Ranges], busy: Names
) -> Resized | None:  # fmt: skip
    """Where versions of one rank and dtype meet; None where no size that is known beforehand is large enough."""
    first = values[0].home if isinstance(values[0], Resized) else values[0]
    capacities: list[Expr] = []
    sizes: list[str | None] = []
    for axis in range(first.rank):
        found = [_size(value, axis, ranges) for value, ranges in zip(values, facts, strict=True)]
        homes = [value.home.shape[axis] for value in values if isinstance(value, Resized) and _varies(value, axis)]
        fixed = all(size is found[0] for size in found) and not homes
        capacity = found[0] if fixed and _known(frame, found[0]) else _capacity(frame, found, facts, homes)
        if capacity is None:
            return None
        capacities.append(capacity)
        sizes.append(None if capacity is found[0] and fixed else frame.size_home(name, axis))
    return Resized(frame.array_home(name, first.dtype, tuple(capacities), busy), tuple(sizes))


def concrete(frame: Frame, value: Resized) -> ArrayValue:
    """The part of the home that is in use, with symbols for its sizes."""
    shape = [
        capacity
        if container is None
        else frame.emit.assign_symbol("n", Load(container, (), types.int64), ZERO, capacity)
        for capacity, container in zip(value.home.shape, value.sizes, strict=True)
    ]
    return front(value, shape)


def front(value: Resized, shape: Sequence[Expr]) -> ArrayValue:
    """The first elements of the home along each dimension."""
    window = Subset(tuple(Range(ZERO, size) for size in shape))
    return replace(value.home, shape=tuple(shape), window=window)


def new_sizes(frame: Frame, target: Resized, source: ArrayValue) -> list[tuple[Memlet, ScalarExpr]]:
    """What the scalars of `target` become when `source` moves there."""
    pairs = zip(target.sizes, source.shape, strict=True)
    return [(Memlet(name, Subset()), Index(frame.b.exact(size))) for name, size in pairs if name is not None]


def is_in_place(target: Resized, source: ArrayValue) -> bool:
    """Whether the source is at the front of the home already."""
    starts = [dim.start if isinstance(dim, Range) else None for dim in source.window.dims]
    plain = source.is_plain and all(start is ZERO for start in starts)
    return plain and source.container == target.home.container and not _has_steps(source)


def _has_steps(source: ArrayValue) -> bool:
    return any(isinstance(dim, Range) and dim.step.constant != 1 for dim in source.window.dims)


def _size(value: Version, axis: int, ranges: Ranges) -> Expr:
    """A size as the path knows it: 0 for a window that is inside out."""
    if isinstance(value, Resized):
        return value.home.shape[axis]
    size = value.shape[axis]
    return size if ranges.proves_nonneg(size) else max_of(size, 0)


def _varies(value: Version, axis: int) -> bool:
    return isinstance(value, Resized) and value.sizes[axis] is not None


def _capacity(frame: Frame, sizes: Sequence[Expr], facts: Sequence[Ranges], homes: Sequence[Expr]) -> Expr | None:
    """A size that is known before the program runs, and large enough for all paths.

    Where there are `homes` already, it is one of theirs: what grows once more may do so in each iteration of a loop.
    """
    bounds = [_bound(frame, size, ranges) for size, ranges in zip(sizes, facts, strict=True)]
    known = [bound for bound in dict.fromkeys(homes or bounds) if bound is not None]
    for candidate in known:
        pairs = zip(sizes, bounds, facts, strict=True)
        if all(candidate is bound or ranges.proves_le(size, candidate) for size, bound, ranges in pairs):
            return candidate
    return None if homes or None in bounds else max_of(*known)


def _bound(frame: Frame, size: Expr, ranges: Ranges) -> Expr | None:
    """The size, or what it is at most, in terms of what is known before the program runs."""
    for name in reversed(ranges.names):
        if name in size.symbols and not _known(frame, sym(name)):
            form = size.linear_in(name)
            slope = 0 if form is None else form[0].constant or 0
            limit = ranges.bounds(name)[1 if slope > 0 else 0]
            if form is None or limit is None or slope == 0:
                return None
            size = form[1] + form[0] * limit
    return size if _known(frame, size) else None


def _known(frame: Frame, size: Expr) -> bool:
    """Whether the size is known before the program runs: homes may live anywhere."""
    return all(name in frame.emit.sdfg.symbols for name in size.symbols)
