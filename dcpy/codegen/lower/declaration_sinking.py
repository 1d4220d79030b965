"""Sinking of declarations to the first value: ``double t; ... t = x;`` becomes ``double t = x;``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TypeGuard

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name
from dcpy.codegen.lir.traversal import expressions, parts, statements
from dcpy.codegen.lir.tree import Assign, Body, Declare, Statement


def sink_declarations(body: Body) -> Body:
    """The body with each declaration as late and as far in as possible; unused ones are gone."""
    mentions = _Mentions()
    found = [[statement] for statement in body]  # what becomes of each statement
    users = _users([statement.name for statement in body if _is_open(statement)], body, mentions)
    for position, declaration in enumerate(body):
        if _is_open(declaration):
            found[position].clear()
            if places := users[declaration.name]:
                *before, statement = found[places[0]]
                sunk = _with_declaration(statement, declaration, mentions, alone=len(places) == 1)
                found[places[0]] = [*before, *sunk]
    return tuple(chain.from_iterable(found))


def _is_open(statement: Statement) -> TypeGuard[Declare]:
    """Return whether it is a declaration without a value: one that mentions nothing."""
    return isinstance(statement, Declare) and statement.value is None


def _users(names: Iterable[str], body: Body, mentions: _Mentions) -> dict[str, list[int]]:
    """The positions of the statements that mention each of the variables."""
    found: dict[str, list[int]] = {name: [] for name in names}
    for position, statement in enumerate(body) if found else ():
        for name in mentions.names(statement):
            if name in found:
                found[name].append(position)
    return found


class _Mentions:
    """Index of the variables that statements mention; it visits each statement once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Statement, dict[str, None]]] = {}  # by identity

    def __call__(self, statement: Statement, name: str) -> bool:
        return name in self.names(statement)

    def names(self, statement: Statement) -> dict[str, None]:
        """All variables that a statement mentions."""
        known = self._known.get(id(statement))
        if known is None:
            known = self._known[id(statement)] = statement, dict.fromkeys(_names_in(statement))
        return known[1]


def _sink(declaration: Declare, body: Body, mentions: _Mentions) -> Body:
    """Put `declaration` into `body`."""
    users = [position for position, statement in enumerate(body) if mentions(statement, declaration.name)]
    if not users:
        return body
    first = users[0]
    sunk = _with_declaration(body[first], declaration, mentions, alone=len(users) == 1)
    return (*body[:first], *sunk, *body[first + 1 :])


def _with_declaration(statement: Statement, declaration: Declare, mentions: _Mentions, *, alone: bool) -> Body:
    """The first user of a variable, `alone` or not, with its declaration: in one, in front of it, or inside of it."""
    if _is_first_value(statement, declaration.name):
        return (Declare(declaration.name, declaration.type, statement.value, span=statement.span),)
    inner = _sunk_into(statement, declaration, mentions) if alone else None
    return (declaration, statement) if inner is None else (inner,)


def _sunk_into(statement: Statement, declaration: Declare, mentions: _Mentions) -> Statement | None:
    """The only user, with the declaration inside: where each run of its body starts by giving the variable a value."""
    name = declaration.name
    if any(isinstance(p, Name) and p.name == name for e in expressions(statement) for p in parts(e)):
        return None
    match statement:
        case tree.Compound(body=body) | tree.Attempt(body=body):
            return replace(statement, body=_sink(declaration, body, mentions))
        case tree.Loop(body=body) | tree.While(body=body) if _starts_with_value(body, name, mentions):
            if isinstance(statement, tree.Loop) and any(r.name == name for r in statement.reductions):
                return None
            return replace(statement, body=_sink(declaration, body, mentions))
        case tree.If(cases=cases, otherwise=otherwise):
            bodies = (*(body for _, body in cases), otherwise)
            inside = [body for body in bodies if any(mentions(inner, name) for inner in body)]
            if len(inside) != 1:
                return None
            sunk = _sink(declaration, inside[0], mentions)
            fresh = tuple((c, sunk if body is inside[0] else body) for c, body in cases)
            return replace(statement, cases=fresh, otherwise=sunk if otherwise is inside[0] else otherwise)
    return None


def _starts_with_value(body: Body, name: str, mentions: _Mentions) -> bool:
    first = next((statement for statement in body if mentions(statement, name)), None)
    return first is not None and _is_first_value(first, name)


def _is_first_value(statement: Statement, name: str) -> TypeGuard[Assign]:
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
