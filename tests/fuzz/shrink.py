"""A failing program made small: lines are taken away, and arguments made plain, as long as it fails the same way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.program import SCALARS, Program

Failing = Callable[[Program], bool]


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
    """Sources with a statement taken out, replaced by its body, or with an expression replaced by one inside it."""
    count = sum(1 for _ in ast.walk(ast.parse(source)))
    for position in range(count):
        for choice in range(6):
            tree = ast.parse(source)
            node = list(ast.walk(tree))[position]
            if not _reduce(tree, node, choice):
                break
            text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            if len(text) < len(source):
                yield text


def _reduce(tree: ast.AST, node: ast.AST, choice: int) -> bool:
    """Makes one change at a node; whether there is such a choice."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list) and node in value:
                return _reduce_in(value, value.index(node), choice)
            if value is node and isinstance(node, ast.expr):
                inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
                if choice < len(inner):
                    setattr(parent, field, inner[choice])
                return choice < len(inner)
    return False


def _reduce_in(items: list[ast.AST], position: int, choice: int) -> bool:
    """A statement goes, or its body takes its place; an operand is replaced by one of its own."""
    node = items[position]
    if isinstance(node, ast.stmt):
        replacements = [[], getattr(node, "body", []), getattr(node, "orelse", [])]
        if choice > 2 or (choice and not replacements[choice]) or (not choice and len(items) == 1):
            return False
        items[position : position + 1] = replacements[choice]
        return True
    inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    if choice < len(inner):
        items[position] = inner[choice]
    return choice < len(inner)
