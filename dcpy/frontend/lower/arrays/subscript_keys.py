"""Subscript keys: whether they name an element, a view or selected elements, and the order of the axes.

All that reads or writes ``x[keys]`` asks here: loads, stores, augmented assignments, ``at`` of ufuncs. NumPy decides on
the keys as they are written. An integer beside an index array is an index array, too; and the axes of index arrays come
first where anything else, be it an ellipsis that stands for no dimension, is written between two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    RangeValue,
    Scalar,
    SliceValue,
    Static,
    TupleValue,
    Value,
    as_integer,
    dtype_of,
    integer,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.lower.arrays.foreign_array_refusals import refuse_foreign
from dcpy.ir import types
from dcpy.ir.expressions.scalar import cast

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

FULL = SliceValue(Static(None), Static(None), Static(None))
NEW = Static(None)
DOTS = Static(Ellipsis)


class IndexingMode(Enum):
    """Kind of selection that keys make."""

    ELEMENT = auto()  #: one element: a number where it is read
    VIEW = auto()  #: a part that lies regularly
    COPY = auto()  #: such a part, of which a copy is read: an integer was a 0-d array
    CHOICE = auto()  #: elements that arrays or truth values choose: a copy where they are read


@dataclass(frozen=True)
class SubscriptKeys:
    """Keys in the brackets, written out: one for each dimension (or mask), and None for each new one.

    `separated`: something else is written between two keys that choose; the dimensions of what is chosen are the first
    ones then. `is_only_key`: one key indexes all dimensions. `flags`: which keys are truth values. Such a 0-d mask
    takes no dimension: the key is how often it selects all of them, 0 or 1 times.
    """

    items: tuple[Value, ...]
    mode: IndexingMode
    separated: bool
    is_only_key: bool
    flags: frozenset[int]


def written_out(b: TypedEmitter, value: ArrayValue, keys: Sequence[Value]) -> SubscriptKeys:
    """The keys of ``value[keys]`` with the ellipsis and missing trailing slices written out."""
    plain = [_plain(b, key) for key in keys]
    used = sum(map(_consumes, plain))
    if used > value.rank:
        raise FrontendError(
            f"too many indices for array: array is {value.rank}-dimensional, but {used} were indexed",
            notes=("NumPy raises IndexError here",),
        )
    if plain.count(DOTS) > 1:
        message = "an index can only have a single ellipsis ('...')"
        raise FrontendError(message, notes=("NumPy raises IndexError here",))
    dots = plain.index(DOTS) if DOTS in plain else len(plain)
    items = [*plain[:dots], *[FULL] * (value.rank - used), *plain[dots + 1 :]]
    flags = frozenset(k for k, key in enumerate(items) if _is_flag(key))
    return SubscriptKeys(
        tuple(_count(b, key) if k in flags else key for k, key in enumerate(items)),
        _named(value.rank, keys, plain),
        _are_apart(plain),
        len(plain) == len(items) == 1 and DOTS not in plain,
        flags,
    )


def _named(rank: int, keys: Sequence[Value], plain: Sequence[Value]) -> IndexingMode:
    if any(isinstance(key, ArrayValue) or _is_flag(key) for key in plain):
        return IndexingMode.CHOICE
    if len(plain) == rank and all(map(is_number, plain)):
        return IndexingMode.ELEMENT
    return IndexingMode.COPY if any(isinstance(key, ArrayValue) for key in keys) else IndexingMode.VIEW


def _are_apart(plain: Sequence[Value]) -> bool:
    places = [k for k, key in enumerate(plain) if chooses(key)]
    return bool(places) and places[-1] - places[0] >= len(places)


def chooses(key: Value) -> bool:
    """Return whether a key counts as an index array where there is one, or a mask: all but slices, ``...`` and
    ``None``.
    """
    return isinstance(key, ArrayValue) or is_number(key)


def is_mask(key: Value) -> bool:
    """Return whether a key is a boolean array."""
    return isinstance(key, ArrayValue) and key.dtype == types.bool_


def _is_flag(key: Value) -> bool:
    return is_number(key) and dtype_of(key) == types.bool_


def _count(b: TypedEmitter, flag: Value) -> Value:
    """Return how often a truth value selects."""
    known = as_integer(flag)
    return integer(b.emit.assign_symbol("n", cast(scalar_expr(flag), types.int64), 0, 1) if known is None else known)


def _consumes(key: Value) -> int:
    """Return how many dimensions a key indexes."""
    if key in (NEW, DOTS) or _is_flag(key):
        return 0
    return key.rank if isinstance(key, ArrayValue) and is_mask(key) else 1


def is_sequence(key: Value) -> bool:
    """Return whether a key is a list, a tuple or a range."""
    known = isinstance(key, Static) and isinstance(key.value, list | tuple | range)
    return known or isinstance(key, TupleValue | ListValue | RangeValue)


def index_array(b: TypedEmitter, key: Value) -> ArrayValue:
    """The index array of a list or tuple; an empty one selects nothing (`np.array`: float64)."""
    array = b.array(key)
    if not any(size.constant == 0 for size in array.shape):
        return array
    return b.array(b.cast(array, types.int64))


def _plain(b: TypedEmitter, key: Value) -> Value:
    """A key as a number, an array of one dimension or more, a slice, an ellipsis or None; refuses others."""
    if is_sequence(key):
        key = index_array(b, key)
    if isinstance(key, Static) and isinstance(key.value, slice):
        return SliceValue(Static(key.value.start), Static(key.value.stop), Static(key.value.step))
    if isinstance(key, SliceValue) or key in (NEW, DOTS):
        return key
    if isinstance(key, ArrayValue) and key.dtype.kind not in "iub":
        raise FrontendError(
            "arrays used as indices must be of integer (or boolean) type",
            notes=("NumPy raises IndexError here",),
            help="use .astype(np.int64), or a comparison for a mask: x[x > 0]",
        )
    if not chooses(key):
        refuse_foreign(key)
        raise FrontendError(
            f"{kind_of(key)} is not an index",
            notes=("NumPy raises IndexError here",),
            help="use integers, slices, None, ... or arrays",
        )
    if is_number(key) and dtype_of(key).kind not in "iub":
        raise FrontendError(
            f"{kind_of(key)} is not an index",
            notes=("NumPy raises IndexError here: it takes integers, slices, None, ... and arrays",),
            help="divide with `//`, or convert it with int(...)",
        )
    return Scalar(key.load(())) if isinstance(key, ArrayValue) and not key.shape else key
