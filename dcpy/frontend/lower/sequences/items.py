"""Tuples, lists and other things with a length: items, positions, iteration at compile time."""

from __future__ import annotations

from dataclasses import replace
from enum import EnumMeta
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import JoinedList, LazyGenerator, ListValue, YieldingValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    IteratorValue,
    MapValue,
    RangeValue,
    RecordValue,
    Scalar,
    SliceValue,
    Static,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    as_integer,
    integer,
    is_number,
    is_weak,
    kind_of,
)
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.sequences import characters, list_types, texts
from dcpy.ir.expressions.scalar import Const
from dcpy.ir.symbolic import Expr, as_expr, min_of, product_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder

MAX_UNROLLED = 4096
BACKWARDS = SliceValue(Static(None), Static(None), Static(-1))
SHORT = 256


def is_list(value: Value | None) -> bool:
    """Return whether a value is a list of Python's, which may be changed in place."""
    return isinstance(value, TupleValue) and value.is_list


def length(b: OpBuilder, value: Value) -> Expr:  # noqa: C901  (one case per kind)
    """``len(value)`` as an expression."""
    match value:
        case ArrayValue(shape=shape):
            if not shape:
                raise FrontendError("len() of unsized object", notes=("NumPy raises TypeError here",))
            return b.exact(shape[0])
        case ListValue(array=array):
            return b.exact(array.shape[0])
        case TupleValue(items=items) | DictValue(items=items):
            return as_expr(len(items))
        case RangeValue():
            return b.emit.ranges.simplify(value.range.size_within(b.emit.ranges))
        case MapValue():
            return product_of(*_sizes(b, value))
        case IteratorValue():
            return _length_of_iterator(b, value)
        case Static(value=EnumMeta() as known):
            return as_expr(len(known))
        case Static(value=known) if hasattr(known, "__len__") and not isinstance(known, type):
            return as_expr(len(known))
        case TextValue():
            return length(b, characters.of_text(b, value))
    raise FrontendError(f"{kind_of(value)} has no length", notes=("Python raises TypeError here",))


def _length_of_iterator(b: OpBuilder, value: IteratorValue) -> Expr:
    if is_stepped(value):
        raise _taken_one_by_one("how many items an iterator has left")
    match value:
        case IteratorValue(kind="zip", parts=parts) if not all(map(is_endless, parts)):
            return b.emit.ranges.simplify(min_of(*(length(b, part) for part in parts if not is_endless(part))))
        case IteratorValue(kind="repeat", parts=(_, times)):
            return length(b, times)
        case IteratorValue(kind="map", parts=(_, *parts)):
            return _length_of_iterator(b, IteratorValue("zip", tuple(parts)))
        case IteratorValue() if is_endless(value):
            raise FrontendError("a loop without end", help="leave it with `break` from `while True`, or use range(...)")
        case IteratorValue(parts=(part, *_)):
            return length(b, part)
    raise FrontendError(f"{kind_of(value)} has no length", notes=("Python raises TypeError here",))


def is_stepped(value: Value) -> bool:
    """Return whether the items are those that are left of something, and gone once they are taken: `cursors`."""
    return isinstance(value, IteratorValue) and (value.kind == "cursor" or any(map(is_stepped, value.parts)))


def _taken_one_by_one(what: str) -> FrontendError:
    return FrontendError(
        f"{what} is known at run time only",
        notes=("`iter` gives an iterator, whose items are taken one after the other",),
        help="make a list of the remaining items, `list(it)`, or take items by `next(it)`",
    )


def most_items(b: OpBuilder, value: Value) -> int:
    """The most items that there can be: the length of the shortest part of known length."""
    if isinstance(value, IteratorValue) and value.kind not in ("repeat", "count"):
        parts = value.parts[1:] if value.kind == "map" else value.parts
        return min(most_items(b, part) for part in parts if not is_endless(part))
    count = length(b, value).constant
    return MAX_UNROLLED + 1 if count is None else count


