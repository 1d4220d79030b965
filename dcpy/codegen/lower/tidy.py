"""Declarations move to where a variable gets its first value: ``double t; ... t = x;`` becomes ``double t = x;``."""

from __future__ import annotations

from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name
from dcpy.codegen.lir.tree import Assign, Body, Declare, Statement
from dcpy.codegen.lir.walk import expressions, parts, statements


def tidy(body: Body) -> Body:
    """The body with each declaration as late and as far in as possible; unused ones are gone."""
    while True:
        position = next((p for p, s in enumerate(body) if isinstance(s, Declare) and s.value is None), None)
        if position is None:
            return _restored(body)
        declaration = body[position]
        body = _sink(declaration, body[:position] + body[position + 1 :])  # type: ignore[arg-type]


def _sink(declaration: Declare, body: Body) -> Body:
    """Puts `declaration` into `body`."""
    users = [p for p, statement in enumerate(body) if _mentions(statement, declaration.name)]
    if not users:
        return body
    first = users[0]
    statement = body[first]
    if _is_first_value(statement, declaration.name):
        started = Declare(declaration.name, declaration.type, statement.value, span=statement.span)  # type: ignore[union-attr]
        return (*body[:first], started, *body[first + 1 :])
    inner = _sunk_into(statement, declaration) if len(users) == 1 else None
    if inner is not None:
        return (*body[:first], inner, *body[first + 1 :])
    # A value that tells `tidy` that it is settled; `_restored` takes it away again.
    return (*body[:first], replace(declaration, value=_SETTLED), *body[first:])


_SETTLED = Name("", "")


def _restored(body: Body) -> Body:
    return tuple(replace(s, value=None) if isinstance(s, Declare) and s.value is _SETTLED else s for s in body)


def _sunk_into(statement: Statement, declaration: Declare) -> Statement | None:
    """The only user, with the declaration inside: where each run of its body starts by giving the variable a value."""
    name = declaration.name
    if any(isinstance(p, Name) and p.name == name for e in expressions(statement) for p in parts(e)):
        return None
    match statement:
        case tree.Block(body=body):
            return replace(statement, body=_restored(_sink(declaration, body)))
        case tree.Loop(body=body) | tree.While(body=body) if _starts_with_value(body, name):
            if isinstance(statement, tree.Loop) and any(r.name == name for r in statement.reductions):
                return None
            return replace(statement, body=_restored(_sink(declaration, body)))
        case tree.If(cases=cases, otherwise=otherwise):
            inside = [body for body in (*(body for _, body in cases), otherwise) if _mention_any(body, name)]
            if len(inside) != 1:
                return None
            sunk = _restored(_sink(declaration, inside[0]))
            fresh = tuple((c, sunk if body is inside[0] else body) for c, body in cases)
            return replace(statement, cases=fresh, otherwise=sunk if otherwise is inside[0] else otherwise)
    return None


def _starts_with_value(body: Body, name: str) -> bool:
    first = next((statement for statement in body if _mentions(statement, name)), None)
    return first is not None and _is_first_value(first, name)


def _is_first_value(statement: Statement, name: str) -> bool:
    return (
        isinstance(statement, Assign)
        and not statement.op
        and isinstance(statement.target, Name)
        and statement.target.name == name
        and not any(isinstance(part, Name) and part.name == name for part in parts(statement.value))
    )


def _mention_any(body: Body, name: str) -> bool:
    return any(_mentions(statement, name) for statement in body)


def _mentions(statement: Statement, name: str) -> bool:
    return any(
        isinstance(part, Name) and part.name == name
        for inner in statements((statement,))
        for expr in expressions(inner)
        for part in parts(expr)
    ) or any(
        reduction.name == name
        for inner in statements((statement,))
        if isinstance(inner, tree.Loop)
        for reduction in inner.reductions
    )
