"""Searches of a key among known ones, and of an item in a list, one by one."""

from __future__ import annotations

from typing import Any


def position_of(names: Any, key: Any) -> int:
    """The position of a key; `KeyError` where it is missing."""
    for position in range(len(names)):
        if names[position] == key:
            return position
    raise KeyError(key)


def value_or_default(names: Any, values: Any, key: Any, default: Any) -> Any:
    """The value of a key, or the default."""
    for position in range(len(names)):
        if names[position] == key:
            return values[position]
    return default


def holds(items: Any, wanted: Any) -> bool:
    """Return whether a list has an item, which is a tuple or a list itself."""
    return any(item == wanted for item in items)
