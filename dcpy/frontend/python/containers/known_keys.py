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


def first_place(items: Any, wanted: Any) -> int:
    """The position of the first item that is equal to a tuple or list; -1 where there is none."""
    for position in range(len(items)):
        if items[position] == wanted:
            return position
    return -1


def count_of(items: Any, wanted: Any) -> int:
    """Return how many items are equal to a tuple or list."""
    count = 0
    for item in items:
        if item == wanted:
            count += 1
    return count


def same_items(items: Any, others: Any) -> bool:
    """Return whether two lists of tuples are equal."""
    return len(items) == len(others) and all(items[position] == others[position] for position in range(len(items)))
