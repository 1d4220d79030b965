"""`np.errstate`: what NumPy does about floating-point errors, as a context and as a decorator.

Programs compute as under ``ignore``, and NumPy's warnings are no part of what a program means, so that ``ignore`` and
``warn`` are the same. What makes NumPy raise, print or call is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dcpy.frontend.abstract_values.values import Static, Value
from dcpy.frontend.implements import implements
from dcpy.frontend.introspection.errstate_decorators import KINDS, require_silent

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder

NONE = Static(None)


@implements(np.errstate)
def errstate(
    b: OpBuilder, *, call: Value = NONE, all: Value = NONE, divide: Value = NONE, over: Value = NONE,
    under: Value = NONE, invalid: Value = NONE,
) -> Value:  # fmt: skip
    """Return a state for floating-point errors: ``ignore`` and ``warn`` are the same, as programs never warn."""
    keywords = {
        name: b.static(value, f"{name} of np.errstate")
        for name, value in zip(KINDS, (all, divide, over, under, invalid), strict=True)
    }
    state = np.errstate(**keywords)
    require_silent(state)
    return Static(state)
