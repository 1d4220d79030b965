"""Amortized append: a growing list is the front of an array, whose room doubles when it is full.

The length is in a scalar container. What is read is a window of the array, with a symbol for the length at that time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.list_values import FIRST_ROOM, ListValue
from dcpy.frontend.abstract_values.values import ArrayValue, Value
from dcpy.frontend.lower.sequences import item_kinds, list_types
from dcpy.ir import types
from dcpy.ir.data import Scalar as ScalarContainer
from dcpy.ir.expressions.scalar import Const, Index, Load, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Branch, Resize
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

def empty_growing(frame: Frame, kind: item_kinds.ItemKind, capacity: Expr | None = None) -> ListValue:
    """A list without items. With a `capacity`, it never holds more than so many; else it gets more room when needed."""
    b = frame.b
    if capacity is None:
        capacity = frame.emit.assign_symbol("room", Const(FIRST_ROOM, types.int64), 1, None)
    array = replace(b.empty((capacity, *kind.shape), kind.dtype, name="list"), fresh=False)
    size = frame.emit.declare("length", ScalarContainer(types.int64, transient=True, span=frame.emit.span))
    set_length(frame, size, ZERO)
    return kind.list_of(array, size=size)


def set_length(frame: Frame, size: str, length: Expr) -> None:
    """The list has so many items from now on."""
    expr: ScalarExpr = Index(length) if length.constant is None else Const(length.constant, types.int64)
    frame.emit.tasklet([(Memlet(size, Subset()), expr)])


def length_of(frame: Frame, value: ListValue) -> Expr:
    """Return the current number of items of a growing list: a new symbol."""
    return frame.emit.assign_symbol("n", Load(value.size, (), types.int64), ZERO, value.array.shape[0])


def shown(frame: Frame, value: ListValue, token: object = None) -> ListValue:
    """Return the current contents of a growing list, as an array of the right size."""
    if not value.size:
        return replace(value, token=token)
    return replace(value, array=front(value.array, length_of(frame, value)), size="", token=token)


def window(array: ArrayValue, start: Expr, count: Expr) -> ArrayValue:
    """Some items of an array."""
    rows = Subset((Range(start, start + count), *array.window.dims[1:]))
    return replace(array, shape=(count, *array.shape[1:]), window=rows)


def front(array: ArrayValue, length: Expr) -> ArrayValue:
    """The first items of an array."""
    window = Subset((Range(ZERO, length), *array.window.dims[1:]))
    return replace(array, shape=(length, *array.shape[1:]), window=window)


def appended(frame: Frame, value: ListValue, item: Value, *, bounded: bool = False) -> None:
    """``value.append(item)``, in place; a list that is `bounded` has the room."""
    length = length_of(frame, value)
    if not bounded:
        reserve(frame, value, length, ONE)
    list_types.put(frame.b, value.array, (length,), item, value.levels[1:])
    set_length(frame, value.size, length + 1)


def reserve(frame: Frame, value: ListValue, length: Expr, more: Expr) -> None:
    """Make room for so many items more; the room at least doubles, so that each item moves a few times at most."""
    room = value.array.shape[0]
    assert room.name is not None  # `empty_growing` without a capacity
    needed = length + more
    with frame.emit.attempt() as region:
        grown = op("max", Index(room + room), Index(needed))
        frame.emit.block(Resize(room.name, grown, value.array.container, length))
    full = op("gt", Index(needed), Index(room))
    frame.emit.block(Branch([(full, region)], None))


def as_growing(frame: Frame, value: ListValue, kind: item_kinds.ItemKind) -> ListValue:
    """A list that can grow, with the items of one that cannot."""
    found = empty_growing(frame, kind.unfilled())
    extend(frame, found, value.array)
    return found


def extend(frame: Frame, value: ListValue, items: ArrayValue) -> None:
    """``value.extend(items)``, in place."""
    b = frame.b
    length, more = length_of(frame, value), b.exact(items.shape[0])
    reserve(frame, value, length, more)
    target = value.array
    window = Subset((Range(length, length + more), *target.window.dims[1:]))
    part = replace(target, shape=(more, *target.shape[1:]), window=window)
    for mine, theirs in zip(part.shape[1:], items.shape[1:], strict=True):
        b.same_size(mine, theirs, "the items of the list have different lengths")
    list_types.store(b, part, items)
    set_length(frame, value.size, length + more)


def grows(value: ListValue) -> bool:
    """Return whether the list gets more room by itself: its room is a symbol of its own."""
    return bool(value.size) and value.array.shape[0].name is not None


