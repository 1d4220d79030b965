"""Declarations move to where a variable gets its first value: ``double t; ... t = x;`` becomes ``double t = x;``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name
from dcpy.codegen.lir.tree import Assign, Body, Declare, Statement
from dcpy.codegen.lir.types import Basic
from dcpy.codegen.lir.walk import expressions, parts, statements


def tidy(body: Body) -> Body:
    """The body with each declaration as late and as far in as possible; unused ones are gone."""
    mentions = _Mentions()
    while True:
        position = next((p for p, s in enumerate(body) if isinstance(s, Declare) and s.value is None), None)
        if position is None:
            return _restored(body)
        declaration = body[position]
        body = _sink(declaration, body[:position] + body[position + 1 :], mentions)  # type: ignore[arg-type]


class _Mentions:
    """Whether statements mention a variable; each statement is looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Statement, frozenset[str]]] = {}  # by identity

    def __call__(self, statement: Statement, name: str) -> bool:
        known = self._known.get(id(statement))
        if known is None:
            known = self._known[id(statement)] = statement, frozenset(_names_in(statement))
        return name in known[1]


def _sink(declaration: Declare, body: Body, mentions: _Mentions) -> Body:
    """Puts `declaration` into `body`."""
    users = [p for p, statement in enumerate(body) if mentions(statement, declaration.name)]
    if not users:
        return body
    first = users[0]
    statement = body[first]
    if _is_first_value(statement, declaration.name):
        started = Declare(declaration.name, declaration.type, statement.value, span=statement.span)  # type: ignore[union-attr]
        return (*body[:first], started, *body[first + 1 :])
    inner = _sunk_into(statement, declaration, mentions) if len(users) == 1 else None
    if inner is not None:
        return (*body[:first], inner, *body[first + 1 :])
    # A value that tells `tidy` that it is settled; `_restored` takes it away again.
    return (*body[:first], replace(declaration, value=_SETTLED), *body[first:])


_SETTLED = Name("", Basic.VOID)


def _restored(body: Body) -> Body:
    return tuple(replace(s, value=None) if isinstance(s, Declare) and s.value is _SETTLED else s for s in body)


def _sunk_into(statement: Statement, declaration: Declare, mentions: _Mentions) -> Statement | None:
    """The only user, with the declaration inside: where each run of its body starts by giving the variable a value."""
    name = declaration.name
    if any(isinstance(p, Name) and p.name == name for e in expressions(statement) for p in parts(e)):
        return None
    match statement:
        case tree.Block(body=body) | tree.Attempt(body=body):
            return replace(statement, body=_restored(_sink(declaration, body, mentions)))
        case tree.Loop(body=body) | tree.While(body=body) if _starts_with_value(body, name, mentions):
            if isinstance(statement, tree.Loop) and any(r.name == name for r in statement.reductions):
                return None
            return replace(statement, body=_restored(_sink(declaration, body, mentions)))
        case tree.If(cases=cases, otherwise=otherwise):
            bodies = (*(body for _, body in cases), otherwise)
            inside = [body for body in bodies if any(mentions(inner, name) for inner in body)]
            if len(inside) != 1:
                return None
            sunk = _restored(_sink(declaration, inside[0], mentions))
            fresh = tuple((c, sunk if body is inside[0] else body) for c, body in cases)
            return replace(statement, cases=fresh, otherwise=sunk if otherwise is inside[0] else otherwise)
    return None


def _starts_with_value(body: Body, name: str, mentions: _Mentions) -> bool:
    first = next((statement for statement in body if mentions(statement, name)), None)
    return first is not None and _is_first_value(first, name)


def _is_first_value(statement: Statement, name: str) -> bool:
    return (
        isinstance(statement, Assign)
        and isinstance(statement.target, Name)
        and statement.target.name == name
        and not any(isinstance(part, Name) and part.name == name for part in parts(statement.value))
    )


def _names_in(statement: Statement) -> Iterator[str]:
    for inner in statements((statement,)):
        for expr in expressions(inner):
            yield from (part.name for part in parts(expr) if isinstance(part, Name))
        if isinstance(inner, tree.Loop):
            yield from (reduction.name for reduction in inner.reductions)
