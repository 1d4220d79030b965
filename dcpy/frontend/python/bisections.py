"""`bisect`: places in lists and arrays whose items are in order."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any


def bisect_left(a: Any, x: Any, lo: int = 0, hi: Any = None, key: Any = None) -> int:
    """The place before items that are equal."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            lo = middle + 1
        else:
            end = middle
    return lo


def bisect_right(a: Any, x: Any, lo: int = 0, hi: Any = None, key: Any = None) -> int:
    """The place behind items that are equal."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            end = middle
        else:
            lo = middle + 1
    return lo


def insort_left(a: Any, x: Any, lo: int = 0, hi: Any = None, key: Any = None) -> None:
    """Insert an item before those that are equal."""
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key), x)


def insort_right(a: Any, x: Any, lo: int = 0, hi: Any = None, key: Any = None) -> None:
    """Insert an item behind those that are equal."""
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key), x)


BISECTIONS: dict[Any, Callable[..., Any]] = {
    bisect.bisect_left: bisect_left, bisect.bisect_right: bisect_right, bisect.insort_left: insort_left,
    bisect.insort_right: insort_right,
}  # fmt: skip
