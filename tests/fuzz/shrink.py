"""A failing program made small: lines are taken away, and arguments made plain, as long as it fails the same way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.program import SCALARS, Program

Failing = Callable[[Program], bool]
CHOICES = 6  # smaller things that are tried at a place


def shrunk(program: Program, fails: Failing, attempts: int = 200) -> Program:
    """The smallest program found that `fails`; tries at most so many."""
    improved = True
    while improved:
        improved = False
        for candidate in _simpler(program):
            attempts -= 1
            if attempts < 0:
                return program
            if fails(candidate):
                program, improved = candidate, True
                break
    return program


def _simpler(program: Program) -> Iterator[Program]:
    """Programs that are a little simpler, the largest steps first."""
    for source in _shorter(program.source):
        yield replace(program, source=source)
    if program.alias:
        yield replace(program, alias="")
    if set(program.layouts) != {"C"}:
        yield replace(program, layouts=("C",) * len(program.layouts))
    for position, dtype in enumerate(program.dtypes):
        if dtype != "float64":
            yield replace(program, dtypes=(*program.dtypes[:position], "float64", *program.dtypes[position + 1 :]))
    if SCALARS[program.scalar] != SCALARS[0]:
        yield replace(program, scalar=0)


def _shorter(source: str) -> Iterator[str]:
    """Sources with a statement taken out or replaced by its body, or with an expression replaced by a part of it."""
    for position in range(sum(1 for _ in ast.walk(ast.parse(source)))):
        for choice in range(CHOICES):
            tree = ast.parse(source)
            node = list(ast.walk(tree))[position]
            if _reduce(tree, node, choice):
                text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
                if len(text) < len(source):
                    yield text


def _reduce(tree: ast.AST, node: ast.AST, choice: int) -> bool:
    """Puts something smaller at the place of a node; whether there is such a choice."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is node and choice < len(_parts(node)):
                setattr(parent, field, _parts(node)[choice])
                return True
            if isinstance(value, list) and node in value:
                at = value.index(node)
                smaller = [[part] for part in _parts(node)]
                if isinstance(node, ast.stmt):
                    bodies = [getattr(node, "body", []), getattr(node, "orelse", [])]
                    smaller = [*([[]] if len(value) > 1 else []), *filter(None, bodies)]
                if choice < len(smaller):
                    value[at : at + 1] = smaller[choice]
                    return True
    return False


def _parts(node: ast.AST) -> list[ast.AST]:
    """The expressions directly inside an expression."""
    children = ast.iter_child_nodes(node) if isinstance(node, ast.expr) else ()
    return [child for child in children if isinstance(child, ast.expr)]
