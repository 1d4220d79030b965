"""Lists of numbers as arguments: records of one array, which programs read as lists.

A list is copied into an array at each call; what a program would write to it would be lost, and is refused. Of the
kinds of numbers, and of lists in lists, each has a class of its own, so that calls with others are compiled anew.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

_WEAK = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}


@functools.lru_cache(maxsize=256)
def list_class(levels: tuple[bool, ...], weak: bool, columns: int = 0) -> type:
    """The class of lists with numbers of Python's (`weak`) or NumPy's; `levels` as of a `ListValue`.

    A list of tuples has so many `columns`, an array each; other lists are one array.
    """
    names = [f"column_{k}" for k in range(columns)] or ["items"]
    known = {"list_levels": levels, "list_weak": weak}
    return dataclasses.make_dataclass("list", names, frozen=True, eq=False, namespace=known)


def is_list_class(cls: type) -> bool:
    """Whether objects of this class stand for lists that are passed."""
    return hasattr(cls, "list_levels")


def as_argument(value: Any) -> Any:
    """What is passed for a list of numbers, all of one type, or of rows of such that are alike; None for another."""
    levels, first = [], value
    while type(first) in (list, tuple) and first:
        levels.append(type(first) is list)
        first = first[0]
    weak = type(first) in _WEAK
    if not levels or not (weak or isinstance(first, np.number | np.bool_)) or not _alike(value, value, type(first)):
        return None
    try:
        items = np.array(value, _WEAK[type(first)] if weak else first.dtype)
    except OverflowError:
        return None
    items.flags.writeable = False
    if levels == [True, False]:
        return list_class((True, False), weak, items.shape[1])(*(column.copy() for column in items.T))
    return list_class(tuple(levels), weak)(items)


def _alike(value: Any, other: Any, kind: type) -> bool:
    """Whether two rows have the same structure, and numbers of one type."""
    if type(value) is not type(other):
        return False
    if type(value) not in (list, tuple):
        return type(value) is kind
    return len(value) == len(other) > 0 and all(_alike(item, value[0], kind) for item in value)


def passed(bound: Mapping[str, Any], arrays: Callable[[str], bool]) -> dict[str, Any]:
    """Arguments with what is passed for lists; `arrays` says which parameters are annotated to be arrays."""
    return {name: _passed(value) if type(value) is list and not arrays(name) else value
            for name, value in bound.items()}  # fmt: skip


def _passed(value: list[Any]) -> Any:
    found = as_argument(value)
    return value if found is None else found
