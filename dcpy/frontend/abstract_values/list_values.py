"""List values: lists whose length is known at run time only, and which list a name stands for.

A list of known length is a `TupleValue`. One whose items are counted when the program runs holds items of one kind, and
is an array inside: its items are the elements, or the rows, of the array. Nothing here emits code.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dcpy.frontend.abstract_values.kinds_by_path import NONE, Kinds
from dcpy.frontend.abstract_values.packed_items import PackedLevel, PackedTuple, PackedUnion
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.abstract_values.values import ArrayValue, Static, TextValue, Value

FIRST_ROOM = 16  # items, in the array of a list that grows


@dataclass(eq=False, slots=True)
class IteratorUse:
    """Of an iterator that a name stands for: how many loops are around where it got the name."""

    loops: int


@dataclass(frozen=True, slots=True)
class NamedItems:
    """The level of items that are named tuples of a class. It is false, as that of all tuples."""

    cls: type

    def __bool__(self) -> bool:
        return False


def only_list(text: TextValue) -> JoinedList | None:
    """Return the joined list that a text is, where it is nothing else."""
    match text.parts:
        case ((JoinedList() as joined, _, ""),):
            return joined
    return None


@dataclass(frozen=True, slots=True)
class JoinedLevel:
    """The level of items that are texts: those of lists of texts, with a separator between them."""

    separator: str


Level = bool | NamedItems | JoinedLevel | PackedLevel


@dataclass(frozen=True, slots=True)
class JoinedList:
    """``separator.join(items)`` of a list of run-time length: a part of a `TextValue`."""

    separator: str
    items: ListValue


@dataclass(frozen=True, slots=True)
class ListValue:
    """A list as an array: item k is element (or row) k.

    `levels`: for each level of nesting whether it is a list (else a tuple), the outermost first; dimensions behind
    those are of arrays that are items. The last one may be of items that are `packed` as words. `weak`, `other_kinds`:
    as of a `Scalar`, for the numbers in it. `size`: the scalar container that holds its length, where the array is all
    the room there is; what is read is an array of that size. `fill`: the number that all its items are, as far as that
    is known. `token`: which list it is (see `TupleValue`).
    """

    array: ArrayValue
    weak: bool = False
    other_kinds: Kinds = NONE
    levels: tuple[Level, ...] = (True,)
    size: str = ""
    fill: Static | None = None
    token: object = field(default=None, compare=False, repr=False)

    @property
    def holds_numbers(self) -> bool:
        """Return whether the innermost items are numbers, and not arrays."""
        return len(self.levels) == self.array.rank

    @property
    def packed(self) -> PackedLevel | None:
        """The innermost items where they are rows of words; None where they are not."""
        last = self.levels[-1]
        return last if isinstance(last, PackedTuple | PackedUnion) else None

    @property
    def packed_tuple(self) -> PackedTuple | None:
        """The tuples of numbers of several kinds that the innermost items are; None where they are others."""
        last = self.levels[-1]
        return last if isinstance(last, PackedTuple) else None

    @property
    def union(self) -> PackedUnion | None:
        """The kinds of which each innermost item is one; None where all are of one kind."""
        last = self.levels[-1]
        return last if isinstance(last, PackedUnion) else None

    def of(self, array: ArrayValue, token: object = None) -> ListValue:
        """The same kind of list over another array."""
        return replace(self, array=array, size="", token=token)


@dataclass(frozen=True, slots=True)
class GrownText:
    """A text whose pieces are the items of a list that grows: where texts of several forms meet. What is read of it is
    a `TextValue`.
    """

    items: ListValue


@dataclass(frozen=True, slots=True)
class ListRef:
    """A list that a name, or another list, stands for: a reference. Its items are a field of the frame's, by `key`."""

    key: str


@dataclass(frozen=True, slots=True, eq=False)
class LazyGenerator:
    """A generator expression whose items have not been read: the first iterable is evaluated, nothing else."""

    node: ast.GeneratorExp
    frame: Any
    first: Value
    use: IteratorUse | None = None


@dataclass(frozen=True, slots=True)
class ListRow:
    """The token of a list that is an item of another: row `indices` of the list `key`."""

    key: str
    indices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ListCopy:
    """The token of a copy of a list, taken out of another one at a position that is known at run time only.

    `merge`: the place to lower in another way where it matters that it is no copy in Python.
    """

    merge: object


@dataclass(frozen=True, slots=True, eq=False)
class YieldingValue:
    """A call of a generator function whose items have not been read.

    `bound` are its parameters; `maker` a frame that knows its module, `scope` the one that it was defined in, if any.
    """

    node: ast.FunctionDef
    source: Any
    bound: tuple[tuple[str, Value], ...]
    maker: Any
    scope: Any = None
    use: IteratorUse | None = None


ListLike = JoinedList | GrownText | ListValue | ListRef | LazyGenerator | YieldingValue
