"""List joins: what a name stands for where lists from different paths meet.

Lists of one length meet item by item. Others meet in one that grows, which has an array of its own; each path copies
its items there. Where a list that met another one has a second name, it is two lists from then on: neither is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListRef, ListValue
from dcpy.frontend.abstract_values.values import DictValue, Missing, TupleValue, Value, kind_of
from dcpy.frontend.lower.arrays.name_aliases import held
from dcpy.frontend.lower.frame import how_to_part, name_for_user
from dcpy.frontend.lower.sequences import amortized_append, item_kinds, list_references, list_types
from dcpy.frontend.lower.sequences.keys_at_run_time import require_hashed
from dcpy.ir.symbolic import ZERO

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

List = TupleValue | ListValue


def join(frame: Frame, name: str, values: Sequence[Value], paths: Any, join_values: Callable[..., Value]) -> Value:
    """Return the value of the name: a list to which each path's list moves."""
    envs = paths.envs or [frame.env] * len(values)
    found = [list_references.content_of(env, value) for env, value in zip(envs, values, strict=True)]
    missing = next((value for value in found if isinstance(value, Missing)), None)
    if missing is not None:
        return missing
    if all(isinstance(value, DictValue) for value in found):
        return _dictionaries(frame, name, [v for v in found if isinstance(v, DictValue)], values, paths, join_values)
    lists = [value for value in found if isinstance(value, TupleValue | ListValue) and list_references.is_list(value)]
    if len(lists) < len(values):
        kinds = " or ".join(dict.fromkeys(kind_of(value) for value in found))
        return Missing(f"{name_for_user(name)} is {kinds} here, depending on the path taken", help=how_to_part(name))
    token = _token(frame, name, values, envs)
    known = [value for value in lists if isinstance(value, TupleValue)]
    if len(known) == len(lists) and len({len(value.items) for value in known}) == 1:
        columns = list(zip(*(value.items for value in known), strict=True))
        items = tuple(join_values(frame, f"{name}_{k}", column, paths) for k, column in enumerate(columns))
        if not any(isinstance(item, Missing) for item in items) and not item_kinds.are_apart(frame.b, items):
            noted = tuple(item_kinds.noted_number(frame.b, item) for item in items)
            return TupleValue(noted, is_list=True, token=token)
    try:
        kinds_ = [_kind(frame, env, value) for env, value in zip(envs, lists, strict=True)]
        kind = item_kinds.joined_kind(frame.b, [kind for kind in kinds_ if kind is not None]).unfilled()
    except FrontendError as error:
        return Missing(f"{name_for_user(name)} differs from path to path: {error.message}", help=error.help)
    if not all(symbol in frame.emit.sdfg.symbols for size in kind.shape for symbol in size.symbols):
        return Missing(
            f"the rows of {name_for_user(name)} have different lengths or shapes, which are known at run time only",
            help="make all rows one length, or fill an array",
        )
    return replace(list_slot(frame, name, lists, kind), token=token)


def _dictionaries(
    frame: Frame, name: str, found: list[DictValue], values: Sequence[Value], paths: Any,
    join_values: Callable[..., Value],
) -> Value:  # fmt: skip
    """Dictionaries of the same keys meet value by value."""
    keys = [key for key, _ in found[0].items]
    if any([key for key, _ in value.items] != keys for value in found):
        for value in found:
            require_hashed(frame, value)
        return Missing(
            f"the keys of {name_for_user(name)} depend on the path taken",
            help="give the dictionary all of its keys before the branch or loop",
        )
    token = _token(frame, name, values, paths.envs or [frame.env] * len(values))
    columns = list(zip(*(tuple(item for _, item in value.items) for value in found), strict=True))
    items = [join_values(frame, f"{name}_{k}", column, paths) for k, column in enumerate(columns)]
    missing = next((item for item in items if isinstance(item, Missing)), None)
    return missing or DictValue(tuple(zip(keys, items, strict=True)), token, found[0].site)


def _kind(frame: Frame, env: list_references.Env, value: List) -> item_kinds.ItemKind | None:
    if isinstance(value, ListValue):
        return item_kinds.kind_of_list(frame.b, value)
    whole = list_references.resolved(env, value)
    assert isinstance(whole, TupleValue)
    kinds = [item_kinds.kind_of_item(frame.b, item) for item in whole.items]
    return item_kinds.joined_kind(frame.b, kinds) if kinds else None


def _token(frame: Frame, name: str, values: Sequence[Value], envs: Sequence[list_references.Env]) -> object:
    """Refuse changes of a list that was joined with another one, and that another name shows."""
    shared = False
    keys = {value.key: None for value in values if isinstance(value, ListRef)}
    for value, env in zip(values, envs, strict=True):
        if isinstance(value, ListRef) and list_references.shown_elsewhere(env, value.key, name):
            shared = True
    tokens = [value.token for value in values if isinstance(value, TupleValue | ListValue | DictValue)]
    shared = shared or (len(set(map(id, tokens))) > 1 and any(token is not None for token in tokens))
    if not shared:
        return None
    reason = f"{name_for_user(name)} shows another list on another path through the program"
    for key in keys:
        list_references.freeze(frame, key, reason)
    return list_references.Frozen(reason)


def list_slot(frame: Frame, name: str, lists: Sequence[List], kind: item_kinds.ItemKind) -> ListValue:
    """The list of the name's own in which the others meet."""
    for value in lists:
        if not isinstance(value, ListValue) or not amortized_append.grows(value):
            continue
        container = value.array.container
        same = item_kinds.same_kind(frame.b, kind, item_kinds.kind_of_list(frame.b, value))
        _, (owner, *_) = frame.slots().get(container, (None, ("",)))
        if same and owner == name and frame.emit.is_visible(container):  # that of another name may be in use
            return replace(value, fill=None)
    return frame.list_slot(name, kind)


def load_list(
    frame: Frame, target: ListValue, source: List, pairs: Sequence[tuple[ListValue, List]]
) -> tuple[ListValue, List]:  # fmt: skip
    """A list as it is moved: read now, where it lies in what another one overwrites."""
    if isinstance(source, TupleValue) or is_there(target, source):
        return target, source
    written = {other.array.container for other, _ in pairs if other is not target}
    now = amortized_append.shown(frame, source)
    if frame.b.root(now.array.container) in written:
        now = now.of(frame.b.copy(now.array))
    return target, now


def is_there(target: ListValue, source: List) -> bool:
    """Return whether the list is where it is to be."""
    same = isinstance(source, ListValue) and source.array.container == target.array.container
    return same and isinstance(source, ListValue) and source.size == target.size


def write(frame: Frame, target: ListValue, source: List) -> None:
    """Make the target hold the items of the source."""
    if is_there(target, source):
        return
    amortized_append.set_length(frame, target.size, ZERO)
    if isinstance(source, TupleValue):
        for item in source.items:
            held(frame, "", item, frame.b.root(target.array.container))
            amortized_append.appended(frame, target, item)
        return
    kind = item_kinds.kind_of_list(frame.b, target)
    amortized_append.extend(frame, target, list_types.converted(frame.b, source, kind))


def is_visible(frame: Frame, value: ListRef | ListValue | DictValue, of_array: Callable[[Frame, Value], bool]) -> bool:
    """Return whether a list means the same outside the region that made it."""
    if isinstance(value, ListRef):
        return value.key + list_references.ITEMS in frame.env
    if isinstance(value, DictValue):
        return all(of_array(frame, item) for _, item in value.items)
    if value.size:
        return frame.emit.is_visible(value.array.container) and frame.emit.is_visible(value.size)
    return of_array(frame, value.array)
