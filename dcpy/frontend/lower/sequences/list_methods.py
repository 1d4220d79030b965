"""List methods, and assignment to and deletion of items.

A list of known length keeps its items one by one, as long as positions are known and paths agree on its length. It
becomes an array where a position is known at run time only, and one that grows where a loop or branch makes it longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListRow, ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    Scalar,
    SliceValue,
    Static,
    TextValue,
    TupleValue,
    Value,
    as_integer,
    is_number,
    kind_of,
)
from dcpy.frontend.lower.arithmetic.operators import binary
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.arrays.name_aliases import held
from dcpy.frontend.lower.functions import stored_texts
from dcpy.frontend.lower.functions.stored_texts import as_item
from dcpy.frontend.lower.lowering_signals import WillRaise, raised_by
from dcpy.frontend.lower.name_binding import bound_item, materialize
from dcpy.frontend.lower.sequences import (
    amortized_append,
    dictionaries,
    item_kinds,
    list_contents,
    list_preallocation,
    list_references,
    list_search,
    list_types,
)
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.comprehensions import all_items
from dcpy.frontend.lower.sequences.list_sorting import sorted_list
from dcpy.ir.expressions.scalar import Index, op
from dcpy.ir.symbolic import ONE, ZERO, Expr, max_of, min_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

List = TupleValue | ListValue
NONE = Static(None)
ASSIGNMENT = "list assignment index out of range"


# -- items -----------------------------------------------------------------------------------------------------------


def set_item(frame: Frame, owner: List, key: Value, value: Value) -> None:
    """``owner[key] = value``."""
    _require_list(owner)
    materialize(frame)
    given = value = as_item(frame, value)
    value = bound_item(frame, list_references.kept(frame, value)) if list_references.is_on(frame) else value
    if isinstance(owner.token, ListRow):
        _set_in_row(frame, owner, owner.token, key, value)
        return
    name = list_references.changing(frame, owner, list_references.ITEM)
    content = list_contents.content(frame, name, owner)
    if isinstance(key, SliceValue):
        content = list_contents.own_content(frame, name, owner)
        _set_slice(frame, name, content, key, value)
        return
    place = _known(key)
    if isinstance(content, TupleValue) and place is not None:
        if not -len(content.items) <= place < len(content.items):
            raise WillRaise("IndexError", ASSIGNMENT, by="Python")
        items = list(content.items)
        items[place] = value
        list_contents.update(frame, name, replace(content, items=tuple(items)))
        return
    held(frame, "", given if isinstance(given, ArrayValue) else list_references.shown(frame, value), name)
    found = list_contents.holding(frame, name, content, list_references.shown(frame, value))
    shown = amortized_append.shown(frame, found)
    index = list_types.position(frame.b, key, frame.b.exact(shown.array.shape[0]), ASSIGNMENT)
    found = list_contents.own(frame, name, found, index)
    list_references.require_own(given, name)
    list_references.forget_rows(frame, name, index)
    list_types.put(frame.b, found.array, (index,), list_references.shown(frame, value), found.levels[1:])


def _set_in_row(frame: Frame, owner: List, row: ListRow, key: Value, value: Value) -> None:
    """An item of a list that is an item of another: it is stored where the outer list has it."""
    assert isinstance(owner, ListValue)
    name = list_references.changing(frame, TupleValue((), True, token=row.key), list_references.ITEM)
    content = list_contents.content(frame, name, owner)
    assert isinstance(content, ListValue)
    b = frame.b
    if isinstance(key, SliceValue):
        part = b.subscript(owner.array, [key])
        items = b.array(value)
        assert isinstance(part, ArrayValue)
        b.same_size(part.shape[0], items.shape[0], "the rows of the list have different lengths")
        stores.require_writable(b, content.array)
        list_types.store(b, part, b.array(b.cast(items, part.dtype)))
        return
    index = list_types.position(b, key, b.exact(owner.array.shape[0]), ASSIGNMENT)
    value = list_references.shown(frame, value)
    if isinstance(value, ListValue | ArrayValue) or list_references.is_list(value):
        raise FrontendError(f"{kind_of(value)} is assigned to an item of a row", help="assign numbers")
    met = _joined_items(frame, content, len(row.indices) + 1, item_kinds.kind_of_item(b, value))
    found = list_contents.as_kind(frame, name, content, met)
    if b.root(found.array.container) != b.root(owner.array.container) and found is content:
        raise FrontendError("the row belongs to a list that has changed since", help="index the outer list again")
    stores.require_writable(b, found.array)
    list_types.put(b, found.array, (*row.indices, index), value, found.levels[len(row.indices) + 1 :])


def _joined_items(frame: Frame, content: ListValue, depth: int, item: item_kinds.ItemKind) -> item_kinds.ItemKind:
    """The kind of a list of lists which, `depth` levels inside, hold such an item, too."""
    whole = item_kinds.kind_of_list(frame.b, content)
    around = depth - 1
    inner = replace(whole, shape=whole.shape[around:], levels=whole.levels[around:])
    met = item_kinds.joined_kind(frame.b, [inner, item])
    return replace(
        met, shape=whole.shape[:around] + met.shape, levels=whole.levels[:around] + met.levels, fill=None
    )  # fmt: skip


def _set_slice(frame: Frame, name: str, content: List, key: SliceValue, value: Value) -> None:
    """``owner[a:b] = items``."""
    items = all_items(frame, list_references.shown(frame, value))
    bounds = [_known(part) for part in (key.start, key.stop, key.step)]
    unknown = any(known is None and part != NONE for known, part in
                  zip(bounds, (key.start, key.stop, key.step), strict=True))  # fmt: skip
    if isinstance(content, TupleValue) and isinstance(items, TupleValue) and not unknown:
        found = list(content.items)
        new = [list_references.kept(frame, bound_item(frame, item)) for item in items.items]
        with raised_by("Python"):
            found[slice(*bounds)] = new
        list_contents.update(frame, name, replace(content, items=tuple(found)))
        return
    b = frame.b
    if isinstance(items, TupleValue):
        held(frame, "", items, name)
        items = list_types.as_array_list(b, items)
    kind = item_kinds.kind_of_list(b, items) if isinstance(items, ListValue) else item_kinds.kind_of_item(b, items)
    found_list = list_contents.holding_kind(frame, name, content, kind)
    if isinstance(items, ListValue):
        source = list_types.converted(b, items, item_kinds.kind_of_list(b, found_list))
    else:
        source = b.array(items)
    target = b.subscript(amortized_append.shown(frame, found_list).array, [key])
    assert isinstance(target, ArrayValue)
    b.same_size(target.shape[0], source.shape[0], "a slice whose bounds are known at run time only keeps its length")
    list_types.store(b, target, b.array(b.cast(source, target.dtype)))


def delete_item(frame: Frame, owner: List, key: Value) -> None:
    """``del owner[key]``."""
    _require_list(owner)
    name = list_references.changing(frame, owner, "an item is deleted")
    content = list_contents.own_content(frame, name, owner)
    if isinstance(content, TupleValue) and (isinstance(key, SliceValue) or _known(key) is not None):
        found = list(content.items)
        try:
            del found[sequences.known_key(key)]
        except IndexError:
            raise WillRaise("IndexError", ASSIGNMENT, by="Python") from None
        list_contents.update(frame, name, replace(content, items=tuple(found)))
        return
    longer = list_contents.growing(frame, name, content)
    length = amortized_append.length_of(frame, longer)
    if isinstance(key, SliceValue):
        _delete_rest(frame, longer, key, length)
        return
    frame.b.emit.require(length - 1, "IndexError", ASSIGNMENT)
    _take(frame, longer, key, ASSIGNMENT, length)


def _delete_rest(frame: Frame, found: ListValue, key: SliceValue, length: Expr) -> None:
    """``del owner[a:]`` of a growing list."""
    if key.stop != NONE or key.step not in (NONE, Static(1)):
        raise FrontendError("a slice is deleted from a list whose length is known at run time only",
                            help="make a new list of the other items: `x = x[:a] + x[b:]`")  # fmt: skip
    rest = frame.b.subscript(amortized_append.front(found.array, length), [key])
    assert isinstance(rest, ArrayValue)
    amortized_append.set_length(frame, found.size, length - frame.b.exact(rest.shape[0]))


# -- methods ---------------------------------------------------------------------------------------------------------


def call_method(
    frame: Frame, owner: List | DictValue, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value | None:
    """``owner.name(*args)`` of a list; None where lists have no such method, or dcpy does not take it."""
    if isinstance(owner, DictValue):
        return dictionaries.call_method(frame, owner, name, args, kwargs)
    if isinstance(owner, TextValue):
        return stored_texts.call_method(frame, owner, name, args)
    if name in _OPERATORS:
        _OPERATORS[name](frame, owner, *args)
        return NONE
    method = _METHODS.get(name)
    if method is None or not list_references.is_list(owner):
        if name not in ("index", "count"):
            return None
        if kwargs:
            raise FrontendError(f"{name}() takes no keyword arguments", notes=("Python raises TypeError here",))
        return list_search.of_any(frame, owner, name, args)
    if kwargs and name != "sort":
        raise FrontendError(f"{name}() takes no keyword arguments", notes=("Python raises TypeError here",))
    least, most = _ARGUMENTS.get(name, (0, 0))
    if not least <= len(args) <= most:
        raise FrontendError(f"{name}() takes {most} argument(s), not {len(args)}", notes=("Python raises TypeError",))
    materialize(frame)
    if name == "sort":
        _sort(frame, owner, kwargs)
        return NONE
    return method(frame, owner, list(args))


def _append(frame: Frame, owner: List, args: list[Value]) -> Value:
    args = [as_item(frame, args[0])]
    name = list_references.changing(frame, owner, "append")
    filled = frame.program.lists.preallocated.get(name)
    if filled is not None:
        held(frame, "", args[0], name)
        list_preallocation.fill(frame, filled, args[0])
        return NONE
    content = list_contents.content(frame, name, owner)
    item = list_references.kept(frame, bound_item(frame, args[0]))
    if isinstance(content, TupleValue):
        list_contents.update(frame, name, replace(content, items=(*content.items, item)))
        return NONE
    shown = list_references.shown(frame, item)
    list_references.require_own(args[0], name)
    held(frame, "", _unseen(args[0], shown), name)
    found = list_contents.with_room(frame, name, content, item_kinds.kind_of_item(frame.b, shown))
    amortized_append.appended(frame, found, shown)
    return NONE


def _unseen(given: Value, kept: Value) -> Value:
    """Return the item to store in a list: a new array with no other name, else `kept`."""
    return given if isinstance(given, ArrayValue) and given.fresh else kept


def _extend(frame: Frame, owner: List, args: list[Value]) -> Value:
    name = list_references.changing(frame, owner, "extend")
    content = list_contents.content(frame, name, owner)
    more = all_items(frame, args[0])
    if not isinstance(more, ListValue | ArrayValue):
        more = TupleValue(tuple(sequences.items(frame.b, more)), is_list=True)
    if isinstance(content, TupleValue) and isinstance(more, TupleValue):
        items = tuple(list_references.kept(frame, bound_item(frame, item)) for item in more.items)
        list_contents.update(frame, name, replace(content, items=content.items + items))
        return NONE
    if isinstance(more, TupleValue):
        for item in more.items:
            _append(frame, owner, [item])
        return NONE
    if isinstance(more, ListValue):
        kind, added = item_kinds.kind_of_list(frame.b, more), more
    else:
        kind = item_kinds.kind_of_rows(frame.b, more)
        added = kind.list_of(more)
        held(frame, "", more, name)
    found = list_contents.with_room(frame, name, content, kind)
    array = list_types.converted(frame.b, added, item_kinds.kind_of_list(frame.b, found))
    amortized_append.extend(frame, found, array)
    return NONE


def _pop(frame: Frame, owner: List, args: list[Value]) -> Value:
    name = list_references.changing(frame, owner, "pop")
    content = list_contents.own_content(frame, name, owner)
    key = args[0] if args else Static(-1)
    if isinstance(content, TupleValue) and (not content.items or _known(key) is not None):
        place = _known(key) or 0
        if not -len(content.items) <= place < len(content.items):
            what = "pop index out of range" if content.items else "pop from empty list"
            raise WillRaise("IndexError", what, by="Python")
        items = list(content.items)
        taken = items.pop(place)
        list_contents.update(frame, name, replace(content, items=tuple(items)))
        return list_references.shown(frame, taken)
    found = list_contents.growing(frame, name, content)
    length = amortized_append.length_of(frame, found)
    frame.b.emit.require(length - 1, "IndexError", "pop from empty list")
    return _take(frame, found, key, "pop index out of range", length)


def _take(frame: Frame, found: ListValue, key: Value, what: str, length: Expr) -> Value:
    """Take an item out of a growing list, which is not empty; those behind it move."""
    b = frame.b
    index = length - 1 if key == Static(-1) else list_types.position(b, key, length, what)
    item = _copied(frame, list_types.item_at(frame.b, replace(found, token=None), index))
    if key != Static(-1):
        _move(frame, found, index + 1, index, length - index - 1)
    amortized_append.set_length(frame, found.size, length - 1)
    return item


def _copied(frame: Frame, item: Value) -> Value:
    """An item as it is now."""
    if isinstance(item, Scalar | TupleValue):
        return sequences.stable(frame.b, item)
    if isinstance(item, ArrayValue):
        copy = frame.b.copy(item)
        frame.b.copied_again(copy, item)
        return copy
    return item.of(frame.b.copy(item.array)) if isinstance(item, ListValue) else item


def _move(frame: Frame, found: ListValue, start: Expr, to: Expr, count: Expr) -> None:
    """Move items of a list to another place in it."""
    source, target = (amortized_append.window(found.array, place, count) for place in (start, to))
    list_types.store(frame.b, target, source)


def repeat(frame: Frame, owner: List, count: Value) -> None:
    """``owner *= count``."""
    name = list_references.changing(frame, owner, "*=")
    found = binary(frame.b, "*", owner, count)
    assert isinstance(found, TupleValue | ListValue)
    if isinstance(found, TupleValue):
        found = replace(found, items=tuple(list_references.kept(frame, item) for item in found.items))
    list_contents.update(frame, name, found)


def _insert(frame: Frame, owner: List, args: list[Value]) -> Value:
    name = list_references.changing(frame, owner, "insert")
    content = list_contents.own_content(frame, name, owner)
    place = _known(args[0])
    item = list_references.kept(frame, bound_item(frame, args[1]))
    if isinstance(content, TupleValue) and place is not None:
        items = list(content.items)
        items.insert(place, item)
        list_contents.update(frame, name, replace(content, items=tuple(items)))
        return NONE
    b = frame.b
    value = list_references.shown(frame, item)
    held(frame, "", _unseen(args[1], value), name)
    found = list_contents.with_room(frame, name, content, item_kinds.kind_of_item(b, value))
    length = amortized_append.length_of(frame, found)
    amortized_append.reserve(frame, found, length, ONE)
    index = _insertion(frame, args[0], length)
    _move(frame, found, index, index + 1, length - index)
    list_types.put(b, found.array, (index,), value, found.levels[1:])
    amortized_append.set_length(frame, found.size, length + 1)
    return NONE


def _insertion(frame: Frame, key: Value, length: Expr) -> Expr:
    """Return the position at which ``insert`` puts an item: inside of the list, for every number."""
    index, ranges = frame.b.integer(key, "the position"), frame.emit.ranges
    if ranges.proves_nonneg(index):
        return ranges.simplify(min_of(index, length))
    negative = op("lt", Index(index), Index(ZERO))
    wrapped, inside = Index(max_of(index + length, 0)), Index(min_of(index, length))
    return frame.emit.assign_symbol("k", op("select", negative, wrapped, inside), 0, length)


def _clear(frame: Frame, owner: List, args: list[Value]) -> Value:
    name = list_references.changing(frame, owner, "clear")
    content = list_contents.own_content(frame, name, owner)
    if isinstance(content, TupleValue):
        list_contents.update(frame, name, replace(content, items=()))
    else:
        amortized_append.set_length(frame, list_contents.growing(frame, name, content).size, ZERO)
    return NONE


def _reverse(frame: Frame, owner: List, args: list[Value]) -> Value:
    name = list_references.changing(frame, owner, "reverse")
    content = list_contents.own_content(frame, name, owner)
    if isinstance(content, TupleValue):
        list_contents.update(frame, name, replace(content, items=content.items[::-1]))
        return NONE
    b, array = frame.b, amortized_append.shown(frame, content).array
    turned = b.subscript(array, [sequences.BACKWARDS])
    assert isinstance(turned, ArrayValue)
    list_types.store(b, array, b.copy(turned))
    return NONE


def _sort(frame: Frame, owner: List, kwargs: Mapping[str, Value]) -> None:
    """``owner.sort(key=..., reverse=...)``."""
    name = list_references.changing(frame, owner, "sort")
    content = list_contents.own_content(frame, name, owner)
    if isinstance(content, TupleValue):
        found = frame.b.call(Static(sorted), list_references.shown(frame, content), **kwargs)
        assert isinstance(found, TupleValue | ListValue)
        kept = found if isinstance(found, ListValue) else replace(
            found, items=tuple(list_references.kept(frame, item) for item in found.items))  # fmt: skip
        list_contents.update(frame, name, kept)
        return
    shown = amortized_append.shown(frame, content)
    list_types.store(frame.b, shown.array, sorted_list(frame, shown, kwargs).array)


def _copy(frame: Frame, owner: List, args: list[Value]) -> Value:
    if isinstance(owner, TupleValue):
        return replace(owner, token=None)
    copy = frame.b.copy(owner.array)
    frame.b.copied_again(copy, owner.array)
    return owner.of(replace(copy, fresh=True))


def _remove(frame: Frame, owner: List, args: list[Value]) -> Value:
    message = "list.remove(x): x not in list"
    if isinstance(owner, TupleValue):
        places = list_search.matching(frame, owner, args[0])
        if places is not None:
            if not places:
                raise WillRaise("ValueError", message, by="Python")
            delete_item(frame, owner, Static(places[0]))
            return NONE
    place = list_search.position(frame, owner, args[0], message)
    delete_item(frame, owner, place)
    return NONE


# -- keys -----------------------------------------------------------------------------------------------------------


def _require_list(owner: List) -> None:
    if not list_references.is_list(owner):
        raise FrontendError(
            "'tuple' object does not support item assignment",
            notes=("Python raises TypeError here",),
            help="make it an array, np.array(...), or a list",
        )


def _known(key: Value) -> int | None:
    index = as_integer(key) if is_number(key) else None
    return None if index is None else index.constant


_METHODS: dict[str, Callable[[Frame, List, list[Value]], Value]] = {
    "append": _append, "extend": _extend, "pop": _pop, "insert": _insert, "clear": _clear, "reverse": _reverse,
    "copy": _copy, "remove": _remove, "sort": _copy,
    "index": lambda frame, owner, args: list_search.of_any(frame, owner, "index", args),
    "count": lambda frame, owner, args: list_search.of_any(frame, owner, "count", args),
}  # fmt: skip
_OPERATORS: dict[str, Callable[..., None]] = {
    "__setitem__": set_item, "__delitem__": delete_item, "__imul__": repeat,
}  # fmt: skip
_ARGUMENTS = {"append": (1, 1), "extend": (1, 1), "pop": (0, 1), "insert": (2, 2), "remove": (1, 1), "index": (1, 1),
              "count": (1, 1)}  # fmt: skip
