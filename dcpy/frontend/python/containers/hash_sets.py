"""Sets whose items are known at run time only, in the order in which CPython keeps them.

The order of a set of numbers follows from the numbers and from what was done to the set. Programs that walk through a
set depend on it, so places, growth and gaps are those of CPython's ``setobject.c``.
"""

from __future__ import annotations

from typing import Any

from dcpy.frontend.python.containers.compiled_functions import compiled_once
from dcpy.frontend.python.containers.hash_values import as_key, hash_of

UNUSED, HELD, GAP = 0, 1, 2  # what a place of the table is
NEAR = 9  # places behind the first that are looked at before the next jump


class HashSet:
    """A `set`: ``entries[place]`` is an item where ``states[place]`` is `HELD`."""

    def __init__(self, items: Any = ()) -> None:
        self.entries: list[Any] = []
        self.states = [UNUSED] * 8
        self.filled = 0
        self.count = 0
        self.finger = 0
        for item in items:
            self.add(item)

    def _place(self, item: Any) -> int:
        """The place of an item; that where it belongs, as a negative number, where it is missing."""
        return place_in_set(self.states, self.entries, as_key(item))

    def _resize(self, least: int) -> None:
        """Move the items to a table of more than `least` places."""
        self._refill(list(self), _size_for(least))

    def _refill(self, items: Any, size: int) -> None:
        """Put different items into a new table."""
        self.states = [UNUSED] * size
        self.entries = items[:1] * size
        fill_set(self.states, self.entries, items)
        self.count = len(items)
        self.filled = len(items)

    def __len__(self) -> int:
        return self.count

    def __contains__(self, item: Any) -> bool:
        return self._place(item) >= 0

    def __iter__(self) -> Any:
        return [self.entries[place] for place in range(len(self.entries)) if self.states[place] == HELD]

    def add(self, item: Any) -> None:
        """Add an item, unless it is there."""
        place = self._place(item)
        if place < 0:
            self._put(-1 - place, item)

    def _put(self, place: int, item: Any) -> None:
        """Put a new item to its place, and make room for more."""
        item = as_key(item)
        if len(self.entries) == 0:
            self.entries = [item] * len(self.states)
        is_full = self.states[place] == UNUSED and 5 * (self.filled + 1) >= 3 * (len(self.states) - 1)
        self.filled += 1 if self.states[place] == UNUSED else 0
        self.count += 1
        self.entries[place] = item
        self.states[place] = HELD
        if is_full:
            self._resize(2 * self.count if self.count > 50000 else 4 * self.count)

    def discard(self, item: Any) -> None:
        """Remove an item, if it is there."""
        place = self._place(item)
        if place >= 0:
            self.states[place] = GAP
            self.count -= 1

    def remove(self, item: Any) -> None:
        """Remove an item; `KeyError` where it is missing."""
        if self._place(item) < 0:
            raise KeyError(item)
        self.discard(item)

    def pop(self) -> Any:
        """Remove an item, and return it."""
        if self.count == 0:
            raise KeyError("pop from an empty set")
        place = next_held(self.states, self.finger & (len(self.states) - 1))
        self.states[place] = GAP
        self.count -= 1
        self.finger = place + 1
        return self.entries[place]

    def clear(self) -> None:
        """Remove all items."""
        self.entries.clear()
        self.states = [UNUSED] * 8
        self.filled = 0
        self.count = 0

    def copy(self) -> Any:
        """A set of the same items, whose table may be smaller."""
        other = HashSet()
        other._adopt(self, _size_for(2 * self.count) if 5 * self.count >= 21 else 8)
        return other

    def _adopt(self, other: Any, size: int) -> None:
        """Fill a table of this size, which holds nothing yet, with the items of another set."""
        if size == len(other.states) and other.filled == other.count:
            self.entries = list(other.entries)
            self.states = list(other.states)
            self.filled = other.filled
            self.count = other.count
        elif other.count > 0:
            self._refill(list(other), size)

    def _merge(self, other: Any) -> None:
        """Add the items of a set."""
        if other.count > 0:
            size = len(self.states)
            is_small = 5 * (self.filled + other.count) >= 3 * (size - 1)
            if is_small:
                size = _size_for(2 * (self.count + other.count))
            if self.count == 0 and (is_small or self.filled == 0):
                self._adopt(other, size)
            else:
                if is_small:
                    self._refill(list(self), size)
                for item in other:
                    self.add(item)

    def update(self, *others: Any) -> None:
        """Add the items of other containers."""
        for other in others:
            if isinstance(other, HashSet):
                self._merge(other)
            else:
                for item in other:
                    self.add(item)

    def union(self, *others: Any) -> Any:
        """The items that are in any of them."""
        found = self.copy()
        for other in others:
            found.update(other)
        return found

    def intersection(self, other: Any) -> Any:
        """The items that are in both."""
        found = HashSet()
        if isinstance(other, HashSet):
            for item in list(self) if len(other) > self.count else list(other):
                if item in self and item in other:
                    found.add(item)
        else:
            for item in other:
                if item in self:
                    found.add(item)
        return found

    def difference(self, other: Any) -> Any:
        """The items that are not in the other."""
        known = other if isinstance(other, HashSet) else HashSet(other)
        if self.count // 4 > len(known):
            found = self.copy()
            found.difference_update(known)
        else:
            found = HashSet()
            for item in self:
                if item not in known:
                    found.add(item)
        return found

    def difference_update(self, other: Any) -> None:
        """Remove the items of another container; many gaps are closed then."""
        for item in other:
            self.discard(item)
        if self.filled - self.count > (len(self.states) - 1) // 4:
            self._resize(2 * self.count if self.count > 50000 else 4 * self.count)

    def intersection_update(self, other: Any) -> None:
        """Keep the items that the other has, too."""
        self._become(self.intersection(other))

    def _become(self, other: Any) -> None:
        self.entries = other.entries
        self.states = other.states
        self.filled = other.filled
        self.count = other.count

    def symmetric_difference(self, other: Any) -> Any:
        """The items that are in one of them only."""
        found = other.copy() if isinstance(other, HashSet) else HashSet(other)
        found.symmetric_difference_update(self)
        return found

    def symmetric_difference_update(self, other: Any) -> None:
        """Keep the items that are in one of them only."""
        for item in other:
            place = self._place(item)
            if place < 0:
                self._put(-1 - place, item)
            else:
                self.states[place] = GAP
                self.count -= 1

    def __or__(self, other: Any) -> Any:
        return self.union(other)

    def __and__(self, other: Any) -> Any:
        return self.intersection(other)

    def __sub__(self, other: Any) -> Any:
        return self.difference(other)

    def __xor__(self, other: Any) -> Any:
        return self.symmetric_difference(other)

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __iand__(self, other: Any) -> Any:
        self.intersection_update(other)
        return self

    def __isub__(self, other: Any) -> Any:
        self.difference_update(other)
        return self

    def __ixor__(self, other: Any) -> Any:
        self.symmetric_difference_update(other)
        return self

    def issubset(self, other: Any) -> bool:
        """Return whether the other has all items of this set."""
        return all(item in other for item in self)

    def issuperset(self, other: Any) -> bool:
        """Return whether this set has all items of the other."""
        return all(item in self for item in other)

    def isdisjoint(self, other: Any) -> bool:
        """Return whether they have no item in common."""
        return not any(item in self for item in other)

    def __le__(self, other: Any) -> bool:
        return self.count <= len(other) and self.issubset(other)

    def __eq__(self, other: Any) -> Any:
        return self.count == len(other) and self.issubset(other)

    def as_python(self) -> set[Any]:
        """The set that a program returns."""
        return {self.entries[place] for place in range(len(self.entries)) if self.states[place] == HELD}


