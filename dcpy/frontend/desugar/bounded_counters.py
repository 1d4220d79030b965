"""Induction variables: names that are only set to small numbers and one another, and counted by small steps.

Nothing counts far enough for 64 bits: that takes years.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bound_and_free_names import parameter_names

FARTHEST = 2**61  # steps of `LARGEST_STEP`, as many as a processor takes in two years
LARGEST_STEP = 16
LARGEST_START = 2**48


def counters(define: core.Define) -> frozenset[str]:
    """The counters of a function: names that are only set to small numbers, counters, and small steps from counters.

    Whatever they are set to, the largest of them grows by one step a statement.
    """
    bindings = [binding for statement in core.statements_in(define.body) for binding in _bindings(statement)]
    found = {name for name, _ in bindings} - {*parameter_names(define.args), *_bound_by_nested(define.body)}
    while others := {name for name, value in bindings if name in found and not _counts(value, found)}:
        found -= others
    return frozenset(found)


def _bound_by_nested(body: core.Body) -> Iterator[str]:
    """Names that nested functions assign, which may be those of the function around."""
    for statement in core.statements_in(body):
        if isinstance(statement, core.Define):
            yield from (name for inner in statement.body for name in inner.bound)


def _bindings(statement: core.Statement) -> Iterator[tuple[str, core.Expression | None]]:
    """Names that one statement binds itself, and what to; None for what no counter is bound to."""
    match statement:
        case core.Assign(targets=targets, value=value):
            for target in targets:
                yield from _pairs(target, value)
        case core.Augment(target=ast.Name(id=name), op="+" | "-", value=value):
            yield name, value if _is_number(value, LARGEST_STEP) else None
        case _:
            yield from ((name, None) for name in sorted(statement.targets_bound()))
    yield from ((name, None) for name in sorted(statement.bound_by_expressions))  # also targets: `x = (x := 2) + 1`
    inside = (name for body in statement.bodies() for inner in body for name in inner.bound)
    yield from ((name, None) for name in sorted(statement.bound - statement.targets_bound() - frozenset(inside)))


def _pairs(target: ast.expr, value: core.Expression | None) -> Iterator[tuple[str, core.Expression | None]]:
    """Names of a target, and what each is bound to where the value is written out as the target is."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case (ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values)) if (
            len(targets) == len(values) and not any(isinstance(each, ast.Starred) for each in (*targets, *values))
        ):
            for each, part in zip(targets, values, strict=True):
                yield from _pairs(each, part)
        case ast.Starred(value=inner), _:
            yield from _pairs(inner, None)
        case (ast.Tuple(elts=targets) | ast.List(elts=targets)), _:
            for each in targets:
                yield from _pairs(each, None)


def _counts(value: core.Expression | None, known: Collection[str]) -> bool:
    """Return whether a value is a small number, or one of the `known` counters, or a small step from one of them."""
    match value:
        case ast.Name(id=name):
            return name in known
        case ast.BinOp(left=counter, op=ast.Add() | ast.Sub(), right=step) if _is_number(step, LARGEST_STEP):
            return _counts(counter, known)
        case ast.BinOp(left=step, op=ast.Add(), right=counter) if _is_number(step, LARGEST_STEP):
            return _counts(counter, known)
        case ast.IfExp(body=yes, orelse=no):
            return _counts(yes, known) and _counts(no, known)
    return value is not None and _is_number(value, LARGEST_START)


def _is_number(value: core.Expression, largest: int) -> bool:
    match value:
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_number(operand, largest)
        case ast.Constant(value=int() as number):
            return abs(number) <= largest
    return False
