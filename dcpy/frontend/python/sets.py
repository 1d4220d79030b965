"""Sets: those of known items that never change are constants; all others are a `HashSet`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import Static, TupleValue, Value, is_number, kind_of
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.lowering_signals import CHANGING_SETS
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.python.containers.hash_sets import HashSet
from dcpy.frontend.python.containers.hash_values import number_of

EMPTY = TupleValue(())
CHANGES_OF_SETS = ("add", "update", "remove", "discard", "pop", "clear", "difference_update", "intersection_update",
                   "symmetric_difference_update")  # fmt: skip


def unchanged_set(name: str) -> FrontendError:
    """The error where a set changes that a program only reads."""
    return FrontendError(
        f"this set cannot be changed ({name})",
        notes=("the caller made it, and a program only reads lists, dictionaries and sets of its caller",),
        help=f"copy it inside the program: `mine = set(given)`, `mine.{name}(...)`",
    )


@implements(set)
def set_(b: OpBuilder, iterable: Value = EMPTY) -> Value:
    """A set: a constant where its items are known, and no set of the program changes."""
    known = _known(b, iterable)
    if known is None or iterable == EMPTY or b.split_joins.get(CHANGING_SETS):
        if known is not None:
            iterable = TupleValue(tuple(map(Static, known)))
        return b.call(Static(HashSet), iterable)
    return Static(frozenset(known))


@implements(number_of)
def number_of_(b: OpBuilder, key: Value, /) -> Value:
    """A key of what is filled at run time, for its hash value."""
    if not is_number(key):
        raise b.error(
            f"{kind_of(key)} is a key, or an item of a set, that is looked up at run time",
            notes=("these are numbers, and tuples of numbers",),
            help="take the position of each in a list: `for i, name in enumerate(names)`",
        )
    return b.call(Static(np.int64), key)


@implements(frozenset)
def frozenset_(b: OpBuilder, iterable: Value = EMPTY) -> Value:
    """A set that never changes."""
    known = _known(b, iterable)
    return b.call(Static(HashSet), iterable) if known is None else Static(frozenset(known))


def _known(b: OpBuilder, iterable: Value) -> list[Any] | None:
    """The items, where they are known when the program is compiled."""
    if isinstance(iterable, Static) and isinstance(iterable.value, set | frozenset):
        return list(iterable.value)
    items = sequences.items(b, iterable) if sequences.is_known(iterable) else None
    if items is None or not all(isinstance(item, Static) for item in items):
        return None
    return [b.static(item, "an item of a set") for item in items]
