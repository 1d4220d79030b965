"""Carried extrema: a maximum or minimum of floats that waits for the one of the iteration before.

``top = max(top, x[i])`` in a loop that runs in order, and so do the minima of dynamic programming, which read what an
earlier iteration has stored. NumPy's extrema keep NaN, which takes instructions that the next iteration waits for. As
no vectors are made of such a loop, a branch that asks for NaN takes them off that chain (``carried_max``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Item, LirExpr, Literal, Name, Operation
from dcpy.codegen.lir.intrinsics import ORDER
from dcpy.codegen.lir.traversal import children, expressions, parts, statements, with_children, with_expressions

CARRIED = {"max": "carried_max", "min": "carried_min"}


def with_carried_extrema(body: tree.Body) -> tree.Body:
    """The body of a loop that runs in order; loops inside have had their turn."""
    if not any(_is_extremum(part) for statement in statements(body) for part in _parts(statement)):
        return body
    declared = {one.name for one in statements(body) if isinstance(one, tree.Declare)}
    stored = {
        place
        for one in statements(body)
        if isinstance(one, tree.Assign | tree.Update) and _root(place := one.target) not in declared
    }
    carried = {_root(place) for place in stored}
    for one in statements(body):  # what is computed from it in the same iteration
        if isinstance(one, tree.Declare) and one.value is not None and _reads(one.value, carried, stored):
            carried.add(one.name)
    return tuple(_rewritten(statement, carried, stored) for statement in body)


def _parts(statement: tree.Statement) -> Iterator[LirExpr]:
    for expr in expressions(statement):
        yield from parts(expr)
    if isinstance(statement, tree.Update):
        yield statement.op.of(statement.target, statement.value)


def _is_extremum(part: LirExpr) -> bool:
    """Return whether it is an extremum of floats without a known limit, which needs one selection anyway."""
    if not isinstance(part, Operation) or part.name not in CARRIED or part.dtype not in ORDER:
        return False
    return not any(isinstance(arg, Literal) for arg in part.args)


def _root(place: LirExpr) -> str:
    while isinstance(place, Item):
        place = place.base
    return place.name if isinstance(place, Name) else ""


def _reads(expr: LirExpr, carried: set[str], stored: set[LirExpr]) -> bool:
    """Return whether an expression has a value that the loop carries: an element that it stores itself is none."""
    if isinstance(expr, Item) and expr in stored:
        return False
    if isinstance(expr, Name) and expr.name in carried:
        return True
    return any(_reads(child, carried, stored) for child in children(expr))


def _rewritten(statement: tree.Statement, carried: set[str], stored: set[LirExpr]) -> tree.Statement:
    def change(expr: LirExpr) -> LirExpr:
        expr = with_children(expr, change)
        if _is_extremum(expr) and _reads(expr, carried, stored):
            assert isinstance(expr, Operation)
            return replace(expr, name=CARRIED[expr.name])
        return expr

    def inside(body: tree.Body) -> tree.Body:
        return tuple(_rewritten(one, carried, stored) for one in body)

    match statement:
        case tree.Update(target=target, value=value, atomic=False):
            folded = statement.op.of(target, value)
            if _is_extremum(folded) and isinstance(target, Name):
                return tree.Assign(target, change(folded), span=statement.span)
        case tree.Compound(body=body) | tree.Attempt(body=body):
            return replace(statement, body=inside(body))
        case tree.If(cases=cases, otherwise=otherwise):
            changed = tuple((change(condition), inside(body)) for condition, body in cases)
            return replace(statement, cases=changed, otherwise=inside(otherwise))
    return with_expressions(statement, change)
