"""``return`` at the end of a function only: for functions that are evaluated in place.

A function with an SDFG of its own just returns. One that is evaluated inside its caller has nothing to return from. In
a loop the value goes into a name, the loops are left, and what follows them is skipped. What follows a branch that
returns on some paths moves to the end of the others.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.statements import leaves

VALUE, FLAG = ".returned_value", ".returned"  # no Python name has a dot


def without_returns_in_loops(define: core.Define) -> core.Define:
    """The function, equal in meaning, with no `Return` inside a loop."""
    return replace(define, body=_block(define.body))


def _block(body: core.Body) -> core.Body:
    done: list[core.Statement] = []
    for position, statement in enumerate(body):
        match statement:
            case core.If():
                branch = statement.with_sides(_block)
                if _returns((statement,)) and body[position + 1 :]:
                    return (*done, _continued(branch, _block(body[position + 1 :])))
                done.append(branch)
            case core.For() | core.While() if _returns(statement.body):
                flag = core.Assign((_name(FLAG, statement, ast.Store()),), core.KnownBool(False), span=statement.span)
                done += [flag, replace(statement, body=_left(statement.body))]
                leave = core.Return(_name(VALUE, statement, ast.Load()), span=statement.span)
                if _is_endless(statement):
                    return (*done, leave)
                rest = _block(body[position + 1 :])
                done.append(core.If(_name(FLAG, statement, ast.Load()), (leave,), rest, span=statement.span))
                return tuple(done)
            case _:
                done.append(statement)
    return tuple(done)


def _continued(branch: core.If, rest: core.Body) -> core.If:
    """A branch that returns on some paths; the others go on with `rest`."""
    return branch.with_sides(lambda side: _followed(side, rest))


def _followed(body: core.Body, rest: core.Body) -> core.Body:
    if leaves(body):
        return body
    last = body[-1] if body else None
    if isinstance(last, core.If) and _returns((last,)):
        return (*body[:-1], _continued(last, rest))
    return (*body, *rest)


def _left(body: core.Body) -> core.Body:
    """The body of a loop that is left where the function returned."""
    done: list[core.Statement] = []
    for position, statement in enumerate(body):
        match statement:
            case core.Return(value=value, span=span):
                stored = _placed(ast.Constant(None), statement) if value is None else value
                done.append(core.Assign((_name(VALUE, statement, ast.Store()),), stored, span=span))
                done.append(core.Assign((_name(FLAG, statement, ast.Store()),), core.KnownBool(True), span=span))
                done.append(core.Break(span=span))
                break
            case core.If():
                done.append(statement.with_sides(_left))
            case core.For() | core.While() if _returns(statement.body):
                done.append(replace(statement, body=_left(statement.body)))
                leave: core.Body = (core.Break(span=statement.span),)
                if _is_endless(statement):
                    return (*done, *leave)
                rest = _left(body[position + 1 :])
                done.append(core.If(_name(FLAG, statement, ast.Load()), leave, rest, span=statement.span))
                return tuple(done)
            case _:
                done.append(statement)
    return tuple(done)


def _returns(body: core.Body) -> bool:
    return any(
        isinstance(statement, core.Return)
        or (not isinstance(statement, core.Define) and any(map(_returns, statement.sides())))
        for statement in body
    )


def _is_endless(loop: core.For | core.While) -> bool:
    constant = isinstance(loop, core.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    return constant and not _breaks(loop.body)


def _breaks(body: core.Body) -> bool:
    return any(
        isinstance(statement, core.Break) or (isinstance(statement, core.If) and any(map(_breaks, statement.sides())))
        for statement in body
    )


def _name(name: str, statement: core.Statement, context: ast.expr_context) -> ast.expr:
    return _placed(ast.Name(name, context), statement)


def _placed(tree: ast.expr, statement: core.Statement) -> ast.expr:
    span = statement.span
    tree.lineno, tree.col_offset, tree.end_lineno, tree.end_col_offset = (
        span.line, span.column, span.end_line, span.end_column)  # fmt: skip
    return tree
