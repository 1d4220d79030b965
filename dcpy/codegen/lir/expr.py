"""Expressions of LIR: typed, side-effect free but for `Call` and some of `Intrinsic`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from dcpy.codegen.lir.types import INDEX, Lanes, LirType
from dcpy.ir.types import DType

LirExpr = Union[
    "Literal", "Name", "Item", "Field", "Infix", "Prefix", "Call", "Intrinsic", "Operation", "Cast", "Convert",
    "Conditional", "Aggregate", "SizeOf",
]  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A number; None is the pointer to nothing. Zeros of both signs differ."""

    value: bool | int | float | None
    type: LirType

    def __eq__(self, other: object) -> bool:
        if type(other) is not Literal or self.value != other.value or self.type != other.type:
            return False
        return not isinstance(self.value, float) or repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash((self.value, self.type))


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, a parameter, or a pointer."""

    name: str
    type: LirType


@dataclass(frozen=True, slots=True)
class Item:
    """``base[index]``."""

    base: LirExpr
    index: LirExpr
    type: LirType


@dataclass(frozen=True, slots=True)
class Field:
    """``arg.name``."""

    arg: LirExpr
    name: str
    type: LirType


@dataclass(frozen=True, slots=True)
class Infix:
    """``left op right``."""

    op: str
    left: LirExpr
    right: LirExpr
    type: LirType


@dataclass(frozen=True, slots=True)
class Prefix:
    """``op arg``: ``-``, ``!``, ``~``, ``&`` (an address)."""

    op: str
    arg: LirExpr
    type: LirType


@dataclass(frozen=True, slots=True)
class Call:
    """``function(args)``: a function of the module, or a foreign one whose prototype is known."""

    function: str
    args: tuple[LirExpr, ...]
    type: LirType


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """Operation of the machine or run-time, by name (`lir.intrinsics`), on elements or tokens `of` a type if generic.

    How it is written is the dialect's: a function of its prelude, one of the compiler's, an operator.
    """

    name: str
    args: tuple[LirExpr, ...]
    type: LirType
    of: DType | Lanes | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of `ir.expressions.ops`, or ``power``, on values of `dtype`. How it is computed is the dialect's."""

    name: str
    args: tuple[LirExpr, ...]
    dtype: DType
    type: DType


@dataclass(frozen=True, slots=True)
class Cast:
    """``astype``: a value of `source` as NumPy converts it to `type`."""

    arg: LirExpr
    source: DType
    type: DType


@dataclass(frozen=True, slots=True)
class Convert:
    """``(type)arg``: another kind of pointer."""

    arg: LirExpr
    type: LirType


@dataclass(frozen=True, slots=True)
class Conditional:
    """``condition ? yes : no``."""

    condition: LirExpr
    yes: LirExpr
    no: LirExpr
    type: LirType


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A value made of parts: a complex number."""

    args: tuple[LirExpr, ...]
    type: LirType


@dataclass(frozen=True, slots=True)
class SizeOf:
    """The bytes of an element."""

    element: LirType
    type: LirType


def integer(value: int) -> Literal:
    """An int64 number."""
    return Literal(value, INDEX)


def plus(left: LirExpr, right: LirExpr) -> LirExpr:
    """``left + right`` of int64, with zeros and negative numbers folded."""
    first, second = _known(left), _known(right)
    if first == 0:
        return right
    if second is not None:
        if second == 0:
            return left
        if first is not None:
            return integer(first + second)
        if -(2**63) < second < 0:
            return Infix("-", left, integer(-second), INDEX)
    if isinstance(right, Prefix) and right.op == "-":
        return Infix("-", left, right.arg, INDEX)
    if isinstance(right, Infix) and right.op in ("+", "-"):  # a + (b - c) reads better as a + b - c
        return Infix(right.op, plus(left, right.left), right.right, INDEX)
    return Infix("+", left, right, INDEX)


def times(left: LirExpr, right: LirExpr) -> LirExpr:
    """``left*right`` of int64, with zeros and ones folded."""
    first, second = _known(left), _known(right)
    for number, one, other in ((first, left, right), (second, right, left)):
        if number in (0, 1, -1):
            return one if number == 0 else other if number == 1 else Prefix("-", other, INDEX)
    if first is not None and second is not None:
        return integer(first * second)
    return Infix("*", left, right, INDEX)


def _known(expr: LirExpr) -> int | None:
    """The value of a literal of int64."""
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, int) and expr.type == INDEX else None
