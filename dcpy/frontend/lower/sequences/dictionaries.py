"""Dictionaries: keys are known when the program is compiled, values may change; references, as lists are.

A key that is known at run time only is looked for among the known ones. Where such a key is stored, lowering begins
anew, and the place that makes the dictionary makes a `HashMap` (`python.containers`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import DictValue, Static, TupleValue, Value
from dcpy.frontend.lower.functions.numpy_arguments import static
from dcpy.frontend.lower.lowering_signals import HASHED, WillRaise, raised_by
from dcpy.frontend.lower.name_binding import bound_item, materialize
from dcpy.frontend.lower.sequences import characters, item_choice, list_references
from dcpy.frontend.lower.sequences.growing_texts import is_text
from dcpy.frontend.lower.sequences.keys_at_run_time import is_number, require_hashed
from dcpy.frontend.python.containers.hash_maps import filled
from dcpy.frontend.python.containers.known_keys import position_of, value_or_default
from dcpy.frontend.python.spelled_texts import place_of_character

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

NONE = Static(None)
SEARCHED = 32  # keys at most that are compared one by one with a key that is known at run time only
KEYS = 8  # of a dictionary, in a message
COUNT_WITH_ARRAYS = "use an array with the key as index, np.bincount, or np.unique(..., return_counts=True)"


def call_method(
    frame: Frame, owner: DictValue, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value | None:
    """``owner.name(*args)``; None where dictionaries have no such method, or dcpy does not take it."""
    method = _METHODS.get(name)
    if method is None:
        return None
    least, most = _ARGUMENTS[name]
    if not least <= len(args) <= most or (kwargs and name != "update"):
        raise FrontendError(f"{name}() does not take these arguments", notes=("Python raises TypeError here",))
    materialize(frame)
    if name == "update":
        return _update(frame, owner, *args, **kwargs)
    return method(frame, owner, *args)


def static_key(key: Value) -> Any:
    """The Python object that a key is; `FrontendError` where data decide it."""
    return static(key, "the key of a dictionary", COUNT_WITH_ARRAYS)


def require_hashable(*keys: Any) -> None:
    """Raise what Python does for a key that has no hash, a list say."""
    with raised_by("Python"):
        for key in keys:
            hash(key)


def made(frame: Frame, node: ast.expr, items: Mapping[Any, Value]) -> Value:
    """The dictionary that an expression makes: with known keys, or of the kind that takes others."""
    site = (HASHED, frame.span(node))
    if not frame.b.split_joins.get(site):
        return DictValue(tuple(items.items()), site=site)
    names = TupleValue(tuple(constant_key(key) for key in items), is_list=True)
    return frame.b.call(Static(filled), names, TupleValue(tuple(items.values()), is_list=True))


def keys_of(frame: Frame, node: ast.expr, keys: Sequence[Value | None]) -> list[Any]:
    """The keys of a dictionary display, as Python's objects; as values where some are known at run time only."""
    site = (HASHED, frame.span(node))
    try:
        known = [None if key is None else static_key(key) for key in keys]
    except FrontendError as error:
        if None in keys or not frame.b.split_joins.get(site):
            raise frame.b.by_path(site, error) from None
        return list(keys)
    require_hashable(*known)
    return known


def of_run_time_keys(frame: Frame, keys: Sequence[Value], values: Sequence[Value]) -> Value:
    """A dictionary display some of whose keys are known at run time only."""
    listed = (TupleValue(tuple(part), is_list=True) for part in (keys, values))
    return frame.b.call(Static(filled), *listed)


def constant_key(key: Any) -> Value:
    """A known key as a value: tuples with their parts."""
    return TupleValue(tuple(map(constant_key, key))) if isinstance(key, tuple) else Static(key)


def item(frame: Frame, owner: DictValue, key: Value) -> Value:
    """``owner[key]``."""
    if is_known(key):
        wanted = _key(frame, owner, key)
        for known, value in owner.items:
            if known == wanted:
                return value
        raise no_key(owner, wanted)
    if (codes := characters.among_keys(owner, key)) is not None:
        place = frame.b.call(Static(place_of_character), codes, key)
        return item_choice.item(frame, TupleValue(tuple(value for _, value in owner.items), is_list=True), place)
    _require_numbers(frame, owner, key)
    if len(owner.items) > SEARCHED:
        require_hashed(frame, owner)
    position = frame.b.call(Static(position_of), _names(owner), key)
    return item_choice.item(frame, TupleValue(tuple(value for _, value in owner.items), is_list=True), position)


def _names(owner: DictValue) -> Value:
    return TupleValue(tuple(constant_key(key) for key, _ in owner.items), is_list=True)


def is_known(key: Value) -> bool:
    """Return whether a key is known when the program is compiled."""
    return isinstance(key, Static) or (isinstance(key, TupleValue) and all(map(is_known, key.items)))


def _require_numbers(frame: Frame, owner: DictValue, key: Value) -> None:
    """Refuse to look for a number that is known at run time only among keys that are none."""
    if not owner.items:
        require_hashed(frame, owner)
    if is_text(key) and all(isinstance(known, str) for known, _ in owner.items):
        return
    if not owner.items or not all(is_number(known) for known, _ in owner.items):
        static_key(key)


