"""Memlet uses: how the body of a tasklet uses the names of its memlets, read from its statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from dcpy.frontend.desugar import core

_WHOLE = ast.Constant(Ellipsis)


def uses_as_array(body: core.Body, name: str) -> bool:
    """Return whether the body indexes what `name` stands for, iterates over it, or asks for its shape."""
    for statement in core.statements_in(body):
        if isinstance(statement, core.For) and _is(statement.iterable, name):
            return True
        for tree in statement.expressions():
            for part in ast.walk(tree) if isinstance(tree, ast.AST) else ():
                match part:
                    case ast.Subscript(value=ast.Name(id=found)) | ast.Attribute(value=ast.Name(id=found)):
                        if found == name:
                            return True
                    case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=found)]) if found == name:
                        return True
    return False


def reads(body: core.Body, name: str) -> bool:
    """Return whether the body reads `name` other than to store into it."""
    for statement in core.statements_in(body):
        for tree in statement.expressions():
            parts = list(ast.walk(tree)) if isinstance(tree, ast.AST) else []
            stored = {id(part.value) for part in parts
                      if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)}  # fmt: skip
            for part in parts:
                if _is(part, name) and id(part) not in stored and isinstance(part.ctx, ast.Load):  # type: ignore[attr-defined]
                    return True
    return False


def stores_into(body: core.Body, name: str) -> Iterator[core.Statement]:
    """The statements that store into elements of `name`."""
    for statement in core.statements_in(body):
        match statement:
            case core.Assign(targets=targets):
                trees = targets
            case core.Augment(target=target):
                trees = (target,)
            case _:
                continue
        if any(isinstance(part, ast.Subscript) and _is(part.value, name) for part in trees):
            yield statement


def assigns_directly(body: core.Body, names: frozenset[str]) -> core.Body:
    """The body with ``name = value`` as ``name[...] = value``: what it assigns is memory of its own name."""
    return tuple(_direct(statement, names) for statement in body) if names else body


def _direct(statement: core.Statement, names: frozenset[str]) -> core.Statement:
    match statement:
        case core.Assign(targets=targets):
            return replace(statement, targets=tuple(_stored(target, names) for target in targets))
        case core.Augment(target=target):
            return replace(statement, target=_stored(target, names))
        case core.If():
            return statement.with_sides(lambda side: assigns_directly(side, names))
        case core.For() | core.While():
            return replace(statement, body=assigns_directly(statement.body, names))
    return statement


def _stored(target: ast.expr, names: frozenset[str]) -> ast.expr:
    match target:
        case ast.Name(id=name) if name in names:
            whole = ast.copy_location(ast.Constant(Ellipsis), target)
            owner = ast.copy_location(ast.Name(name, ast.Load()), target)
            return ast.copy_location(ast.Subscript(owner, whole, ast.Store()), target)
        case ast.Tuple(elts=parts):
            return ast.copy_location(ast.Tuple([_stored(part, names) for part in parts], ast.Store()), target)
    return target


def _is(tree: object, name: str) -> bool:
    return isinstance(tree, ast.Name) and tree.id == name
