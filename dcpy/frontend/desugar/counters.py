"""Induction variables: names that are only set to small numbers, and counted up or down by small steps.

Nothing counts far enough for 64 bits: that takes years.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.names import parameter_names

FARTHEST = 2**61  # steps of `LARGEST_STEP`, as many as a processor takes in two years
LARGEST_STEP = 16
LARGEST_START = 2**48


def counters(define: core.Define) -> frozenset[str]:
    """The counters of a function: each assignment of such a name is a number, or a step from its own value."""
    found: dict[str, bool] = {}
    for statement in core.statements_in(define.body):
        for name, counts in _bindings(statement):
            found[name] = found.get(name, True) and counts
    strangers = {*parameter_names(define.args), *_bound_by_nested(define.body)}
    return frozenset(name for name, counts in found.items() if counts and name not in strangers)


def _bound_by_nested(body: core.Body) -> Iterator[str]:
    """Names that nested functions assign, which may be those of the function around."""
    for statement in core.statements_in(body):
        if isinstance(statement, core.Define):
            yield from (name for inner in statement.body for name in inner.bound)


def _bindings(statement: core.Statement) -> Iterator[tuple[str, bool]]:
    """Names that one statement binds itself, and whether as a counter is bound."""
    match statement:
        case core.Assign(targets=targets, value=value) if all(isinstance(target, ast.Name) for target in targets):
            for name in sorted(statement.targets_bound()):
                yield name, _is_start(value) or _is_step(name, value)
        case core.Augment(target=ast.Name(id=name), op="+" | "-", value=value):
            yield name, _is_number(value, LARGEST_STEP)
        case _:
            yield from ((name, False) for name in sorted(statement.targets_bound()))
    inside = (name for body in statement.bodies() for inner in body for name in inner.bound)
    yield from ((name, False) for name in sorted(statement.bound - statement.targets_bound() - frozenset(inside)))


def _is_start(value: core.Expression) -> bool:
    return _is_number(value, LARGEST_START)


def _is_step(name: str, value: core.Expression) -> bool:
    """``name + 1``, ``1 + name``, ``name - 1``."""
    match value:
        case ast.BinOp(left=ast.Name(id=read), op=ast.Add() | ast.Sub(), right=step) if read == name:
            return _is_number(step, LARGEST_STEP)
        case ast.BinOp(left=step, op=ast.Add(), right=ast.Name(id=read)) if read == name:
            return _is_number(step, LARGEST_STEP)
    return False


def _is_number(value: core.Expression, largest: int) -> bool:
    match value:
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_number(operand, largest)
        case ast.Constant(value=int() as number):
            return abs(number) <= largest
    return False
