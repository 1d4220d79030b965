"""Dynamic sizes: arrays whose sizes depend on the path taken, ``Z = Z[mask]`` in a loop.

Versions of a name meet in the front of a *slot*; scalars hold the sizes of the one that is there. A name that is read
shows that part, as an array with sizes that are symbols. The slot is large enough for all versions where such a size is
known beforehand; else it is a buffer that gets more room when a version needs it: ``x = np.append(x, y)`` in a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.dynamic_arrays import VARYING, Resized, Varying
from dcpy.frontend.abstract_values.list_values import GrownText
from dcpy.frontend.abstract_values.values import ArrayValue, RecordValue, TupleValue, Value, with_parts
from dcpy.frontend.lower.arrays import dynamic_views
from dcpy.frontend.lower.arrays.name_aliases import inherit_invalidation
from dcpy.frontend.lower.sequences import growing_texts
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Index, Load, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Branch, Resize
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, Ranges, max_of, product_of, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame, Names

MOST_RESERVED = 2**20  # elements along an axis that are reserved because there are never more

Version = ArrayValue | Resized


def join_sizes(
    frame: Frame, name: str, values: Sequence[Version], facts: Sequence[Ranges], busy: Names
) -> Resized:  # fmt: skip
    """Join versions of one rank and dtype."""
    slot = None if any(_grows(value) for value in values) else _large_enough(frame, name, values, facts, busy)
    if slot is not None:
        return slot
    first = values[0]
    like = first.slot if isinstance(first, Resized) else first
    return growing_slot(frame, name, like, rank(first), busy)


def widened(frame: Frame, name: str, head: Value, joined: Value, busy: Names) -> Value:
    """Return the value of a name at the head of a loop: if one iteration needs a larger slot, the next one may, too."""
    if not isinstance(head, Resized) or not isinstance(joined, Resized) or joined.grows:
        return joined
    if joined.slot.shape == head.slot.shape:
        return joined
    found = growing_slot(frame, name, head.slot, head.slot.rank, busy)
    inherit_invalidation(frame, found.slot, head.slot)
    inherit_invalidation(frame, found.slot, joined.slot)
    return found


def rank(value: Version) -> int:
    """Return the number of dimensions of a version."""
    return len(value.sizes) if isinstance(value, Resized) else value.rank


def growing_slot(frame: Frame, name: str, like: ArrayValue, dims: int, busy: Names) -> Resized:
    """A slot with room for arrays of any sizes."""
    sizes = tuple(frame.size_slot(name, k) for k in range(dims))
    return Resized(frame.growing_slot(name, like.dtype, busy), sizes, grows=True)


def _grows(value: Version) -> bool:
    return isinstance(value, Resized) and value.grows


def _large_enough(
    frame: Frame, name: str, values: Sequence[Version], facts: Sequence[Ranges], busy: Names
) -> Resized | None:  # fmt: skip
    """A slot of sizes that are known beforehand; None where none is large enough for all versions."""
    first = values[0].slot if isinstance(values[0], Resized) else values[0]
    capacities: list[Expr] = []
    sizes: list[str | None] = []
    for axis in range(first.rank):
        found = [_size(value, axis, ranges) for value, ranges in zip(values, facts, strict=True)]
        slots = [value.slot.shape[axis] for value in values if isinstance(value, Resized) and _varies(value, axis)]
        fixed = all(size is found[0] for size in found) and not slots
        capacity = found[0] if fixed and _known(frame, found[0]) else _capacity(frame, found, facts, slots)
        if capacity is None:
            return None
        capacities.append(capacity)
        sizes.append(None if capacity is found[0] and fixed else frame.size_slot(name, axis))
    return Resized(frame.array_slot(name, first.dtype, tuple(capacities), busy=busy), tuple(sizes))


def varies(value: Value) -> bool:
    """Return whether the value, or a part of it, is an array whose size or place depends on the path."""
    if isinstance(value, TupleValue | RecordValue):
        return any(map(varies, value.items))
    return isinstance(value, (*VARYING, GrownText))


def materialized_sizes(frame: Frame, value: Value) -> Value:
    """The value as it is now, parts of tuples and objects included."""
    if isinstance(value, GrownText):
        return growing_texts.concrete(frame, value)
    if isinstance(value, VARYING):
        return concrete(frame, value)
    return with_parts(value, lambda part: materialized_sizes(frame, part)) if varies(value) else value


def concrete(frame: Frame, value: Varying) -> ArrayValue:
    """Return the current array, with symbols for its sizes."""
    if not isinstance(value, Resized):
        return dynamic_views.concrete(frame, value)
    capacities = [None] * len(value.sizes) if value.grows else list(value.slot.shape)
    shape = [_size_now(frame, capacity, size) for capacity, size in zip(capacities, value.sizes, strict=True)]
    merge = frame.b.sizes_by_path.get(value.slot.container)
    frame.b.sizes_by_path.update({name: merge for size in shape for name in size.symbols})
    return front(frame, value, shape)


def _size_now(frame: Frame, capacity: Expr | None, container: str | None) -> Expr:
    if container is None:
        assert capacity is not None  # what grows holds all of its sizes
        return capacity
    return frame.emit.assign_symbol("n", Load(container, (), types.int64), ZERO, capacity)


def front(frame: Frame, value: Resized, shape: Sequence[Expr]) -> ArrayValue:
    """The elements in use: the first of the buffer that grows, else the first along each dimension."""
    if not value.grows:
        window = Subset(tuple(Range(ZERO, size) for size in shape))
        return replace(value.slot, shape=tuple(shape), window=window)
    total = product_of(*shape)
    flat = replace(value.slot, shape=(total,), window=Subset((Range(ZERO, total),)))
    return flat if len(shape) == 1 else frame.b.reshape(flat, tuple(shape))


def make_room(frame: Frame, target: Resized, shape: Sequence[Expr]) -> None:
    """Make room before a version of this shape moves to a slot that grows: what is there is needed no more."""
    room = target.slot.shape[0]
    assert room.name is not None  # `Frame.growing_slot`
    total = product_of(*shape)
    with frame.emit.attempt() as region:
        more = op("max", Index(room + room), Index(total))
        frame.emit.block(Resize(room.name, more, target.slot.container, ZERO))
    frame.emit.block(Branch([(op("gt", Index(total), Index(room)), region)], None))


def new_sizes(frame: Frame, target: Resized, source: ArrayValue) -> list[tuple[Memlet, ScalarExpr]]:
    """Return the new values of the scalars of `target` when `source` moves there."""
    pairs = zip(target.sizes, source.shape, strict=True)
    return [(Memlet(name, Subset()), Index(frame.b.exact(size))) for name, size in pairs if name is not None]


def is_in_place(frame: Frame, target: Resized, source: ArrayValue) -> bool:
    """Return whether the source is at the front of the slot already."""
    if target.grows:
        desc = source.as_view(frame.b.desc(source))
        mine = frame.b.root(source.container) == target.slot.container
        return mine and desc.offset is ZERO and desc.dtype == target.slot.dtype and frame.b.contiguous(source)
    starts = [dim.start if isinstance(dim, Range) else None for dim in source.window.dims]
    plain = source.is_plain and all(start is ZERO for start in starts)
    return plain and source.container == target.slot.container and not _has_steps(source)


def _has_steps(source: ArrayValue) -> bool:
    return any(isinstance(dim, Range) and dim.step.constant != 1 for dim in source.window.dims)


def _size(value: Version, axis: int, ranges: Ranges) -> Expr:
    """A size as the path knows it: 0 for a window that is inside out."""
    if isinstance(value, Resized):
        return value.slot.shape[axis]
    size = value.shape[axis]
    return size if ranges.proves_nonneg(size) else max_of(size, 0)


def _varies(value: Version, axis: int) -> bool:
    return isinstance(value, Resized) and value.sizes[axis] is not None


def _capacity(frame: Frame, sizes: Sequence[Expr], facts: Sequence[Ranges], slots: Sequence[Expr]) -> Expr | None:
    """A size that is known before the program runs, and large enough for all paths.

    Where there are `slots` already, it is one of theirs: what grows once more may do so in each iteration of a loop.
    """
    bounds = [_bound(frame, size, ranges) for size, ranges in zip(sizes, facts, strict=True)]
    known = [bound for bound in dict.fromkeys(slots or bounds) if bound is not None]
    for candidate in known:
        pairs = zip(sizes, bounds, facts, strict=True)
        if all(candidate is bound or ranges.proves_le(size, candidate) for size, bound, ranges in pairs):
            return candidate
    return None if slots or None in bounds else max_of(*known)


def _bound(frame: Frame, size: Expr, ranges: Ranges) -> Expr | None:
    """The size, or what it is at most, in terms of what is known before the program runs.

    A large number is no bound to reserve memory by: such ones come of checks that a process can address an array.
    """
    for name in reversed(ranges.names):
        if name in size.symbols and not _known(frame, sym(name)):
            form = size.linear_in(name)
            slope = 0 if form is None else form[0].constant or 0
            limit = ranges.bounds(name)[1 if slope > 0 else 0]
            if form is None or limit is None or slope == 0:
                return None
            size = form[1] + form[0] * limit
            if size.constant is not None and size.constant > MOST_RESERVED:
                return None
    return size if _known(frame, size) else None


def _known(frame: Frame, size: Expr) -> bool:
    """Return whether the size is known before the program runs: slots may live anywhere."""
    return all(name in frame.emit.sdfg.symbols for name in size.symbols)
