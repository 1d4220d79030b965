"""Lists of lists that grow one by one: all items are in one pool, each row is a part of it."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from dcpy.frontend.python.containers.hash_maps import DefaultMap, HashMap


class RaggedLists:
    """``[[] for _ in range(count)]``: row k is the part of `pool` from ``starts[k]`` on, with room for ``rooms[k]``."""

    def __init__(self, count: int) -> None:
        self.starts = [0] * count
        self.counts = [0] * count
        self.rooms = [0] * count
        self.pool: list[Any] = []

    def __len__(self) -> int:
        return len(self.starts)

    def _row(self, index: int) -> int:
        place = index + len(self.starts) if index < 0 else index
        if place < 0 or place >= len(self.starts):
            raise IndexError("list index out of range")
        return place

    def __getitem__(self, index: int) -> Any:
        return RowOfLists(self, self._row(index))

    def __setitem__(self, index: int, items: Any) -> None:
        row = self._row(index)
        kept = list(items)
        self.counts[row] = 0
        for item in kept:
            self._append(row, item)

    def __iter__(self) -> Any:
        return map(lambda row: RowOfLists(self, row), range(len(self.starts)))

    def add(self) -> int:
        """Add an empty row, and return its number."""
        self.starts.append(0)
        self.counts.append(0)
        self.rooms.append(0)
        return len(self.starts) - 1

    def _append(self, row: int, item: Any) -> None:
        count = self.counts[row]
        if count == self.rooms[row]:
            room = 4 if count == 0 else 2 * count
            start = len(self.pool)
            for k in range(count):
                self.pool.append(self.pool[self.starts[row] + k])
            for _ in range(room - count):
                self.pool.append(item)
            self.starts[row] = start
            self.rooms[row] = room
        self.pool[self.starts[row] + count] = item
        self.counts[row] = count + 1

    def _items(self, row: int) -> Any:
        start = self.starts[row]
        return self.pool[start : start + self.counts[row]]

    def as_python(self) -> list[list[Any]]:
        """The lists that a program returns."""
        return [self.pool[start : start + count] for start, count in zip(self.starts, self.counts, strict=True)]


class RowOfLists:
    """The list ``lists[row]``, which shares its items."""

    def __init__(self, lists: RaggedLists, row: int) -> None:
        self.lists = lists
        self.row = row

    def __len__(self) -> int:
        return self.lists.counts[self.row]

    def __iter__(self) -> Any:
        return self.lists._items(self.row)

    def _place(self, index: int) -> int:
        count = self.lists.counts[self.row]
        place = index + count if index < 0 else index
        if place < 0 or place >= count:
            raise IndexError("list index out of range")
        return self.lists.starts[self.row] + place

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.lists._items(self.row)[index]
        return self.lists.pool[self._place(index)]

    def __setitem__(self, index: int, item: Any) -> None:
        self.lists.pool[self._place(index)] = item

    def __contains__(self, item: Any) -> bool:
        return item in self.lists._items(self.row)

    def append(self, item: Any) -> None:
        """Add an item at the end."""
        self.lists._append(self.row, item)

    def extend(self, items: Any) -> None:
        """Add several items."""
        for item in items:
            self.lists._append(self.row, item)

    def pop(self) -> Any:
        """Take the last item."""
        if len(self) == 0:
            raise IndexError("pop from empty list")
        item = self[-1]
        self.lists.counts[self.row] -= 1
        return item

    def as_python(self) -> list[Any]:
        """The list that a program returns."""
        found: list[Any] = self.lists[self.row]  # which are Python's already
        return found

    def sort(self) -> None:
        """Put the items in order."""
        self.lists[self.row] = sorted(self.lists._items(self.row))


class GroupingMap(HashMap):
    """A ``collections.defaultdict(list)``: the value of a key is a row of `rows`."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = RaggedLists(0)

    def __getitem__(self, key: Any) -> Any:
        place = self._place(key)
        if place < 0:
            row = self.rows.add()
            HashMap.__setitem__(self, key, row)
            return RowOfLists(self.rows, row)
        return RowOfLists(self.rows, self.contents[self.table[place]])

    def __setitem__(self, key: Any, items: Any) -> None:
        self.rows[self[key].row] = items

    def values(self) -> Any:
        """The lists, in the order of the keys."""
        rows = self.rows
        self._close_gaps()
        return map(lambda row: RowOfLists(rows, row), list(self.contents))

    def items(self) -> Any:
        """Pairs of keys and lists."""
        rows = self.rows
        self._close_gaps()
        return map(lambda name, row: (name, RowOfLists(rows, row)), list(self.names), list(self.contents))

    def as_python(self) -> dict[Any, Any]:
        """The dictionary that a program returns."""
        lists: Any = self.rows  # which are Python's already
        return collections.defaultdict(list, {name: lists[row] for name, row in super().as_python().items()})


def default_map(factory: Callable[[], Any], pairs: Any = ()) -> Any:
    """The dictionary for ``collections.defaultdict(factory, pairs)``."""
    if factory is list:
        return GroupingMap()
    return DefaultMap(factory, pairs)
