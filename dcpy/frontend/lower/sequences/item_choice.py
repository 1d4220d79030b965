"""Items at positions that are known at run time only: copies, unless a list that is chosen so is changed.

    g = [[0, 0], [0, 0], [0, 0]]        g = list#1: 3 lists of 2 numbers    g: an array of 3 rows of 2 numbers
    g[k][1] += x                        chosen: a copy, not g[k]            g[k, 1] += x

Where it matters, the lists become the rows of one array (`ROWS`); where they cannot, because they have names of their
own or differ in length, there is a branch for each of them (`expression_splitting`), as for objects and for items that
differ in kind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListCopy, ListRef, ListValue
from dcpy.frontend.abstract_values.values import ArrayValue, SliceValue, TupleValue, Value, as_integer
from dcpy.frontend.lower.arrays.name_aliases import held
from dcpy.frontend.lower.control.expression_splitting import key_of_item
from dcpy.frontend.lower.lowering_signals import ROWS, WillRaise
from dcpy.frontend.lower.sequences import amortized_append, item_kinds, list_references, list_types
from dcpy.frontend.lower.sequences import items as sequences

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

MAX_ITEMS = 16  # that differ in kind, and so get a branch each


def item(frame: Frame, owner: TupleValue, key: Value) -> Value:
    """``owner[key]`` of a tuple or list of known length."""
    place, index = key_of_item(frame, owner), None if isinstance(key, SliceValue) else as_integer(key)
    merge: object = (ROWS, place)
    if frame.b.split_joins.get(merge):  # also where a dry run knows the position
        rows = _as_rows(frame, owner)
        if rows is not None:
            return list_types.subscript(frame.b, rows, key)
    if isinstance(key, SliceValue) or (index is not None and index.constant is not None):
        return sequences.item(frame.b, owner, key)
    if place is None or merge in frame.b.split_joins or not all(map(list_references.is_list, owner.items)):
        merge = place
    try:
        found = sequences.item(frame.b, owner, key)
    except FrontendError as error:
        if isinstance(error, WillRaise):
            raise
        if len(owner.items) > MAX_ITEMS:
            return list_types.choose(frame.b, owner, key, apart=True)
        raise frame.b.by_path(merge, error) from None
    made = found.array if isinstance(found, ListValue) else found
    if isinstance(made, ArrayValue):
        held(frame, "", owner, frame.b.root(made.container), merge, array=not isinstance(found, ListValue))
    if isinstance(found, ListValue) and list_references.is_on(frame) and list_references.is_list(found):
        return replace(found, token=ListCopy(merge))
    return found


def _as_rows(frame: Frame, owner: TupleValue) -> ListValue | None:
    """The list, which holds lists, as one array from now on; None where one has another name, or another length."""
    name = owner.token
    if not isinstance(name, str) or name in frame.program.lists.frozen_reasons or frame.map_scopes():
        return None
    content = frame.env.get(name + list_references.ITEMS)
    if not isinstance(content, TupleValue):
        return None
    inside = [part.key for part in content.items if isinstance(part, ListRef)]
    if len(set(inside)) < len(inside) or any(
        list_references.shown_elsewhere(frame.env, key, name + list_references.ITEMS) for key in inside
    ):
        return None
    try:
        kind = item_kinds.joined_kind(frame.b, [item_kinds.kind_of_item(frame.b, part) for part in owner.items])
    except FrontendError:
        return None
    return amortized_append.shown(frame, become_array(frame, name, owner, kind), name)


def become_array(frame: Frame, name: str, shown: TupleValue, kind: item_kinds.ItemKind) -> ListValue:
    """A list of known length, with all that is in it, is an array of items of that kind from now on."""
    shown = replace(shown, token=None)
    held(frame, name + list_references.ITEMS, shown, name)
    found = list_types.as_array_list(frame.b, shown, kind.unfilled())
    found = replace(found, array=replace(found.array, fresh=False))
    if name:
        list_references.set_content(frame, name, found)
    return found
