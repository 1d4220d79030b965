"""Function terms inside of expressions, ``min(i, n)`` for instance: found, and replaced by what they are equal to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dcpy.ir.symbolic.expr import ZERO, Atom, Expr, const, rebuild


def functions_in(expr: Expr, kind: str) -> Iterator[Expr]:
    """Functions of a kind in an expression: ``min``, ``max``, ``floordiv`` or ``mod``, outermost first."""
    for monomial, _ in expr.terms:
        for atom, _ in monomial:
            if atom.kind == kind:
                yield _alone(atom)
            for arg in atom.args:
                yield from functions_in(arg, kind)


def arguments_of(function: Expr) -> tuple[Expr, ...]:
    """Return the arguments of a function, as `functions_in` returns it."""
    return function.terms[0][0][0][0].args


def replaced(expr: Expr, parts: Mapping[Expr, Expr]) -> Expr:
    """The expression with functions in it, as `functions_in` gives them, replaced."""
    total = ZERO
    for monomial, factor in expr.terms:
        product = const(factor)
        for atom, power in monomial:
            product = product * _replaced_atom(atom, parts) ** power
        total = total + product
    return total


def _replaced_atom(atom: Atom, parts: Mapping[Expr, Expr]) -> Expr:
    whole = _alone(atom)
    if whole in parts:
        return parts[whole]
    return rebuild(atom.kind, tuple(replaced(arg, parts) for arg in atom.args)) if atom.args else whole


def _alone(atom: Atom) -> Expr:
    return Expr(((((atom, 1),), 1),))
