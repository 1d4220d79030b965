"""List displays with starred parts: ``[first, *rest]``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import Static, TupleValue, Value
from dcpy.frontend.lower.arithmetic.operators import binary
from dcpy.frontend.lower.expressions import evaluate
from dcpy.frontend.lower.sequences import items as sequences

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def joined(frame: Frame, node: ast.List) -> Value:
    """The list of all items, from left to right; those of one starred part may be counted when the program runs."""
    parts: list[Value] = []
    frame.program.pending_operands.append(parts)
    try:
        for one in node.elts:
            if isinstance(one, ast.Starred):
                parts.append(_listed(frame, frame.program.evaluator.all_items(frame, evaluate(frame, one.value))))
            else:
                parts.append(TupleValue((evaluate(frame, one),), is_list=True))
    finally:
        frame.program.pending_operands.pop()
    total = parts[0]
    for part in parts[1:]:
        total = binary(frame.b, "+", total, part)
    return total


def _listed(frame: Frame, value: Value) -> Value:
    if sequences.is_short(frame.b, value):
        return TupleValue(tuple(sequences.items(frame.b, value)), is_list=True)
    return frame.b.call(Static(list), value)