def _size_for(least: int) -> int:
    """The size of a table of more than `least` places."""
    size = 8
    while size <= least:
        size *= 2
    return size


@compiled_once
def place_in_set(states: Any, entries: Any, item: Any) -> int:
    """The place of an item; that where it belongs, as a negative number, where it is missing."""
    mask = len(states) - 1
    code = int(hash_of(item))
    shifted = (code >> 5) & ((1 << 59) - 1)
    start = code & mask
    place = start
    near = NEAR if start + NEAR <= mask else 0
    gap = -1
    while states[place] == GAP or (states[place] == HELD and entries[place] != item):
        if states[place] == GAP:
            gap = place
        if near > 0:
            near -= 1
            place += 1
        else:
            start = (start * 5 + 1 + shifted) & mask
            shifted >>= 5
            place = start
            near = NEAR if start + NEAR <= mask else 0
    if states[place] == UNUSED:
        place = -1 - (place if gap < 0 else gap)
    return place


@compiled_once
def fill_set(states: Any, entries: Any, items: Any) -> None:
    """Put different items into a table that holds nothing yet."""
    mask = len(states) - 1
    for position in range(len(items)):
        code = int(hash_of(items[position]))
        shifted = (code >> 5) & ((1 << 59) - 1)
        start = code & mask
        place = start
        near = NEAR if start + NEAR <= mask else 0
        while states[place] != UNUSED:
            if near > 0:
                near -= 1
                place += 1
            else:
                start = (start * 5 + 1 + shifted) & mask
                shifted >>= 5
                place = start
                near = NEAR if start + NEAR <= mask else 0
        entries[place] = items[position]
        states[place] = HELD


@compiled_once
def next_held(states: Any, start: int) -> int:
    """The first place from `start` on that holds an item; behind the last one comes the first."""
    place = start
    while states[place] != HELD:
        place = place + 1 if place + 1 < len(states) else 0
    return place
