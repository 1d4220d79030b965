"""Lists of numbers as arguments: records of one array, which programs read as lists.

A list is copied into an array at each call; what a program would write to it would be lost, and is refused. Of the
kinds of numbers, and of lists in lists, each has a class of its own, so that calls with others are compiled anew.
A list of tuples of numbers of several types, or a long one of items of several kinds, is an array of words
(`packed_items`). A short list of numbers of several types, of rows of several lengths, or without items is passed item
by item.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.list_values import Level
from dcpy.frontend.abstract_values.packed_items import (
    PackedConstant,
    PackedLevel,
    PackedNumber,
    PackedPart,
    PackedTuple,
    PackedUnion,
)
from dcpy.frontend.abstract_values.values import Static
from dcpy.ir.types import from_numpy

MOST_KEPT = 64  # numbers and rows of a list that are arguments one by one
MOST_KINDS = 8  # of items of a longer list
_WEAK = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}


@functools.lru_cache(maxsize=256)
def list_class(levels: tuple[Level, ...], weak: bool, columns: int = 0) -> type:
    """The class of lists with numbers of Python's (`weak`) or NumPy's; `levels` as of a `ListValue`.

    A list of tuples has so many `columns`, an array each; other lists are one array.
    """
    names = [f"column_{k}" for k in range(columns)] or ["items"]
    known = {"list_levels": levels, "list_weak": weak}
    return dataclasses.make_dataclass("list", names, frozen=True, eq=False, namespace=known)


def is_list_class(cls: type) -> bool:
    """Return whether objects of this class stand for lists that are passed."""
    return hasattr(cls, "list_levels")


@functools.lru_cache(maxsize=256)
def kept_class(count: int, is_list: bool) -> type:
    """The class of lists (or tuples) whose items are arguments one by one: numbers of several types, rows, or none."""
    names = [f"item_{k}" for k in range(count)]
    return dataclasses.make_dataclass("list", names, frozen=True, eq=False, namespace={"kept_as_list": is_list})


def is_kept_class(cls: type) -> bool:
    """Return whether objects of this class stand for lists that are passed item by item."""
    return hasattr(cls, "kept_as_list")


def as_argument(value: Any) -> Any:
    """Return the argument for a list of numbers, or of lists and tuples of numbers; None for another."""
    for make in (_as_array, _as_records, _item_by_item, _as_words):
        found = make(value)
        if found is not None:
            return found
    return None


def _as_records(value: Any) -> Any:
    """Return the argument for a list of tuples of numbers, where each place has numbers of one type; None for others.
    """
    if type(value) is not list or not value or not isinstance(value[0], tuple):
        return None
    level, *others = dict.fromkeys(_kinds(value))
    if others or not isinstance(level, PackedTuple) or not level.is_flat:
        return None
    return _as_rows(level, lambda: level.to_words(value))


def _as_words(value: Any) -> Any:
    """Return the argument for a list of items of a few kinds: numbers, None, texts, tuples of them; None for others."""
    if type(value) is not list or not value:
        return None
    kinds = _kinds(value)
    known = [kind for kind in dict.fromkeys(kinds) if kind is not None]
    texts = all(isinstance(kind, PackedConstant) for kind in known)  # each of them would be compiled for
    if None in kinds or len(known) > MOST_KINDS or texts:
        return None
    level = PackedUnion(tuple(sorted(known, key=str)))
    return _as_rows(level, lambda: level.to_words(value, [kind for kind in kinds if kind is not None]))


def _as_rows(level: PackedLevel, make: Callable[[], Any]) -> Any:
    """The argument for a list of items that are words; None where an int does not fit into one."""
    try:
        words = make()
    except OverflowError:
        return None
    words.flags.writeable = False
    return list_class((True, level), weak=True)(words)


def _kinds(items: list[Any]) -> list[PackedPart | None]:
    """Return the kinds of the items of a list; those of items with the same types are found once."""
    known: dict[Any, PackedPart | None] = {}
    found = []
    for item in items:
        types = (type(item), *map(type, item)) if isinstance(item, tuple) else (type(item),)
        if str in types or any(issubclass(one, tuple) for one in types[1:]):
            found.append(_kind_of(item))
            continue
        if types not in known:
            known[types] = _kind_of(item)
        found.append(known[types])
    return found


def _kind_of(item: Any) -> PackedPart | None:
    """Return the kind of an item of a list; None where lists do not hold such items."""
    if isinstance(item, tuple) and (type(item) is tuple or hasattr(item, "_fields")):
        parts = [_kind_of(part) for part in item]
        known = tuple(part for part in parts if part is not None)
        cls = None if type(item) is tuple else type(item)
        return PackedTuple(known, cls) if known and len(known) == len(parts) else None
    if item is None or type(item) is str:
        return PackedConstant(Static(item))
    if not _is_argument(item) or is_passed(item):
        return None
    weak = type(item) in _WEAK
    try:
        return PackedNumber(from_numpy(np.dtype(_WEAK[type(item)] if weak else item.dtype)), weak)
    except KeyError:
        return None


def _item_by_item(value: Any) -> Any:
    """A short list of numbers of several types, of rows that differ, or without items: its length is a part of it."""
    return _kept(value) if _count(value) <= MOST_KEPT else None


def _kept(value: Any) -> Any:
    items = [_kept(item) if type(item) in (list, tuple) else item for item in value]
    if not all(map(_is_argument, items)):
        return None
    return kept_class(len(items), type(value) is list)(*items)


def _is_argument(item: Any) -> bool:
    if type(item) is str:
        return True
    if type(item) is int:
        return -(2**63) <= item < 2**63
    return type(item) in _WEAK or isinstance(item, np.number | np.bool_) or is_passed(item)


def _count(value: Any) -> int:
    """The numbers in lists, and the lists."""
    return 1 + sum(map(_count, value)) if type(value) in (list, tuple) else 1


def is_passed(value: Any) -> bool:
    """Return whether a value stands for a list or tuple."""
    return is_list_class(type(value)) or is_kept_class(type(value))


def _as_array(value: Any) -> Any:
    """Return the argument for a list of numbers of one type, or of rows of such that are alike; None for another."""
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
    """Return whether two rows have the same structure, and numbers of one type."""
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


def of_the_caller(bound: Mapping[str, Any], objects: Mapping[str, Any]) -> dict[str, Any]:
    """The lists of the caller (and rows in them) that were passed, by the paths of what stands for them."""
    found: dict[str, Any] = {name: value for name, value in bound.items() if type(value) is list}
    for path, value in objects.items():
        name, *steps = path.split(".")
        if is_kept_class(type(value)) and steps:
            found[path] = functools.reduce(lambda one, step: one[int(step.removeprefix("item_"))], steps, found[name])
    return found
