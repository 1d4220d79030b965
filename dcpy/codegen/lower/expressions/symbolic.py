"""Symbolic integer expressions as LIR: plain C where the ranges prove that it means the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from dcpy.codegen.lir.expr import Infix, LirExpr, Operation, Prefix, integer, plus, times
from dcpy.codegen.lir.types import INDEX
from dcpy.codegen.lower.expressions.large_numbers import NumberTooLarge
from dcpy.ir.symbolic import Expr, Ranges
from dcpy.ir.symbolic.expr import Atom
from dcpy.ir.symbolic.intervals import LIMITS

Lookup = Callable[[str], LirExpr]
NameOf = Callable[[Atom], LirExpr | None]  # of a variable that has the value of an atom


def lower_symbolic(expr: Expr, lookup: Lookup, ranges: Ranges, name_of: NameOf | None = None) -> LirExpr:
    """`expr` as int64 arithmetic; `lookup` gives the variable of a symbol, `name_of` that of another atom."""
    constant = expr.constant
    if constant is not None:
        return integer(_word(constant))
    # Terms with a plus first: `N - i` rather than `-i + N`. The constant stays last.
    terms = sorted(expr.terms, key=lambda term: (not term[0], term[1] < 0))
    total: LirExpr = integer(0)
    for monomial, factor in terms:
        negative = LIMITS[0] < factor < 0
        product: LirExpr = integer(_word(-factor if negative else factor))
        for atom, power in monomial:
            for _ in range(power):
                product = times(product, _atom(atom, lookup, ranges, name_of))
        total = _add(total, product, negative=negative)
    return total


def _word(value: int) -> int:
    if not LIMITS[0] <= value <= LIMITS[1]:
        raise NumberTooLarge(value)
    return value


def _add(total: LirExpr, product: LirExpr, *, negative: bool) -> LirExpr:
    if not negative:
        return plus(total, product)
    if total == integer(0):
        return Prefix("-", product, INDEX)
    return Infix("-", total, product, INDEX)


def _atom(atom: Atom, lookup: Lookup, ranges: Ranges, name_of: NameOf | None) -> LirExpr:
    if atom.kind == "sym":
        return lookup(atom.name)
    named = name_of(atom) if name_of is not None else None
    return named if named is not None else lower_atom(atom, lookup, ranges, name_of)


def lower_atom(atom: Atom, lookup: Lookup, ranges: Ranges, name_of: NameOf | None = None) -> LirExpr:
    """A quotient, a remainder, a minimum or a maximum."""
    args = [lower_symbolic(arg, lookup, ranges, name_of) for arg in atom.args]
    if atom.kind in ("min", "max"):
        return reduce(lambda a, b: Operation(atom.kind, (a, b), INDEX, INDEX), args)
    value, divisor = atom.args
    if ranges.proves_nonneg(value) and ranges.proves_nonneg(divisor - 1):
        return Infix("/" if atom.kind == "floordiv" else "%", args[0], args[1], INDEX)
    return Operation(atom.kind, (args[0], args[1]), INDEX, INDEX)
