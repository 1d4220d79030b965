"""Jumps as flags: ``break`` and ``continue`` of a body that is moved into another loop.

A generator's loops go around the body of the loop that asks for its items. A ``break`` of that body leaves all of them,
a ``continue`` just the rest of the body.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from dcpy.frontend.desugar import core

Marks = Callable[[core.Statement], bool]  # whether a statement leaves


def jumps_to_flags(body: core.Body, flag: str, leaves: Marks) -> core.Body:
    """The block, equal in meaning, in which what `leaves` sets a flag; what it does not reach is skipped."""
    if not any(_has(statement, leaves) for statement in body):
        return body
    first = body[0]
    return (_set(flag, first, value=False), *_block(body, flag, leaves, in_loop=False))


def _block(body: core.Body, flag: str, leaves: Marks, *, in_loop: bool) -> core.Body:
    done: list[core.Statement] = []
    for position, statement in enumerate(body):
        if leaves(statement):
            done.append(_set(flag, statement, value=True))
            return (*done, core.Break(span=statement.span)) if in_loop else tuple(done)
        if not _has(statement, leaves):
            done.append(statement)
            continue
        match statement:
            case core.If():
                done.append(statement.with_sides(lambda side: _block(side, flag, leaves, in_loop=in_loop)))
            case core.For() | core.While():
                done.append(replace(statement, body=_block(statement.body, flag, leaves, in_loop=True)))
        rest = _block(body[position + 1 :], flag, leaves, in_loop=in_loop)
        if isinstance(statement, core.If) and in_loop:  # the branch that leaves has done so
            return (*done, *rest)
        left: core.Body = (core.Break(span=statement.span),) if in_loop else ()
        if rest or left:
            test = _placed(ast.Name(flag, ast.Load()), statement)
            done.append(core.If(test, left, rest, span=statement.span))
        return tuple(done)
    return tuple(done)


def _has(statement: core.Statement, leaves: Marks) -> bool:
    if leaves(statement):
        return True
    if isinstance(statement, core.Define | core.Tasklet | core.Dataflow):
        return False
    return any(_has(inner, leaves) for body in statement.sides() for inner in body)


def own(body: core.Body, kind: type) -> list[core.Statement]:
    """The jumps of one kind that belong to the loop whose body this is."""
    found: list[core.Statement] = []
    for statement in body:
        if isinstance(statement, kind):
            found.append(statement)
        elif isinstance(statement, core.If):
            found += [jump for side in statement.sides() for jump in own(side, kind)]
    return found


def fresh(body: core.Body) -> core.Body:
    """The same statements as other objects: what is known of a statement is kept by its identity."""
    return tuple(_fresh(statement) for statement in body)


def _fresh(statement: core.Statement) -> core.Statement:
    match statement:
        case core.If():
            return statement.with_sides(fresh)
        case core.For(body=body) | core.While(body=body):
            return replace(statement, body=fresh(body))
    return replace(statement)


def _set(flag: str, statement: core.Statement, *, value: bool) -> core.Assign:
    name = _placed(ast.Name(flag, ast.Store()), statement)
    return core.Assign((name,), core.KnownBool(value), span=statement.span)


def _placed(tree: ast.expr, statement: core.Statement) -> ast.expr:
    span = statement.span
    tree.lineno, tree.col_offset, tree.end_lineno, tree.end_col_offset = (
        span.line, span.column, span.end_line, span.end_column)  # fmt: skip
    return tree
