"""Cursors: iterators that know how far they are, which `iter` makes, and `next` and loops move on.

A cursor is what it goes over, and the number of items that have been taken: an array without dimensions, so that all
who hold the cursor, on all paths and in all iterations, see one number. ``zip``, ``enumerate`` and ``map`` of cursors
take an item of each. Where there is none left, the number becomes the largest one: as in Python, a cursor that has come
to the end of a list stays there when the list grows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListRef, ListValue
from dcpy.frontend.abstract_values.number_kinds import types_of
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    IteratorValue,
    RangeValue,
    Static,
    TupleValue,
    Value,
    integer,
    is_number,
    kind_of,
    with_parts,
)
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences import list_references, list_types
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.symbolic import ZERO, Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame
    from dcpy.frontend.lower.op_builder import OpBuilder

Leave = Callable[[ScalarExpr], None]  # gets the test that there are no more items
AT_RUN_TIME = "which item is the next one is known at run time only, and all of them are of one kind there"
AT_THE_END = Const(np.iinfo(np.int64).max, types.int64)


def cursor(b: OpBuilder, value: Value) -> Value:
    """``iter(value)``: an iterator is one already."""
    if sequences.is_stepped(value) or not sequences.has_length(value):
        return value
    if isinstance(value, DictValue):
        value = TupleValue(tuple(Static(key) for key, _ in value.items))
    if isinstance(value, Static) and isinstance(value.value, tuple | list | range | dict | str):
        value = TupleValue(tuple(map(Static, sequences.items(b, value))))
    value = _known_as_arrays(b, value)
    if not isinstance(value, ArrayValue | ListValue | TupleValue | RangeValue | IteratorValue):
        raise FrontendError(
            f"iter() of {kind_of(value)}",
            notes=("Python raises TypeError here",) if is_number(value) else (),
            help="go over an array, a range, a list, a tuple, or zip(), enumerate(), reversed(), map() of these",
        )
    if isinstance(value, ArrayValue) and not value.shape:
        raise WillRaise("TypeError", "iteration over a 0-d array", by="NumPy")
    position = replace(b.empty((), types.int64, name="position"), fresh=False)
    _move(b, position, Const(0, types.int64))
    return IteratorValue("cursor", (value, position))


def _known_as_arrays(b: OpBuilder, value: Value) -> Value:
    """Lists that may change stay what they are: each step looks at what is in them."""
    match value:
        case TupleValue(token=str()) | IteratorValue(kind="repeat" | "count"):
            return value
        case TupleValue():
            return _as_one_kind(b, value)
        case IteratorValue():
            return with_parts(value, lambda part: _known_as_arrays(b, part))
    return value


def _as_one_kind(b: OpBuilder, value: TupleValue) -> Value:
    """The items of a tuple or list of known length, as an array: which one is next is known at run time only."""
    if not value.items:
        return RangeValue(ZERO, ZERO)
    kinds = {_kind_of_plain(item) for item in value.items}
    if len(kinds) > 1:
        raise FrontendError(
            f"an iterator over a {'list' if value.is_list else 'tuple'} whose items are of several kinds",
            notes=(AT_RUN_TIME,),
            help="loop over the tuple or list itself, or make all of them one type: float(x)",
        )
    if isinstance(first := value.items[0], TupleValue):  # each place of the tuples has a type of its own
        rows = [item.items for item in value.items if isinstance(item, TupleValue)]
        columns = [replace(first, items=column) for column in zip(*rows, strict=True)]
        return IteratorValue("zip", tuple(_as_one_kind(b, column) for column in columns))
    made = list_types.as_array_list(b, value)
    return replace(made, levels=(value.is_list, *made.levels[1:]))


def _kind_of_plain(value: Value) -> object:
    """The type of a number, or those in a tuple of numbers."""
    if is_number(value):
        return types_of(value)
    if isinstance(value, TupleValue) and not value.is_list:
        return tuple(map(_kind_of_plain, value.items)) if value.items else ()
    raise FrontendError(
        f"an iterator over a tuple or list that holds {kind_of(value)}",
        notes=(AT_RUN_TIME,),
        help="loop over the tuple or list itself, or use positions that are known: x[0], x[1:]",
    )


def step(frame: Frame, value: Value, leave: Leave) -> Value:
    """The next item of something that `started` has given; `leave` goes elsewhere where there is none."""
    assert isinstance(value, IteratorValue)
    match value:
        case IteratorValue(kind="cursor"):
            items, index, more = advanced(frame, value)
            if more is not None:
                leave(op("not", more))
            return item(frame, items, index, more)
        case IteratorValue(kind="map", parts=(function, *parts)):
            return frame.b.call(function, *[step(frame, part, leave) for part in parts])
        case IteratorValue(kind="enumerate", parts=(part, numbers)):
            found = step(frame, part, leave)
            return TupleValue((step(frame, numbers, leave), found))
    return TupleValue(tuple(step(frame, part, leave) for part in value.parts))


def advanced(frame: Frame, value: IteratorValue) -> tuple[Value, Expr, ScalarExpr | None]:
    """Move a cursor on: what it goes over, the position that it had, and whether there is an item (None: always)."""
    items, position = value.parts
    assert isinstance(position, ArrayValue)
    items = _items_now(frame, items)
    index = frame.emit.assign_symbol("k", position.load(()), ZERO, None)
    if sequences.is_endless(items):
        _move(frame.b, position, Index(index + 1))
        return items, index, None
    more = op("lt", Index(index), Index(sequences.length(frame.b, items)))
    _move(frame.b, position, op("select", more, Index(index + 1), AT_THE_END))
    return items, index, more


def item(frame: Frame, items: Value, index: Expr, more: ScalarExpr | None) -> Value:
    """The item at a position, at a place where there is one."""
    if more is not None:
        ranges = frame.emit.ranges
        frame.emit.ranges = ranges.assuming(sequences.length(frame.b, items) - 1 - index)
    return sequences.stable(frame.b, sequences.at(frame.b, items, index))


def started(b: OpBuilder, value: Value) -> Value:
    """An iterator over items that cursors give: each of what it goes over has one, or gets one that begins now."""
    assert isinstance(value, IteratorValue)
    match value:
        case IteratorValue(kind="cursor"):
            return value
        case IteratorValue(kind="map", parts=(function, *parts)):
            return replace(value, parts=(function, *[_begun(b, part) for part in parts]))
        case IteratorValue(kind="enumerate", parts=(part,), start=start):
            numbers = IteratorValue("count", (integer(start), Static(1)))
            return replace(value, parts=(_begun(b, part), cursor(b, numbers)))
        case IteratorValue(kind="zip" | "enumerate", parts=parts):
            return replace(value, parts=tuple(_begun(b, part) for part in parts))
    raise FrontendError(
        f"{value.kind}() of an iterator",
        notes=("Python raises TypeError here",) if value.kind == "reversed" else (),
        help="make a list of its items: `list(...)`",
    )


def _begun(b: OpBuilder, value: Value) -> Value:
    if sequences.is_stepped(value):
        return started(b, value)
    if not sequences.has_length(value):
        raise FrontendError(
            "a generator is walked through side by side with something else",
            notes=("a generator runs inside the loop that consumes it",),
            help="make a list of its items first: `list(...)`",
        )
    return cursor(b, value)


def _items_now(frame: Frame, items: Value) -> Value:
    """Return the items as they are now: lists may have changed."""
    match items:
        case TupleValue(token=str() as token) | ListValue(token=str() as token):
            if token + list_references.ITEMS in frame.env:
                items = list_references.shown(frame, ListRef(token))
            return _as_one_kind(frame.b, items) if isinstance(items, TupleValue) else items
        case IteratorValue(kind="repeat" | "count"):
            return items
        case IteratorValue():
            return with_parts(items, lambda part: _items_now(frame, part))
    return items


def _move(b: OpBuilder, position: ArrayValue, number: ScalarExpr) -> None:
    b.emit.tasklet([(Memlet(position.container, position.subset(())), number)])
