"""Enclosing calls: what the value of the expression that is being evaluated is passed to."""

from __future__ import annotations

import ast
from dataclasses import fields
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import Static
from dcpy.frontend.lower.expressions import evaluate

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder


def argument_of(b: OpBuilder) -> object:
    """Return the function of which the expression that is being evaluated is the only argument; None without one."""
    place = b.emit.place
    statement = None if place is None else place[0].program.activations[-1][1]
    if place is None or statement is None:
        return None
    frame, node = place
    trees = (getattr(statement, field.name) for field in fields(statement))
    for tree in trees:
        for part in ast.walk(tree) if isinstance(tree, ast.AST) else ():
            if isinstance(part, ast.Call) and len(part.args) == 1 and part.args[0] is node and not part.keywords:
                function = evaluate(frame, part.func)
                return function.value if isinstance(function, Static) else None
    return None
