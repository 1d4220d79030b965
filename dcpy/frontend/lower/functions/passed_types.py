"""Types of the arguments of outlined calls: numbers, tuples of numbers, and lists as arrays (`outlined_calls`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcpy.frontend.abstract_values.list_values import Level, ListValue
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, TextValue, TupleValue, Value
from dcpy.ir import data
from dcpy.ir.expressions.scalar import Load
from dcpy.ir.symbolic import as_expr, sym
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.emitter import Emitter


@dataclass(frozen=True, slots=True)
class NumberType:
    """A number in a container of its own, integers among them."""

    dtype: DType
    weak: bool

    def declare(self, emit: Emitter, name: str) -> Value:
        """The parameter, whose container is declared."""
        _register(emit, name, data.Scalar(self.dtype))
        return Scalar(Load(name, (), self.dtype), self.weak)


@dataclass(frozen=True, slots=True)
class TupleType:
    """A tuple of numbers, or of such tuples."""

    parts: tuple[NumberType | TupleType | TextType, ...]
    names: tuple[str, ...] = ()
    cls: type | None = None

    def named(self, name: str) -> Iterator[tuple[str, NumberType | TupleType | TextType]]:
        """Yield the parts, and the names of their containers."""
        for position, part in enumerate(self.parts):
            yield f"{name}_{position}", part

    def declare(self, emit: Emitter, name: str) -> Value:
        """The parameter, whose containers are declared."""
        return TupleValue(tuple(part.declare(emit, inner) for inner, part in self.named(name)),
                          names=self.names, cls=self.cls)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ListType:
    """A list as the array of its items, packed; `sizes`: those of an item, `levels`: as of a `ListValue`."""

    dtype: DType
    weak: bool
    sizes: tuple[int, ...]
    levels: tuple[Level, ...]

    def length(self, name: str) -> str:
        """The symbol of the number of items."""
        return f"{name}_length"

    def declare(self, emit: Emitter, name: str) -> Value:
        """The parameter, whose array is declared."""
        length = self.length(name)
        emit.reserve(length)
        emit.free_symbol(length, size=True)
        emit.known_of(length, size=True)
        emit.maybe_one.add(length)
        desc = data.Array.packed(self.dtype, (sym(length), *map(as_expr, self.sizes)))
        _register(emit, name, desc)
        return ListValue(ArrayValue.whole(name, desc), self.weak, levels=self.levels)


@dataclass(frozen=True, slots=True)
class TextType:
    """A text with one number, which is passed; `shown`: how it is shown."""

    number: NumberType
    shown: tuple[int, Any]

    def declare(self, emit: Emitter, name: str) -> Value:
        """The parameter, whose container is declared."""
        return TextValue(((self.number.declare(emit, name), *self.shown),))


@dataclass(frozen=True, slots=True)
class EmptyListType:
    """A list that is known to be empty."""

    def declare(self, emit: Emitter, name: str) -> Value:
        """The parameter: nothing is passed."""
        return TupleValue((), is_list=True)


PassedType = NumberType | TupleType | ListType | TextType | EmptyListType
PASSED = (NumberType, TupleType, ListType, TextType, EmptyListType)


def _register(emit: Emitter, name: str, desc: data.Data) -> None:
    emit.reserve(name)
    emit.sdfg.add_argument(name, desc)
    emit.descs[name], emit.regions[name] = desc, emit.sdfg.body