def is_endless(value: Value) -> bool:
    """Return whether there is always one more item."""
    return isinstance(value, IteratorValue) and (
        value.kind == "count" or (value.kind == "repeat" and len(value.parts) == 1)
        or (value.kind in ("zip", "enumerate") and all(map(is_endless, value.parts)))
        or (value.kind == "map" and all(map(is_endless, value.parts[1:])))
    )  # fmt: skip


def at(b: OpBuilder, value: Value, index: Expr) -> Value:
    """Item number `index`, which is in range, of what a loop goes over."""
    match value:
        case RangeValue():
            return integer(value.range.at(index))
        case ArrayValue():
            return b.subscript(value, [integer(index)])
        case ListValue():
            return list_types.item_at(b, value, index)
        case MapValue():
            return _point(b, value, index)
        case IteratorValue() if is_stepped(value):
            raise _taken_one_by_one("which item of an iterator this is")
        case IteratorValue():
            return _of_iterator(b, value, index)
    number = index.constant
    known = _known_items(value)
    if known is not None and number is not None:
        return known[number]
    raise FrontendError(f"{kind_of(value)} cannot be iterated over")


def _of_iterator(b: OpBuilder, value: IteratorValue, index: Expr) -> Value:
    match value:
        case IteratorValue(kind="map", parts=(function, *parts)):
            return b.call(function, *(at(b, part, index) for part in parts))
        case IteratorValue(kind="enumerate", parts=(part,), start=start):
            return TupleValue((integer(index + start), at(b, part, index)))
        case IteratorValue(kind="points", parts=(part,)):
            point = at(b, part, index)
            return point if isinstance(point, TupleValue) else TupleValue((point,))
        case IteratorValue(kind="elements", parts=(points, *arrays)):
            point = at(b, points, index)
            assert isinstance(point, TupleValue)
            found = [b.subscript(array, [*point.items, Static(Ellipsis)]) for array in arrays]
            return found[0] if len(found) == 1 else TupleValue(tuple(found))
        case IteratorValue(kind="sections", parts=(RangeValue(stop=count), ArrayValue() as array), start=place):
            axis = place.constant or 0
            size = b.exact(array.shape[axis])
            low, high = (size // count * k + min_of(size % count, k) for k in (index, index + 1))
            cut = SliceValue(integer(low), integer(high), Static(None))
            return b.subscript(array, [*[SliceValue(*[Static(None)] * 3)] * axis, cut])
        case IteratorValue(kind="reversed", parts=(part,)):
            return at(b, part, length(b, part) - 1 - index)
        case IteratorValue(kind="progression", parts=(_, first, step)):  # all of them fit
            return integer(b.integer(first) + b.integer(step) * index)
        case IteratorValue(kind="repeat", parts=(item, *_)):
            return item
        case IteratorValue(kind="count", parts=(first, step)):
            return b.operator("+", first, b.operator("*", step, integer(index)))
    return TupleValue(tuple(at(b, part, index) for part in value.parts))  # zip


def _sizes(b: OpBuilder, value: MapValue) -> list[Expr]:
    return [b.emit.ranges.simplify(extent.size_within(b.emit.ranges)) for extent in value.ranges]


def _point(b: OpBuilder, value: MapValue, index: Expr) -> Value:
    """A point of a map that runs as a loop, by its position in the order of nested ranges."""
    sizes = _sizes(b, value)
    places = [(index // product_of(*sizes[axis + 1 :])) % sizes[axis] if axis else index // product_of(*sizes[1:])
              for axis in range(len(sizes))]  # fmt: skip
    parts = tuple(integer(extent.at(place)) for extent, place in zip(value.ranges, places, strict=True))
    return parts[0] if len(parts) == 1 else TupleValue(parts)


def is_known(value: Value) -> bool:
    """Return whether a loop over the value must be unrolled: its items are values that differ in kind."""
    if isinstance(value, IteratorValue):
        return value.kind not in ("repeat", "count", "cursor") and any(is_known(part) for part in value.parts)
    return _known_items(value) is not None


def is_guarded(b: OpBuilder, value: Value) -> bool:
    """Return whether items that differ in kind stand beside others, and their number is known at run time."""
    if not isinstance(value, IteratorValue) or not is_known(value) or not has_length(value):
        return False
    return length(b, value).constant is None


def has_length(value: Value) -> bool:
    """Return whether the number of items is known before they are asked for."""
    if isinstance(value, IteratorValue):
        return value.kind != "cursor" and all(map(has_length, value.parts))
    return not isinstance(value, LazyGenerator | YieldingValue)


def is_short(b: OpBuilder, value: Value) -> bool:
    """Return whether the items of a comprehension are written out: they differ in kind, or are few."""
    return is_countable(b, value, SHORT)


def is_countable(b: OpBuilder, value: Value, most: int = MAX_UNROLLED) -> bool:
    """Return whether the number of items is known, and at most so many where they are alike."""
    if not has_length(value):
        return False
    if is_known(value):
        return not is_guarded(b, value)
    count = length(b, value).constant
    return count is not None and count <= most


def items(b: OpBuilder, value: Value) -> list[Value]:
    """All items of something of known length."""
    if isinstance(value, VariantValue):
        return _items_by_kind(b, value)
    known = _known_items(value)
    if known is not None:
        return list(known)
    count = length(b, value).constant
    if count is None or count > MAX_UNROLLED:
        raise FrontendError(
            f"the number of items of {kind_of(value)} is not known at compile time",
            notes=("lists and tuples have a length that is known when the program is compiled",),
            help="work on the whole array, fill an array in a loop, or use a tuple of known length",
        )
    return [at(b, value, as_expr(index)) for index in range(count)]


def _items_by_kind(b: OpBuilder, value: VariantValue) -> list[Value]:
    """The items of one of several tuples of one length."""
    tuples = [(number, items(b, option)) for number, option in value.options]
    lengths = {len(found) for _, found in tuples}
    if len(lengths) > 1:
        raise FrontendError(
            f"tuples of {' or '.join(map(str, sorted(lengths)))} items are unpacked",
            help="make a list for each kind of tuples, or ask for the length: `if len(t) == 2:`",
        )
    return [VariantValue(value.which, tuple((number, found[place]) for number, found in tuples))
            for place in range(lengths.pop())]  # fmt: skip


def _known_items(value: Value) -> tuple[Value, ...] | None:
    match value:
        case TupleValue(items=items):
            return items
        case DictValue(items=pairs):
            return tuple(Static(key) for key, _ in pairs)
        case Static(value=tuple() | list() | str() | bytes() | range() | dict() as known):
            return tuple(map(Static, known))
        case Static(value=set() | frozenset() as known) if all(isinstance(one, int | float) for one in known):
            return tuple(map(Static, known))  # the order of texts would differ from run to run
        case Static(value=EnumMeta() as known):  # what is a number, too, is that
            members: list[object] = list(known)
            return tuple(Static(int(one) if isinstance(one, int) else one) for one in members)
        case Static(value=np.ndarray() as known):
            return tuple(map(Static, known))
    return None


def is_some_byte(owner: Value, key: Value) -> bool:
    """Return whether an item of known `bytes` is asked for, at a position that is known at run time only."""
    return isinstance(owner, Static) and isinstance(owner.value, bytes) and _is_run_time(key)


def as_bytes(owner: Value) -> TupleValue:
    """The numbers in known `bytes`; a tuple as it is."""
    return owner if isinstance(owner, TupleValue) else TupleValue(_known_items(owner) or ())


def item(b: OpBuilder, owner: TupleValue, key: Value) -> Value:
    """``owner[key]``."""
    if isinstance(key, SliceValue):
        if any(_is_run_time(part) for part in (key.start, key.stop, key.step)):
            return list_types.slice_of_known(b, owner, key)
        parts = [_whole(part) for part in (key.start, key.stop, key.step)]
        if parts[2] == 0:
            raise WillRaise("ValueError", "slice step cannot be zero", by="Python")
        return TupleValue(owner.items[slice(*parts)], owner.is_list)
    index = as_integer(key)
    if index is None or index.constant is None:
        return list_types.choose(b, owner, key)
    if not -len(owner.items) <= index.constant < len(owner.items):
        raise WillRaise("IndexError", f"{'list' if owner.is_list else 'tuple'} index out of range", by="Python")
    return owner.items[index.constant]


def _is_run_time(bound: Value) -> bool:
    found = as_integer(bound)
    return (is_number(bound) and not isinstance(bound, Static)) and (found is None or found.constant is None)


def known_key(key: Value) -> int | slice:
    """A position or slice that is known at compile time."""
    if isinstance(key, SliceValue):
        return slice(*(_whole(part) for part in (key.start, key.stop, key.step)))
    found = _whole(key)
    assert found is not None
    return found


def _whole(value: Value) -> int | None:
    if value == Static(None):
        return None
    found = as_integer(value)
    if found is None or found.constant is None:
        raise FrontendError("the bounds of a slice of a tuple must be known at compile time")
    return found.constant


def subscript(b: OpBuilder, owner: Value, key: Value) -> Value:
    """Subscripts of ranges and iterators; refuses everything else."""
    if isinstance(owner, ListValue):
        return list_types.subscript(b, owner, key)
    if isinstance(owner, TextValue):
        return characters.subscript(b, owner, key)
    if isinstance(owner, RangeValue):
        return at(b, owner, list_types.position(b, key, length(b, owner), "range object index out of range"))
    if isinstance(owner, IteratorValue) and owner.kind == "progression":
        return at(b, owner, list_types.position(b, key, length(b, owner), "range object index out of range"))
    if is_stepped(owner):
        raise FrontendError(
            "an iterator has no positions",
            notes=("Python raises TypeError here",),
            help="take the next item, `next(it)`, or make a list of the remaining items: `list(it)[k]`",
        )
    if isinstance(owner, IteratorValue):
        raise FrontendError(
            f"{owner.kind}() gives an iterator, which has no positions",
            notes=("Python raises TypeError here",),
            help=f"make a list of its items: `list({owner.kind}(...))[k]`",
        )
    if is_number(owner) and not is_weak(owner):  # NumPy's scalars: x[...], x[()], x[None]
        return b.subscript(b.array(owner), key.items if isinstance(key, TupleValue) else [key])
    raise FrontendError(f"{kind_of(owner)} cannot be indexed")


def stable(b: OpBuilder, value: Value) -> Value:
    """The value with all scalars computed now, so that later stores cannot change it."""
    if isinstance(value, VariantValue):
        return value
    if isinstance(value, Scalar):
        return value if isinstance(value.expr, Const) else b.keep(value)
    if isinstance(value, TupleValue | RecordValue):
        return replace(value, items=tuple(stable(b, part) for part in value.items))
    return b.hold(value)


def as_it_is(b: OpBuilder, value: Value) -> Value:
    """A value that is shown later, as it is now."""
    if isinstance(value, ArrayValue) and value.shape and not value.fresh:
        return b.copy(value)
    if isinstance(value, ListValue) and not value.array.fresh:
        return value.of(b.copy(value.array))
    if isinstance(value, VariantValue) and all(texts.parts_of(option) is not None for _, option in value.options):
        one = list_types.as_array_list(b, TupleValue((value,), is_list=True))
        return JoinedList("", one)
    return stable(b, value)


def known_subscript(b: OpBuilder, constant: object, key: Value) -> Any:
    """Return the Python object that is a constant's subscript. Raises `FrontendError` where run time decides."""
    try:
        return known_key(key) if isinstance(key, SliceValue) else b.static(key, "the subscript")
    except FrontendError as error:
        if not isinstance(constant, str | bytes):
            raise
        encoded = "text.encode()" if isinstance(constant, str) else "text"
        raise FrontendError(
            "a character of a text is chosen at run time",
            notes=("a text is a constant of the program, not an array",),
            help=f"pass the characters as numbers: np.frombuffer({encoded}, dtype=np.uint8)",
        ) from error
