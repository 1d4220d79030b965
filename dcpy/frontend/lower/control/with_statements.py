"""with`` statements: context managers that do not change values. What they would do when left, they need not do here.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import IteratorValue, Static, Value
from dcpy.frontend.desugar import core
from dcpy.frontend.introspection.errstate_decorators import require_silent
from dcpy.frontend.lower.arrays import assignment
from dcpy.frontend.lower.expressions import evaluate

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def enter(frame: Frame, node: core.Enter) -> None:
    """The contexts of a ``with``, one after the other, and the names that they are bound to."""
    for context, target in node.contexts:
        entered = _entered(frame, context)
        if target is not None:
            assignment.assign(frame, target, entered)


def _entered(frame: Frame, context: ast.expr) -> Value:
    """Return the value that ``as`` binds."""
    made = evaluate(frame, context.func) if isinstance(context, ast.Call) else None
    if made is None or made in (Static(np.errstate), Static(np.nditer)):
        found = evaluate(frame, context)
        if isinstance(found, IteratorValue) and found.kind == "elements":
            return found
        if isinstance(found, Static) and isinstance(found.value, np.errstate):
            require_silent(found.value)
            return Static(None)
    raise FrontendError(
        "with is not supported",
        notes=("a context manager runs Python code, which is not compiled",),
        help="use the context around the call of the program; inside, only np.errstate and np.nditer are supported",
    )
