"""Sets: those of known items that never change are constants; all others are a `HashSet`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.base.string_formatting import CHOSEN
from dcpy.base.text_table import TABLE
from dcpy.frontend.abstract_values.values import (
    Scalar,
    Static,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.functions.stored_texts import as_item
from dcpy.frontend.lower.lowering_signals import CHANGING_SETS
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.characters import code_of, listed
from dcpy.frontend.lower.sequences.growing_texts import is_text
from dcpy.frontend.lower.sequences.item_words import one_number
from dcpy.frontend.python.containers.hash_sets import HashSet
from dcpy.frontend.python.containers.hash_values import as_key, number_of
from dcpy.frontend.python.spelled_texts import number_of_characters
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const

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
    if is_text(key):
        return _number_of_text(b, key)
    if not is_number(key):
        raise b.error(
            f"{kind_of(key)} is a key, or an item of a set, that is looked up at run time",
            notes=("these are numbers, and tuples of numbers",),
            help="take the position of each in a list: `for i, name in enumerate(names)`",
        )
    return b.call(Static(np.int64), key)


def _number_of_text(b: OpBuilder, key: Value) -> Value:
    """A number that is the same for equal texts: the order of a set of texts is another one in each run of Python."""
    key = as_key_(b, key)
    assert isinstance(key, TextValue)
    first = key.parts[0]
    if len(key.parts) == 1 and not isinstance(first, str) and (first[2] is TABLE or first[1:] == (-1, "c")):
        return b.call(Static(np.int64), first[0])
    return b.call(Static(number_of_characters), listed(b, key))


@implements(as_key)
def as_key_(b: OpBuilder, key: Value, /) -> Value:
    """A key as it is stored: texts that are known are numbers in a table of texts, or those of their character."""
    if isinstance(key, TupleValue) and not key.is_list:
        return replace(key, items=tuple(as_key_(b, part) for part in key.items))
    if not is_text(key):
        return key
    if isinstance(key, VariantValue):
        known = [option.value for _, option in key.options if isinstance(option, Static)]
        if len(known) < len(key.options):
            return key
        is_character = all(len(text) == 1 for text in known)
        numbers = tuple((which, Static(ord(option.value) if is_character else TABLE.number(option.value)))
                        for which, option in key.options if isinstance(option, Static))  # fmt: skip
        number: Value = one_number(VariantValue(key.which, numbers))
    elif isinstance(key, Static):
        is_character = len(key.value) == 1
        code = ord(key.value) if is_character else TABLE.number(key.value)
        number = Scalar(Const(code, types.int64), weak=True)
    else:
        found = code_of(b, key)
        if found is None:
            return key if b.emit.place is None else as_item(b.emit.place[0], key)
        is_character, number = True, found
    kept = b.keep(number) if isinstance(number, Scalar) else Scalar(scalar_expr(number), weak=True)
    return TextValue(((kept, -1, "c") if is_character else (kept, CHOSEN, TABLE),))


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
