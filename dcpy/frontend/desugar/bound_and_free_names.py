"""Bound and free names of a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dcpy.frontend.introspection.ast_traversal import walk


def bound_names(target: ast.AST) -> tuple[str, ...]:
    """Names that an assignment to `target` binds (not those of arrays it stores into)."""
    match target:
        case ast.Name(id=name):
            return (name,)
        case ast.Starred(value=value):
            return bound_names(value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(name for part in parts for name in bound_names(part))
    return ()


def read_names(node: ast.AST) -> Iterator[str]:
    """Names that evaluating `node` may read; those of nested functions and comprehensions included."""
    for part in walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield part.id


def walrus_names(node: ast.AST) -> tuple[str, ...]:
    """Names bound by ``:=`` inside an expression."""
    return tuple(part.target.id for part in walk(node) if isinstance(part, ast.NamedExpr))


def free_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Names that a function reads and does not bind itself."""
    own = set(parameter_names(node.args))
    outer = outer_names(node)
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    read: set[str] = set()
    for statement in body:
        for part in walk(statement):
            if isinstance(part, ast.Name):
                (read if isinstance(part.ctx, ast.Load) else own).add(part.id)
            elif isinstance(part, ast.FunctionDef):
                own.add(part.name)
    return frozenset((read | outer) - (own - outer))


def outer_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Names of enclosing functions that a function declares to assign: ``nonlocal name``. Not those of inner ones."""
    return frozenset(name for part in _own_parts(node) if isinstance(part, ast.Nonlocal) for name in part.names)


def own_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The variables of a function itself: what it binds and does not declare to be of others."""
    parts = list(_own_parts(node))
    stores = {part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    functions = {part.name for part in parts if isinstance(part, ast.FunctionDef)}
    return frozenset(stores | functions | {*parameter_names(node.args)}) - outer_names(node)


def _own_parts(node: ast.FunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """Yield the nodes in a function, without those in functions inside of it."""
    pending = list[ast.AST](node.body) if isinstance(node, ast.FunctionDef) else []
    while pending:
        part = pending.pop()
        yield part
        if not isinstance(part, ast.FunctionDef | ast.Lambda):
            pending += ast.iter_child_nodes(part)


def assigned_inside(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Names that nested functions, at any depth, declare to assign in functions around them."""
    inner = (part for part in walk(node) if isinstance(part, ast.FunctionDef) and part is not node)
    return frozenset().union(*map(outer_names, inner))


def parameter_names(args: ast.arguments) -> tuple[str, ...]:
    """All parameters, in order."""
    named = [*args.posonlyargs, *args.args, *([args.vararg] if args.vararg else []), *args.kwonlyargs]
    return tuple(arg.arg for arg in (*named, *([args.kwarg] if args.kwarg else [])))
