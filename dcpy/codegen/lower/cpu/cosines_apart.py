"""Cosines apart from sines in loops of vectors: ``cos`` by another name where the loop has ``sin``, too.

Of a sine and a cosine of one angle g++ makes one call, of a function that has no vectors: a rotation takes five times
as long.
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import LirExpr, Operation
from dcpy.codegen.lir.traversal import expressions, parts, statements, with_bodies, with_children, with_expressions

APART = "cos_apart"


def with_cosines_apart(loop: tree.Loop) -> tree.Loop:
    """The loop, with the cosines renamed if it has sines."""
    computed = (part for each in statements(loop.body) for expr in expressions(each) for part in parts(expr))
    functions = {part.name for part in computed if isinstance(part, Operation) and _is_real(part)}
    return replace(loop, body=_in_body(loop.body)) if functions >= {"sin", "cos"} else loop


def _in_body(body: tree.Body) -> tree.Body:
    return tuple(with_expressions(with_bodies(statement, _in_body), _apart) for statement in body)


def _is_real(operation: Operation) -> bool:
    return operation.dtype.kind == "f" and operation.dtype.itemsize > 2


def _apart(expr: LirExpr) -> LirExpr:
    expr = with_children(expr, _apart)
    if isinstance(expr, Operation) and expr.name == "cos" and _is_real(expr):
        return replace(expr, name=APART)
    return expr
