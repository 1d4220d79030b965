"""`heapq` on lists of one kind of items: the positions of items are those that CPython's functions give."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from dcpy.frontend.python.containers.compiled_functions import compiled_once


def heappush(heap: Any, item: Any) -> None:
    """Add an item to a heap."""
    heap.append(item)
    _lift(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    """Take the smallest item from a heap."""
    if len(heap) == 0:
        raise IndexError("index out of range")
    smallest = heap[0]
    last = heap.pop()
    if len(heap) > 0:
        heap[0] = last
        _sink(heap, 0)
    return smallest


def heapreplace(heap: Any, item: Any) -> Any:
    """Take the smallest item, and add one afterwards."""
    if len(heap) == 0:
        raise IndexError("index out of range")
    smallest = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return smallest


def heappushpop(heap: Any, item: Any) -> Any:
    """Add an item, and take the smallest one afterwards."""
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item


def heapify(x: Any) -> None:
    """Turn a list into a heap."""
    for place in range(len(x) // 2 - 1, -1, -1):
        _sink(x, place)


def nsmallest(n: int, iterable: Any, key: Any = None) -> Any:
    """The smallest items, in order."""
    return sorted(iterable, key=key)[:n]


def nlargest(n: int, iterable: Any, key: Any = None) -> Any:
    """The largest items, in order."""
    return sorted(iterable, key=key, reverse=True)[:n]


@compiled_once
def _lift(heap: Any, top: int, place: int) -> None:
    """Move an item up, below its parents that are not larger."""
    item = heap[place]
    while place > top and item < heap[(place - 1) // 2]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = item


@compiled_once
def _sink(heap: Any, top: int) -> None:
    """Move an item to the leaves along the smaller children, and up again from there."""
    item = heap[top]
    place = top
    while 2 * place + 1 < len(heap):
        child = 2 * place + 1
        if child + 1 < len(heap) and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
    heap[place] = item
    _lift(heap, top, place)


HEAPS: dict[Any, Callable[..., Any]] = {
    heapq.heappush: heappush, heapq.heappop: heappop, heapq.heapreplace: heapreplace, heapq.heappushpop: heappushpop,
    heapq.heapify: heapify, heapq.nsmallest: nsmallest, heapq.nlargest: nlargest,
}  # fmt: skip
