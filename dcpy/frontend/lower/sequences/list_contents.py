"""List contents: the items of a list, as one that can hold a value, too, or that can grow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import TupleValue, Value
from dcpy.frontend.lower.arrays.name_aliases import held, views_of_list
from dcpy.frontend.lower.sequences import amortized_append, item_choice, item_kinds, list_references, list_types
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

List = TupleValue | ListValue


def content(frame: Frame, name: str, owner: List) -> List:
    """Return the contents of the list: where it grows, the array with its spare capacity."""
    if not name:
        return owner
    found = frame.env[name + list_references.ITEMS]
    assert isinstance(found, TupleValue | ListValue)
    return found


def own_content(frame: Frame, name: str, owner: List) -> List:
    """Return the contents of a list whose items move now: names that show some keep what they show."""
    found = content(frame, name, owner)
    return own(frame, name, found) if isinstance(found, ListValue) else found


def own(frame: Frame, name: str, found: ListValue, index: Expr | None = None) -> ListValue:
    """A list whose items move now, or the one at an index is replaced, in memory that no name shows."""
    if not name or len(found.levels) > 1 or found.array.rank < 2:
        return found  # only items that are arrays are shown where they are
    root = frame.b.root(found.array.container)
    if not views_of_list(frame.program, name, root, index):
        return found
    shown = amortized_append.shown(frame, found)
    if found.size:
        moved = amortized_append.as_growing(frame, shown, item_kinds.kind_of_list(frame.b, found))
    else:
        moved = replace(found, array=replace(frame.b.copy(shown.array), fresh=False))
    frame.b.split_alias(root, name)
    update(frame, name, moved)
    return moved


def update(frame: Frame, name: str, items: List) -> None:
    """The list has these contents from now on; nobody sees that of one that no name shows."""
    if name:
        list_references.set_content(frame, name, items)


def holding(frame: Frame, name: str, content: List, value: Value) -> ListValue:
    """The list as an array that can hold a value, too."""
    return holding_kind(frame, name, content, item_kinds.kind_of_item(frame.b, value))


def holding_kind(frame: Frame, name: str, content: List, kind: item_kinds.ItemKind) -> ListValue:
    """The list as an array that can hold items of a kind, too."""
    if isinstance(content, TupleValue):
        shown = list_references.shown(frame, content)
        assert isinstance(shown, TupleValue)
        kinds = [item_kinds.kind_of_item(frame.b, item) for item in shown.items]
        return item_choice.become_array(frame, name, shown, item_kinds.joined_kind(frame.b, [*kinds, kind]))
    return as_kind(
        frame, name, content, item_kinds.joined_kind(frame.b, [item_kinds.kind_of_list(frame.b, content), kind])
    )


def as_kind(frame: Frame, name: str, content: ListValue, kind: item_kinds.ItemKind) -> ListValue:
    """The list with numbers of a wider kind, where it needs them."""
    kind = kind.unfilled()
    if kind.dtype == content.array.dtype and kind.packed == content.packed:
        found = replace(content, weak=kind.weak, other_kinds=kind.other_kinds, fill=None)
    elif content.size:
        shown = amortized_append.shown(frame, content)
        array = list_types.converted(frame.b, shown, kind)
        found = amortized_append.as_growing(frame, replace(shown, array=array), kind)
    else:
        found = kind.list_of(replace(list_types.converted(frame.b, content, kind), fresh=False))
    if found != content:
        update(frame, name, found)
    return found


def growing(frame: Frame, name: str, content: List) -> ListValue:
    """The list as one that can grow."""
    if isinstance(content, ListValue) and amortized_append.grows(content):
        return content
    if isinstance(content, TupleValue):
        shown = list_references.shown(frame, content)
        assert isinstance(shown, TupleValue)
        held(frame, name + list_references.ITEMS, shown, name)
        content = list_types.as_array_list(frame.b, shown)
    content = amortized_append.shown(frame, content)
    found = amortized_append.as_growing(frame, content, item_kinds.kind_of_list(frame.b, content))
    update(frame, name, found)
    return found


def with_room(frame: Frame, name: str, content: List, kind: item_kinds.ItemKind) -> ListValue:
    """The list as one that can grow and holds items of a kind, too."""
    if isinstance(content, TupleValue) and not content.items:
        found = amortized_append.empty_growing(frame, kind.unfilled())
        update(frame, name, found)
        return found
    wide = holding_kind(frame, name, content, kind)
    return growing(frame, name, wide)
