"""Expressions of LIR: typed, side-effect free but for `Call`, one class per way of writing in C.

`type` is a C type as text: ``double``, ``int64_t``, ``const double *``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

LirExpr = Union["Literal", "Name", "Item", "Field", "Infix", "Prefix", "Call", "Convert", "Conditional", "Aggregate"]


@dataclass(frozen=True, slots=True)
class Literal:
    """A number as C spells it. `value` is set for integers, for folding."""

    text: str
    type: str
    value: int | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, a parameter, or a pointer."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Item:
    """``base[index]``."""

    base: LirExpr
    index: LirExpr
    type: str


@dataclass(frozen=True, slots=True)
class Field:
    """``arg.name``."""

    arg: LirExpr
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Infix:
    """``left op right``."""

    op: str
    left: LirExpr
    right: LirExpr
    type: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """``op arg``: ``-``, ``!``, ``~``, ``&`` (an address)."""

    op: str
    arg: LirExpr
    type: str


@dataclass(frozen=True, slots=True)
class Call:
    """``function(args)``; `function` may carry template arguments."""

    function: str
    args: tuple[LirExpr, ...]
    type: str


@dataclass(frozen=True, slots=True)
class Convert:
    """``(type)arg``."""

    arg: LirExpr
    type: str


@dataclass(frozen=True, slots=True)
class Conditional:
    """``condition ? yes : no``."""

    condition: LirExpr
    yes: LirExpr
    no: LirExpr
    type: str


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``type{args}``."""

    args: tuple[LirExpr, ...]
    type: str


INDEX = "int64_t"


def integer(value: int) -> Literal:
    """An int64 number."""
    return Literal(str(value), INDEX, value)


def plus(left: LirExpr, right: LirExpr) -> LirExpr:
    """``left + right`` of int64, with zeros and negative numbers folded."""
    if isinstance(left, Literal) and left.value == 0:
        return right
    if isinstance(right, Literal) and right.value is not None:
        if right.value == 0:
            return left
        if isinstance(left, Literal) and left.value is not None:
            return integer(left.value + right.value)
        if right.value < 0:
            return Infix("-", left, integer(-right.value), INDEX)
    if isinstance(right, Prefix) and right.op == "-":
        return Infix("-", left, right.arg, INDEX)
    if isinstance(right, Infix) and right.op in ("+", "-"):  # a + (b - c) reads better as a + b - c
        return Infix(right.op, plus(left, right.left), right.right, INDEX)
    return Infix("+", left, right, INDEX)


def times(left: LirExpr, right: LirExpr) -> LirExpr:
    """``left*right`` of int64, with zeros and ones folded."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Literal) and one.value in (0, 1, -1):
            return one if one.value == 0 else other if one.value == 1 else Prefix("-", other, INDEX)
    if isinstance(left, Literal) and isinstance(right, Literal) and left.value is not None and right.value is not None:
        return integer(left.value * right.value)
    return Infix("*", left, right, INDEX)
