"""Which names a tree binds, reads, or takes from outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator


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
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield part.id


def walrus_names(node: ast.AST) -> tuple[str, ...]:
    """Names bound by ``:=`` inside an expression."""
    return tuple(part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr))


def free_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Names that a function reads and does not bind itself."""
    own = set(parameter_names(node.args))
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    read: set[str] = set()
    for statement in body:
        for part in ast.walk(statement):
            if isinstance(part, ast.Name):
                (read if isinstance(part.ctx, ast.Load) else own).add(part.id)
            elif isinstance(part, ast.FunctionDef):
                own.add(part.name)
    return frozenset(read - own)


def parameter_names(args: ast.arguments) -> tuple[str, ...]:
    """All parameters, in order."""
    named = [*args.posonlyargs, *args.args, *([args.vararg] if args.vararg else []), *args.kwonlyargs]
    return tuple(arg.arg for arg in (*named, *([args.kwarg] if args.kwarg else [])))
