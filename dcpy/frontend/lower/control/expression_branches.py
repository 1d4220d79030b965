"""Branches inside of an expression: a value that stands for one thing on each path.

``min(a[k], n)`` is an element or a Python number. Where what uses it depends on which, the expression gets a name
(`expression_splitting`), and the statements that use the name are written once per side (`path_splitting`).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import Value
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.arithmetic import comparisons
from dcpy.frontend.lower.control import expression_splitting
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.name_binding import bind_name
from dcpy.frontend.lower.sequences import list_references
from dcpy.ir.expressions.scalar import ScalarExpr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Thunk = Callable[[], Value]


ExpressionPlace = tuple["Frame", ast.expr]  # where an expression is evaluated


def key_of(place: ExpressionPlace) -> object:
    """The mark of the expression that is being evaluated."""
    return expression_splitting.key_of(*place)


def is_apart(place: ExpressionPlace) -> bool:
    """Return whether the sides of the expression that is being evaluated are kept apart."""
    return place[0].b.split_joins.get(key_of(place), False)


def either(place: ExpressionPlace, test: ScalarExpr, yes: Thunk, no: Thunk) -> Value:
    """``yes if test else no`` where the sides are kept apart: each is computed where it is chosen."""
    frame, node = place
    found, condition = (ast.copy_location(ast.Name(frame.emit.fresh(f".{stem}"), ast.Load()), node)
                        for stem in ("either", "test"))  # fmt: skip
    sides = [core.Resume(functools.partial(_bind, frame, found.id, side), frozenset({found.id}), span=frame.span(found))
             for side in (yes, no)]  # fmt: skip
    choice = core.If(condition, (sides[0],), (sides[1],), span=frame.span(found))
    frame.b.split_joins[choice.span] = True
    frame.env[condition.id] = comparisons.as_value(test)
    frame.liveness.block((choice,), frozenset({found.id}) | frame.liveness.rebound)
    frame.program.evaluator.execute(frame, (choice,))
    frame.env.pop(condition.id)
    if found.id not in frame.env:
        raise WillRaise("TypeError", "both sides raise", by="Python")  # here, before
    return list_references.shown(frame, frame.env.pop(found.id))


def _bind(frame: Frame, name: str, value: Thunk) -> None:
    bind_name(frame, name, value())
