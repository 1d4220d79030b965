"""Formulas over elements, written with Python's operators: float64 expressions of the IR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op


@dataclass(frozen=True)
class FormulaTerm:
    """A part of a formula: a float64, or a truth value."""

    expr: ScalarExpr

    def __add__(self, other: Operand) -> FormulaTerm:
        return apply("add", self, other)

    def __radd__(self, other: Operand) -> FormulaTerm:
        return apply("add", other, self)

    def __sub__(self, other: Operand) -> FormulaTerm:
        return apply("sub", self, other)

    def __rsub__(self, other: Operand) -> FormulaTerm:
        return apply("sub", other, self)

    def __mul__(self, other: Operand) -> FormulaTerm:
        return apply("mul", self, other)

    def __rmul__(self, other: Operand) -> FormulaTerm:
        return apply("mul", other, self)

    def __truediv__(self, other: Operand) -> FormulaTerm:
        return apply("div", self, other)

    def __rtruediv__(self, other: Operand) -> FormulaTerm:
        return apply("div", other, self)

    def __neg__(self) -> FormulaTerm:
        return apply("neg", self)

    def __lt__(self, other: Operand) -> FormulaTerm:
        return apply("lt", self, other)

    def __le__(self, other: Operand) -> FormulaTerm:
        return apply("le", self, other)

    def __gt__(self, other: Operand) -> FormulaTerm:
        return apply("gt", self, other)

    def __ge__(self, other: Operand) -> FormulaTerm:
        return apply("ge", self, other)

    def __and__(self, other: FormulaTerm) -> FormulaTerm:
        return apply("and", self, other)

    def __or__(self, other: FormulaTerm) -> FormulaTerm:
        return apply("or", self, other)

    def __invert__(self) -> FormulaTerm:
        return apply("not", self)

    def same(self, other: Operand) -> FormulaTerm:
        """Return whether both are equal (``==`` of terms is Python's own)."""
        return apply("eq", self, other)


Operand = FormulaTerm | float


def term(value: Operand) -> FormulaTerm:
    """A number or a term as a term."""
    return value if isinstance(value, FormulaTerm) else FormulaTerm(Const(float(value), types.float64))


def apply(name: str, *args: Operand) -> FormulaTerm:
    """An operation of `ir.expressions.ops`."""
    return FormulaTerm(op(name, *(term(arg).expr for arg in args)))


def select(condition: FormulaTerm, yes: Operand, no: Operand) -> FormulaTerm:
    """One of two."""
    return apply("select", condition, yes, no)


def in_double(formula: Callable[..., FormulaTerm]) -> Callable[..., ScalarExpr]:
    """A formula as a function of elements of any real dtype."""

    def call(*args: ScalarExpr) -> ScalarExpr:
        return formula(*(FormulaTerm(cast(arg, types.float64)) for arg in args)).expr

    return call
