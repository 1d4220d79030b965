"""Double-ended queues: a list with room in front of its first item."""

from __future__ import annotations

import collections
from typing import Any

from dcpy.frontend.python.containers.compiled_functions import compiled_once


class DoubleEndedQueue:
    """A `collections.deque`: its items are those of `room` from position `head` on."""

    def __init__(self, items: Any = (), maxlen: Any = None) -> None:
        self.room: list[Any] = []
        self.head = 0
        self.maxlen = maxlen
        for item in items:
            self.append(item)

    def __len__(self) -> int:
        return len(self.room) - self.head

    def append(self, item: Any) -> None:
        """Add an item at the end."""
        self.room.append(item)
        if self.maxlen is not None and len(self) > self.maxlen:
            self.popleft()

    def appendleft(self, item: Any) -> None:
        """Add an item in front."""
        if self.head == 0:
            added = len(self.room) + 4
            self.room = [item] * added + self.room
            self.head = added
        self.head -= 1
        self.room[self.head] = item
        if self.maxlen is not None and len(self) > self.maxlen:
            self.pop()

    def pop(self) -> Any:
        """Take the last item."""
        if len(self) == 0:
            raise IndexError("pop from an empty deque")
        return self.room.pop()

    def popleft(self) -> Any:
        """Take the first item."""
        if len(self) == 0:
            raise IndexError("pop from an empty deque")
        item = self.room[self.head]
        self.head += 1
        if self.head > 16 and 2 * self.head > len(self.room):
            self._close()
        return item

    def _close(self) -> None:
        """Give back the room in front of the first item."""
        count = len(self)
        move_to_front(self.room, self.head)
        del self.room[count:]
        self.head = 0

    def _position(self, index: int) -> int:
        place = index + len(self) if index < 0 else index
        if place < 0 or place >= len(self):
            raise IndexError("deque index out of range")
        return self.head + place

    def __getitem__(self, index: int) -> Any:
        return self.room[self._position(index)]

    def __setitem__(self, index: int, item: Any) -> None:
        self.room[self._position(index)] = item

    def __iter__(self) -> Any:
        return self.room[self.head :]

    def __contains__(self, item: Any) -> bool:
        return any(one == item for one in self)

    def extend(self, items: Any) -> None:
        """Add several items at the end."""
        for item in items:
            self.append(item)

    def extendleft(self, items: Any) -> None:
        """Add several items in front, one after the other."""
        for item in items:
            self.appendleft(item)

    def rotate(self, steps: int = 1) -> None:
        """Move items from the end to the front, or the other way."""
        if len(self) > 0:
            for _ in range(steps % len(self)):
                self.appendleft(self.pop())

    def reverse(self) -> None:
        """Turn the order round."""
        self.room = self.room[self.head :][::-1]
        self.head = 0

    def count(self, item: Any) -> int:
        """The number of items that are equal to this one."""
        return sum(1 for one in self if one == item)

    def clear(self) -> None:
        """Remove all items."""
        self.room.clear()
        self.head = 0

    def copy(self) -> Any:
        """A queue of the same items."""
        return DoubleEndedQueue(self, self.maxlen)

    def as_python(self) -> collections.deque[Any]:
        """The queue that a program returns."""
        return collections.deque(self.room[self.head :], self.maxlen)


@compiled_once
def move_to_front(items: Any, head: int) -> None:
    """Move the items from position `head` on to the front."""
    for position in range(head, len(items)):
        items[position - head] = items[position]
