"""Dictionaries whose keys are known at run time only: keys and values in lists, and a table of positions.

Keys stay in the order of their insertion. A key that is deleted leaves a gap, which is closed before the next walk.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from dcpy.frontend.python.containers.compiled_functions import compiled_once
from dcpy.frontend.python.containers.hash_values import as_key, hash_of

FREE, GONE = -1, -2  # what a place of the table holds that holds no position


class HashMap:
    """A `dict`: ``table[place]`` is the position of a key in `names`, and of its value in `contents`."""

    def __init__(self, pairs: Any = ()) -> None:
        self.names: list[Any] = []
        self.contents: list[Any] = []
        self.present: list[bool] = []
        self.table = [FREE] * 8
        self.used = 0
        for name, value in pairs:
            self[name] = value

    def _place(self, key: Any) -> int:
        """The place of a key in the table; that of the first free one, as a negative number, where it is missing."""
        return place_of_key(self.table, self.names, as_key(key))

    def __len__(self) -> int:
        return self.used

    def __contains__(self, key: Any) -> bool:
        return self._place(key) >= 0

    def __getitem__(self, key: Any) -> Any:
        place = self._place(key)
        if place < 0:
            raise KeyError(key)
        return self.contents[self.table[place]]

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self._place(key)
        if place >= 0:
            self.contents[self.table[place]] = value
        else:
            self.table[-1 - place] = len(self.names)
            self.names.append(as_key(key))
            self.contents.append(value)
            self.present.append(True)
            self.used += 1
            if 3 * len(self.names) > 2 * len(self.table):
                self._rebuild(2 * len(self.table) if 3 * self.used > len(self.table) else len(self.table))

    def __delitem__(self, key: Any) -> None:
        self._remove(key)

    def _remove(self, key: Any) -> Any:
        place = self._place(key)
        if place < 0:
            raise KeyError(key)
        position = self.table[place]
        self.table[place] = GONE
        self.present[position] = False
        self.used -= 1
        return self.contents[position]

    def _rebuild(self, size: int) -> None:
        """Close the gaps, and make the table anew."""
        if self.used < len(self.names):
            close_gaps(self.names, self.present)
            close_gaps(self.contents, self.present)
            del self.names[self.used :]
            del self.contents[self.used :]
            self.present = [True] * self.used
        self.table = [FREE] * size
        fill_table(self.table, self.names)

    def _close_gaps(self) -> None:
        if self.used < len(self.names):
            self._rebuild(len(self.table))

    def keys(self) -> Any:
        """The keys, in the order of their insertion."""
        self._close_gaps()
        return list(self.names)

    def __iter__(self) -> Any:
        return self.keys()

    def values(self) -> Any:
        """The values, in the order of the keys."""
        self._close_gaps()
        return list(self.contents)

    def items(self) -> Any:
        """Pairs of keys and values."""
        self._close_gaps()
        return zip(list(self.names), list(self.contents), strict=True)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        place = self._place(key)
        if place < 0:
            return default
        return self.contents[self.table[place]]

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, which the default becomes where there is none."""
        place = self._place(key)
        if place < 0:
            HashMap.__setitem__(self, key, default)
            return default
        return self.contents[self.table[place]]

    def pop(self, key: Any, *default: Any) -> Any:
        """Remove a key, and return its value."""
        if len(default) > 0 and self._place(key) < 0:
            return default[0]
        return self._remove(key)

    def popitem(self) -> Any:
        """Remove the last key; it, and its value."""
        if self.used == 0:
            raise KeyError("popitem(): dictionary is empty")
        self._close_gaps()
        key = self.names[-1]
        return key, self._remove(key)

    def clear(self) -> None:
        """Remove all keys."""
        self.names.clear()
        self.contents.clear()
        self.present.clear()
        self.table = [FREE] * 8
        self.used = 0

    def update(self, other: Any = ()) -> None:
        """Add the pairs of another dictionary, or other pairs."""
        for name, value in other.items() if hasattr(other, "items") else other:
            self[name] = value

    def copy(self) -> Any:
        """A dictionary with the same pairs."""
        return HashMap(self.items())

    def as_python(self) -> dict[Any, Any]:
        """The dictionary that a program returns."""
        pairs = zip(self.names, self.contents, self.present, strict=True)
        return {name: value for name, value, present in pairs if present}


class DefaultMap(HashMap):
    """A `collections.defaultdict`: keys that are missing get what `factory` makes when they are read."""

    def __init__(self, factory: Callable[[], Any], pairs: Any = ()) -> None:
        self.factory = factory
        super().__init__(pairs)

    def __getitem__(self, key: Any) -> Any:
        place = self._place(key)
        if place < 0:
            value = self.factory()
            self[key] = value
            return value
        return self.contents[self.table[place]]

    def as_python(self) -> dict[Any, Any]:
        """The dictionary that a program returns."""
        return collections.defaultdict(self.factory, super().as_python())


class CountingMap(HashMap):
    """A `collections.Counter`."""

    def __init__(self, items: Any = ()) -> None:
        super().__init__()
        self.update(items)

    def __getitem__(self, key: Any) -> Any:
        place = self._place(key)
        return 0 if place < 0 else self.contents[self.table[place]]

    def update(self, items: Any = ()) -> None:
        """Count more items."""
        for item in items:
            self[item] = self[item] + 1

    def most_common(self, count: Any = None) -> Any:
        """Items and how often each was counted, the most frequent first."""
        self._close_gaps()
        amounts = self.contents
        order = sorted(range(len(amounts)), key=lambda k: -amounts[k])
        chosen = order if count is None else order[:count]
        return [(self.names[k], amounts[k]) for k in chosen]

    def total(self) -> Any:
        """The number of items that were counted."""
        return sum(self.values())

    def as_python(self) -> dict[Any, Any]:
        """The counts that a program returns."""
        return collections.Counter(super().as_python())


@compiled_once
def place_of_key(table: Any, names: Any, key: Any) -> int:
    """The place of a key in a table; that of the first free one, as a negative number, where it is missing."""
    mask = len(table) - 1
    code = int(hash_of(key))
    shifted = (code >> 5) & ((1 << 59) - 1)
    place = code & mask
    while table[place] == GONE or (table[place] >= 0 and names[table[place]] != key):
        place = (place * 5 + 1 + shifted) & mask
        shifted >>= 5
    if table[place] == FREE:
        place = -1 - place
    return place


@compiled_once
def fill_table(table: Any, names: Any) -> None:
    """Put the positions of all keys into a table that holds nothing yet."""
    mask = len(table) - 1
    for position in range(len(names)):
        code = int(hash_of(names[position]))
        shifted = (code >> 5) & ((1 << 59) - 1)
        place = code & mask
        while table[place] != FREE:
            place = (place * 5 + 1 + shifted) & mask
            shifted >>= 5
        table[place] = position


@compiled_once
def close_gaps(items: Any, present: Any) -> None:
    """Move the items that are present to the front."""
    kept = 0
    for position in range(len(items)):
        if present[position]:
            items[kept] = items[position]
            kept += 1


def filled(names: Any, values: Any) -> HashMap:
    """The dictionary with these keys and values."""
    made = HashMap()
    for position in range(len(names)):
        made[names[position]] = values[position]
    return made
