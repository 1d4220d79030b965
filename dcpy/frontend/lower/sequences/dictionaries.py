"""Dictionaries: keys are known when the program is compiled, values may change; references, as lists are.

A key that is looked up may not depend on data: the type of the value would be unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import DictValue, Static, TupleValue, Value
from dcpy.frontend.lower.functions.numpy_arguments import static
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.name_binding import bound_item, materialize
from dcpy.frontend.lower.sequences import list_references

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

NONE = Static(None)
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


def no_key(owner: DictValue, wanted: object) -> FrontendError:
    """The error where a dictionary lacks a key; it names the first of those that there are."""
    keys = [repr(known) for known, _ in owner.items]
    there = ", ".join(keys[:KEYS]) + (", ..." if len(keys) > KEYS else "")
    return FrontendError(
        f"the dictionary has no key {wanted!r}",
        notes=("Python raises KeyError here",),
        help=f"it has {there or 'no keys'}",
    )


def _key(frame: Frame, key: Value) -> Any:
    known = static_key(key)
    try:
        hash(known)
    except TypeError as error:
        raise FrontendError(str(error), notes=("Python raises TypeError here",)) from None
    return known


def _get(frame: Frame, owner: DictValue, key: Value, default: Value = NONE) -> Value:
    found: Value = dict(owner.items).get(_key(frame, key), default)
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
        frame.env[key + list_references.ITEMS] = DictValue(tuple(items.items()))
    return list_references.shown(frame, result)


def _set(frame: Frame, owner: DictValue, key: Value, value: Value) -> Value:
    known, kept = _key(frame, key), _kept(frame, value)

    def change(items: dict[Any, Value]) -> Value:
        items[known] = kept
        return NONE

    return _change(frame, owner, list_references.ITEM, change)


def _kept(frame: Frame, value: Value) -> Value:
    return list_references.kept(frame, bound_item(frame, value))


def _setdefault(frame: Frame, owner: DictValue, key: Value, default: Value = NONE) -> Value:
    known = _key(frame, key)
    if known in dict(owner.items):
        found: Value = dict(owner.items)[known]
        return found
    kept = _kept(frame, default)
    return _change(frame, owner, "setdefault", lambda items: items.setdefault(known, kept))


def _pop(frame: Frame, owner: DictValue, key: Value, default: Value | None = None) -> Value:
    known = _key(frame, key)
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
