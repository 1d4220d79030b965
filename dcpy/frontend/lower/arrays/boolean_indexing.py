"""Boolean indexing: library nodes for selected elements, a select per element where a number is stored.

How many elements a mask selects is known at run time only: they are counted, and that is the size of what is selected.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import ArrayValue, Value, scalar_expr, shape_of
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.broadcasting import broadcast_to, require_stretch
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.arrays.basic_indexing import basic
from dcpy.frontend.lower.arrays.selection_value_numbers import memoized
from dcpy.frontend.lower.arrays.stores import same_place
from dcpy.frontend.lower.arrays.subscript_keys import FULL, NEW, SubscriptKeys, chooses, is_mask
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, cast, op
from dcpy.ir.symbolic import Expr, product_of, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

VALUES = "shape mismatch: value array of shape {} could not be broadcast to indexing result of shape {}"
FILLING = "NumPy boolean array indexing assignment "


@dataclass(frozen=True)
class MaskSelection:
    """Selection of `base` by one mask, which spans the dimensions from `axis` on."""

    base: ArrayValue
    mask: ArrayValue
    axis: int
    alone: bool  #: there are no other keys, not even slices

    def selected(self, count: Expr) -> tuple[Expr, ...]:
        """The shape of what is selected."""
        shape = self.base.shape
        return (*shape[: self.axis], count, *shape[self.axis + self.mask.rank :])


def masked(b: TypedEmitter, value: ArrayValue, keys: SubscriptKeys) -> MaskSelection | None:
    """Return the selection by keys among which a mask is the only array; None where there are others, or integers."""
    places = [place for place, key in enumerate(keys.items) if is_mask(key)]
    chosen = [place for place, key in enumerate(keys.items) if chooses(key)]
    if len(places) != 1 or chosen != places:
        return None
    (place,) = places
    mask, before = keys.items[place], keys.items[:place]
    assert isinstance(mask, ArrayValue)
    first = sum(1 for key in before if key != NEW)
    require_match(b, value, mask, first, first)
    base = basic(b, value, [*before, *[FULL] * mask.rank, *keys.items[place + 1 :]])
    assert isinstance(base, ArrayValue)
    return MaskSelection(base, mask, place, keys.is_only_key)


def count(b: TypedEmitter, mask: ArrayValue) -> Expr:
    """Return the number of elements that a mask selects, as a symbol; it is counted once."""
    return memoized(b, _count, mask)


def _count(b: TypedEmitter, mask: ArrayValue) -> Expr:
    found = b.reduce("add", mask, range(mask.rank), dtype=types.int64)
    size = product_of(*(b.exact(size) for size in mask.shape))
    return b.emit.assign_symbol("n", cast(scalar_expr(found), types.int64), 0, size)


def positions(b: TypedEmitter, mask: ArrayValue) -> tuple[ArrayValue, ...]:
    """Return the positions where a mask holds, to read only; they are computed once."""
    return memoized(b, new_positions, mask)


def new_positions(b: TypedEmitter, mask: ArrayValue) -> tuple[ArrayValue, ...]:
    """Return the positions where a mask holds, in C order: an array for each of its dimensions."""
    selected = count(b, mask)
    found = [b.empty([selected], types.int64, of_arrays=True) for _ in mask.shape]
    b.library("indexing.nonzero", {"mask": mask}, {f"out{axis}": out for axis, out in enumerate(found)})
    return tuple(found)


def compress(b: TypedEmitter, chosen: MaskSelection) -> ArrayValue:
    """The selected elements, packed: a new array."""
    along = range(chosen.axis, chosen.axis + chosen.mask.rank)
    order = memory_order.order_of_gathered(b, chosen.base, along, chosen.axis, 1)
    shape = chosen.selected(count(b, chosen.mask))
    order_made = "C" if b.contiguous(chosen.base) else order
    out = b.empty(shape, chosen.base.dtype, order=order_made, of_arrays=True)
    memory_order.lie_as_made(b, out, order, ())
    b.library("indexing.compress", {"mask": chosen.mask, "x0": chosen.base}, {"out0": out}, axis=chosen.axis)
    return out


def store(b: TypedEmitter, chosen: MaskSelection, source: Value) -> None:
    """Write a number to all selected elements, or packed values that are broadcast to what is selected."""
    base, mask = chosen.base, chosen.mask
    if not isinstance(source, ArrayValue):
        _choose(b, chosen, b.hold(source))
        return
    shape = chosen.selected(count(b, mask))
    if chosen.alone:
        require_count(b, base, mask, source, shape[0])
    if b.may_overlap(source, base):
        source = b.copy(source)
    if b.may_overlap(mask, base):
        mask = b.copy(mask)
    values = broadcast_to(b, source, shape, VALUES)
    b.library("indexing.masked_store", {"out": base, "mask": mask, "values": values}, {"out": base}, axis=chosen.axis)


def _choose(b: TypedEmitter, chosen: MaskSelection, number: Value) -> None:
    """``base[mask] = number``: for each element the number where the mask holds, else what is there."""
    base, mask, axis = chosen.base, chosen.mask, chosen.axis
    if b.may_overlap(mask, base) and not same_place(mask, base):
        mask = b.copy(mask)
    params, ranges = elementwise.domain(b, (*base.shape[:axis], *mask.shape, *base.shape[axis + mask.rank :]))
    points = [sym(name) for name in params]
    holds = mask.load(points[axis : axis + mask.rank])
    new = elementwise.convert(elementwise.element(number, points), base.dtype)
    elementwise.fill(b, base, params, ranges, op("select", holds, new, base.load(points)))


def require_count(b: TypedEmitter, value: ArrayValue, mask: Value, source: ArrayValue, selected: Expr) -> None:
    """`ValueError` unless there is one value, or one for each selected element; `TypeError` for a table of values.

    That is how a mask that stands alone is filled. One of another size, which has no elements then, only broadcasts.
    """
    if source.rank == 1:
        given = source.shape[0]
        message = FILLING + "cannot assign {0} input values to the {1} output values where the mask is true"
        require_stretch(b, given, selected, message, (given, selected))
        return
    message = FILLING + f"requires a 0 or 1-dimensional input, input has {source.rank} dimensions"
    pairs = [(b.exact(size), b.exact(own)) for size, own in zip(shape_of(mask), value.shape, strict=True)]
    differ = [op("ne", Index(size), Index(own)) for size, own in pairs if size is not own]
    if not differ:
        raise WillRaise("TypeError", message)
    b.check(reduce(lambda one, other: op("or", one, other), differ), "TypeError", message)


def require_match(b: TypedEmitter, value: ArrayValue, mask: ArrayValue, first: int, shown: int) -> None:
    """`IndexError` unless the mask has the sizes of the dimensions from `first` on, which the user counts from `shown`.

    A size of 0 fits everywhere, as in NumPy: such a mask selects nothing.
    """
    for axis, wanted in enumerate(mask.shape, shown):
        size, wanted = b.exact(value.shape[axis - shown + first]), b.exact(wanted)
        if size is wanted or wanted.constant == 0:
            continue
        message = (
            f"boolean index did not match indexed array along axis {axis}; size of axis is {{0}} but size of "
            "corresponding boolean axis is {1}"
        )
        ranges = b.emit.ranges
        if ranges.proves_ne(size, wanted) and ranges.proves_ne(wanted, 0):
            raise b.error(message.format(size, wanted), notes=("NumPy raises IndexError here",))
        sizes = Index(size), Index(wanted)
        fits = op("or", op("eq", *sizes), op("eq", sizes[1], Const(0, types.int64)))
        b.check(fits, "IndexError", message, sizes)