def no_key(owner: DictValue, wanted: object) -> FrontendError:
    """The error where a dictionary lacks a key; it names the first of those that there are."""
    keys = [repr(known) for known, _ in owner.items]
    there = ", ".join(keys[:KEYS]) + (", ..." if len(keys) > KEYS else "")
    error = WillRaise("KeyError", repr(wanted).replace("{", "{{").replace("}", "}}"), by="Python",
                      help=f"it has {there or 'no keys'}")  # fmt: skip
    error.message = f"the dictionary has no key {wanted!r}"
    return error


def _key(frame: Frame, owner: DictValue, key: Value) -> Any:
    try:
        known = static_key(key)
    except FrontendError as error:
        require_hashed(frame, owner, error)
        raise
    require_hashable(known)
    return known


def _get(frame: Frame, owner: DictValue, key: Value, default: Value = NONE) -> Value:
    if not is_known(key):
        codes, code = characters.among_keys(owner, key), characters.code_of(frame.b, key)
        if codes is not None and code is not None:
            values = TupleValue(tuple(value for _, value in owner.items), is_list=True)
            return frame.b.call(Static(value_or_default), codes, values, code, default)
        require_hashed(frame, owner)
        _require_numbers(frame, owner, key)
        values = TupleValue(tuple(value for _, value in owner.items), is_list=True)
        return frame.b.call(Static(value_or_default), _names(owner), values, key, default)
    found: Value = dict(owner.items).get(_key(frame, owner, key), default)
    return found


def _keys(frame: Frame, owner: DictValue) -> Value:
    return TupleValue(tuple(Static(key) for key, _ in owner.items))


def _values(frame: Frame, owner: DictValue) -> Value:
    return TupleValue(tuple(value for _, value in owner.items))


def _items(frame: Frame, owner: DictValue) -> Value:
    return TupleValue(tuple(TupleValue((Static(key), value)) for key, value in owner.items))


def _copy(frame: Frame, owner: DictValue) -> Value:
    return replace(owner, token=None)


def _change(frame: Frame, owner: DictValue, what: str, changed: Callable[[dict[Any, Value]], Value]) -> Value:
    """Change what is in the dictionary; every name of it shows that."""
    key = list_references.changing(frame, owner, what)
    content = frame.env[key + list_references.ITEMS] if key else owner
    assert isinstance(content, DictValue)
    items = dict(content.items)
    result = changed(items)
    if key:
        frame.env[key + list_references.ITEMS] = replace(content, items=tuple(items.items()), token=None)
    return list_references.shown(frame, result)


def _set(frame: Frame, owner: DictValue, key: Value, value: Value) -> Value:
    known, kept = _key(frame, owner, key), _kept(frame, value)

    def change(items: dict[Any, Value]) -> Value:
        items[known] = kept
        return NONE

    return _change(frame, owner, list_references.ITEM, change)


def _kept(frame: Frame, value: Value) -> Value:
    return list_references.kept(frame, bound_item(frame, value))


def _setdefault(frame: Frame, owner: DictValue, key: Value, default: Value = NONE) -> Value:
    known = _key(frame, owner, key)
    if known in dict(owner.items):
        found: Value = dict(owner.items)[known]
        return found
    kept = _kept(frame, default)
    return _change(frame, owner, "setdefault", lambda items: items.setdefault(known, kept))


def _pop(frame: Frame, owner: DictValue, key: Value, default: Value | None = None) -> Value:
    known = _key(frame, owner, key)
    if known not in dict(owner.items):
        if default is None:
            raise WillRaise("KeyError", repr(known), by="Python")
        return default
    return _change(frame, owner, "pop", lambda items: items.pop(known))


def _delete(frame: Frame, owner: DictValue, key: Value) -> Value:
    _pop(frame, owner, key)
    return NONE


def _clear(frame: Frame, owner: DictValue) -> Value:
    def change(items: dict[Any, Value]) -> Value:
        items.clear()
        return NONE

    return _change(frame, owner, "clear", change)


def _update(frame: Frame, owner: DictValue, other: Value = NONE, **named: Value) -> Value:
    if other != NONE and not isinstance(other, DictValue):
        require_hashed(frame, owner)
        raise FrontendError("update() takes a dictionary with known keys", help="assign the items: d[key] = value")
    more = {**(dict(other.items) if isinstance(other, DictValue) else {}), **named}
    kept = {key: _kept(frame, value) for key, value in more.items()}

    def change(items: dict[Any, Value]) -> Value:
        items.update(kept)
        return NONE

    return _change(frame, owner, "update", change)


_METHODS: dict[str, Callable[..., Value]] = {
    "get": _get, "keys": _keys, "values": _values, "items": _items, "copy": _copy, "setdefault": _setdefault,
    "pop": _pop, "clear": _clear, "update": _update, "__setitem__": _set, "__delitem__": _delete,
}  # fmt: skip
_ARGUMENTS = {
    "get": (1, 2), "keys": (0, 0), "values": (0, 0), "items": (0, 0), "copy": (0, 0), "setdefault": (1, 2),
    "pop": (1, 2), "clear": (0, 0), "update": (0, 1), "__setitem__": (2, 2), "__delitem__": (1, 1),
}  # fmt: skip
