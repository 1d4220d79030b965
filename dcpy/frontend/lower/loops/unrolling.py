"""Unrolling of short loops, an iteration after the other, before shapes are inferred.

    for k in range(2):                          out[1:] += x[:-1]
        first = 1 - k                 is        out[0:] += x[0:]
        out[first:] += x[: k - 1 or None]

Those are the loops of at most `MOST_TRIPS` iterations whose index shapes slices (`shape_dependence`): in a loop, shapes
would not be known before the program runs, and nothing with such shapes fuses. The number of iterations is known, it is
known in which of them the loop is left, and what is written stays below `MOST_STATEMENTS`. So are loops with a short
body whose index decides a branch: written out, they have none, or the loop around them may become one of vectors. Where
neither is so, as with long loops inside, copies save one jump each and may cost more than they save: compilers give up
on long functions (g++ keeps copies of complex numbers in them, and makes no vectors of these).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from dcpy.frontend.abstract_values.values import ArrayValue, IteratorValue, RangeValue, Value
from dcpy.frontend.desugar import core
from dcpy.frontend.introspection.ast_traversal import walk
from dcpy.frontend.lower.loops.shape_dependence import decides_branches, shapes_slices
from dcpy.frontend.lower.sequences import items as sequences

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

MOST_TRIPS = 8
MOST_STATEMENTS = 256  # that the statements of a loop become, with the loops around it
FEW_STATEMENTS = 96  # that they become for the sake of branches
Names = frozenset[str]


def trips(frame: Frame, node: core.For, iterable: Value) -> int | None:
    """Return the number of copies of the body if the loop is unrolled; None for a loop that stays one."""
    count = _count(frame, iterable)
    if count is None or not 1 <= count <= MOST_TRIPS or not _ends_are_known(frame, node):
        return None
    index, written = node.targets_bound(), _copies(frame) * count * _size(node.body)
    if written <= MOST_STATEMENTS and shapes_slices(frame, node.body, index):
        return count
    return count if written <= FEW_STATEMENTS and decides_branches(frame, node.body, index, MOST_TRIPS) else None


def _count(frame: Frame, iterable: Value) -> int | None:
    """The number of iterations over ranges and arrays; None for what has its own way to be looped over."""
    match iterable:
        case RangeValue(never_unrolled=False):
            return iterable.range.size.constant
        case IteratorValue(kind="zip" | "enumerate" | "reversed"):
            return sequences.length(frame.b, iterable).constant if _is_countable(iterable) else None
    return None


def _is_countable(value: Value) -> bool:
    if isinstance(value, IteratorValue):
        return value.kind in ("zip", "enumerate", "reversed") and all(map(_is_countable, value.parts))
    if isinstance(value, ArrayValue):
        return bool(value.shape) and value.shape[0].constant is not None
    return isinstance(value, RangeValue) and value.range.size.constant is not None


def _copies(frame: Frame) -> int:
    """Return how many copies of this place of the program are written already."""
    count, place = frame.scope.copies, frame
    while True:
        for loop in place.loops:
            count *= loop.copies
        if place.caller is None or not place.inline:
            return count
        place = place.caller


def _size(body: core.Body) -> int:
    """The statements of a body, those of loops of a few iterations as often as they run."""
    return sum(_size_of(statement) for statement in body)


def _size_of(statement: core.Statement) -> int:
    inside = sum(_size(side) for side in statement.sides())
    match statement:
        case core.For(iterable=ast.Call(func=ast.Name(id="range"), args=[*_, ast.Constant(value=int() as stop)])):
            return 1 + inside * (stop if 1 <= stop <= MOST_TRIPS else 1)
    return 1 + inside


def _ends_are_known(frame: Frame, node: core.For) -> bool:
    """Return whether it is known in which iterations the loop is left or its body is cut short."""
    known = node.targets_bound() - core.NOTHING.union(*(statement.bound for statement in node.body))
    return all(_is_kept(statement, known, frame.inline) for statement in node.body)


def _is_kept(statement: core.Statement, known: Names, inline: bool, inner: bool = False) -> bool:
    """Return whether control leaves the statement where it is known to. `inner`: in another loop, which jumps are
    about.
    """
    match statement:
        case core.Return():
            return not inline
        case core.Yield() | core.Resume() | core.Dataflow() | core.Process() | core.Tasklet():
            return False
        case core.For(body=body) | core.While(body=body):
            return all(_is_kept(each, known, inline, inner=True) for each in body)
        case core.If():
            for part in statement.chain():
                decided = isinstance(part.test, core.KnownBool) or _is_over(part.test, known)
                if not (inner or decided) and any(map(_jumps, (*part.body, *part.orelse))):
                    return False
            return all(_is_kept(each, known, inline, inner) for side in statement.sides() for each in side)
    return True


def _jumps(statement: core.Statement) -> bool:
    """Return whether a `break` or `continue` of the loop around is in the statement."""
    if isinstance(statement, core.For | core.While):
        return False
    return isinstance(statement, core.Break | core.Continue) or any(
        _jumps(each) for side in statement.sides() for each in side
    )


def _is_over(test: Any, known: Names) -> bool:
    """Return whether an expression is made of numbers and of names that are known."""
    names = [part.id for part in walk(test) if isinstance(part, ast.Name)]
    kinds = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Name, ast.Constant, ast.expr_context, ast.cmpop,
             ast.boolop, ast.unaryop, ast.operator)  # fmt: skip
    numbers = all(not isinstance(part, ast.Constant) or isinstance(part.value, int) for part in walk(test))
    return known.issuperset(names) and numbers and all(isinstance(part, kinds) for part in walk(test))
