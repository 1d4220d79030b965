"""Comprehensions of sets and dictionaries whose items, or keys, are known at run time only."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import Static, Value
from dcpy.frontend.lower.expressions import evaluate
from dcpy.frontend.lower.name_binding import bind_name
from dcpy.frontend.lower.objects import special_methods
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.iteration import ItemIteration
from dcpy.frontend.python.containers.hash_maps import HashMap
from dcpy.frontend.python.containers.hash_sets import HashSet
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def hashed(frame: Frame, node: ast.DictComp | ast.SetComp, first: Value) -> Value:
    """``{key: value for ... in first}`` or ``{item for ... in first}``, filled item by item."""
    name = frame.emit.fresh(".hashed")
    bind_name(frame, name, frame.b.call(Static(HashMap if isinstance(node, ast.DictComp) else HashSet)))

    def visit(_: Sequence[Expr]) -> None:
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        values = [sequences.stable(frame.b, evaluate(frame, part)) for part in parts]
        special_methods.call(frame, frame.env[name], "__setitem__" if len(values) > 1 else "add", values)

    ItemIteration(frame, node, node.generators, first, visit).run()
    return frame.env.pop(name)
