"""Packed items: tuples of numbers of several kinds, and items of several kinds, as rows of 64-bit words of one array.

    (cost, node, done)        int64[3]: the bits of a float64, an integer, 0 or 1
    an int, a float or None   int64[2]: which of them it is, and the number

The array is a list's like any other: what moves its rows does not ask what the words mean. A complex number takes two.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.string_formatting import TextTemplate
from dcpy.frontend.abstract_values.kinds_by_path import NONE, Kinds
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.abstract_values.values import Static


@dataclass(frozen=True, slots=True)
class PackedNumber:
    """A number of one kind; the fields are those of a `Scalar`. `fill`: what it is in all items, where that is known.
    """

    dtype: DType
    weak: bool = False
    other_kinds: Kinds = NONE
    fill: Static | None = None

    @property
    def words(self) -> int:
        """The number of words that it takes."""
        return 2 if self.dtype.kind == "c" else 1

    def unfilled(self) -> PackedNumber:
        """The same kind of number, not known."""
        return self if self.fill is None else replace(self, fill=None)

    def from_words(self, words: Any) -> Sequence[Any]:
        """The numbers in rows of words, as Python has them."""
        found = self._numbers(words)
        return found.tolist() if self.weak else list(found)

    def to_words(self, items: Sequence[Any]) -> Any:
        """The rows of words of Python's numbers."""
        found = np.array(items, self.dtype.numpy)
        if self.dtype.kind == "c":
            return found.astype(np.complex128).view(np.int64).reshape(len(items), 2)
        wide = found.astype(np.float64).view(np.int64) if self.dtype.kind == "f" else found.astype(np.int64)
        return wide.reshape(len(items), 1)

    def _numbers(self, words: Any) -> Any:
        kind, dtype = self.dtype.kind, self.dtype.numpy
        if kind == "c":
            return np.ascontiguousarray(words).view(np.complex128)[:, 0].astype(dtype)
        return (words[:, 0].view(np.float64) if kind == "f" else words[:, 0]).astype(dtype)


@dataclass(frozen=True, slots=True)
class PackedConstant:
    """None, or a text: a thing that is known when the program is compiled, and takes no words."""

    value: Static

    @property
    def words(self) -> int:
        """The number of words that it takes."""
        return 0

    def unfilled(self) -> PackedConstant:
        """The same."""
        return self

    def to_words(self, items: Sequence[Any]) -> Any:
        """Rows without words."""
        return np.empty((len(items), 0), np.int64)

    def from_words(self, words: Any) -> Sequence[Any]:
        """The thing, as often as there are rows."""
        return [self.value.value] * len(words)


@dataclass(frozen=True, slots=True)
class PackedTuple:
    """The level of items that are tuples of numbers, constants and such tuples; of a class, where they are named.

    It is false, as that of all tuples.
    """

    parts: tuple[PackedPart, ...]
    cls: type | None = None

    def __bool__(self) -> bool:
        return False

    @property
    def words(self) -> int:
        """The number of words that an item takes: one at least."""
        return max(1, sum(part.words for part in self.parts))

    def unfilled(self) -> PackedTuple:
        """The same kind of tuple, with numbers that are not known."""
        return replace(self, parts=tuple(part.unfilled() for part in self.parts))

    def placed(self, start: int = 0) -> Iterator[tuple[PackedPart, int]]:
        """Yield the parts, and the first word of each."""
        for part in self.parts:
            yield part, start
            start += part.words

    def numbers(self, start: int = 0) -> Iterator[tuple[PackedNumber, int]]:
        """Yield all numbers, those of inner tuples among them, and the first word of each."""
        for part, place in self.placed(start):
            if isinstance(part, PackedTuple):
                yield from part.numbers(place)
            elif isinstance(part, PackedNumber):
                yield part, place

    @property
    def is_flat(self) -> bool:
        """Return whether all parts are numbers."""
        return all(isinstance(part, PackedNumber) for part in self.parts)

    def to_words(self, items: Sequence[Any]) -> Any:
        """The rows of words of Python's tuples."""
        found = np.zeros((len(items), self.words), np.int64)
        for (part, place), column in zip(self.placed(), zip(*items, strict=True), strict=True):
            found[:, place : place + part.words] = part.to_words(column)
        return found

    def from_words(self, words: Any) -> Sequence[Any]:
        """The tuples in rows of words, as Python has them."""
        columns = [part.from_words(words[:, place : place + part.words]) for part, place in self.placed()]
        found = zip(*columns, strict=True)
        keys = getattr(self.cls, "row_keys", None)
        if keys is not None:
            return [dict(zip(keys, item, strict=True)) for item in found]
        return list(found) if self.cls is None else [tuple.__new__(self.cls, item) for item in found]


@functools.lru_cache(maxsize=1024)
def row_class(keys: tuple[Any, ...]) -> type:
    """The class of tuples that are the values of dictionaries with these keys, in a list."""
    return type("dict", (tuple,), {"row_keys": keys})


@dataclass(frozen=True, slots=True)
class PackedText:
    """A text with numbers, as a tuple of them; `pieces`: what is around them."""

    numbers: PackedTuple
    pieces: tuple[str | tuple[int, Any], ...]

    @property
    def words(self) -> int:
        """The number of words that it takes."""
        return self.numbers.words

    def unfilled(self) -> PackedText:
        """The same kind of text, with numbers that are not known."""
        return replace(self, numbers=self.numbers.unfilled())

    def to_words(self, items: Sequence[Any]) -> Any:
        """Texts are made by the program only."""
        raise NotImplementedError

    def from_words(self, words: Any) -> Sequence[Any]:
        """The texts of the numbers in rows of words."""
        made = TextTemplate(self.pieces)
        return [made(*numbers) for numbers in self.numbers.from_words(words)]


@dataclass(frozen=True, slots=True)
class PackedUnion:
    """The level of items that are one of several kinds each: the first word says which. It is false, as that of tuples.
    """

    options: tuple[PackedPart, ...]

    def __bool__(self) -> bool:
        return False

    @property
    def words(self) -> int:
        """The number of words that an item takes."""
        return 1 + max(option.words for option in self.options)

    def unfilled(self) -> PackedUnion:
        """The same, with numbers that are not known."""
        return PackedUnion(tuple(option.unfilled() for option in self.options))

    def to_words(self, items: Sequence[Any], kinds: Sequence[PackedPart]) -> Any:
        """The rows of words of Python's items, of which the kinds are known."""
        found = np.zeros((len(items), self.words), np.int64)
        for number, option in enumerate(self.options):
            places = [place for place, kind in enumerate(kinds) if kind == option]
            found[places, 0] = number
            found[places, 1 : 1 + option.words] = option.to_words([items[place] for place in places])
        return found

    def from_words(self, words: Any) -> Sequence[Any]:
        """The items in rows of words, as Python has them."""
        found: list[Any] = [None] * len(words)
        for number, option in enumerate(self.options):
            places = np.flatnonzero(words[:, 0] == number)
            items = option.from_words(words[places, 1 : 1 + option.words])
            for place, item in zip(places.tolist(), items, strict=True):
                found[place] = item
        return found


PackedPart = PackedNumber | PackedTuple | PackedConstant | PackedText
PackedLevel = PackedTuple | PackedUnion
