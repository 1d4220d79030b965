"""`np.errstate`: what NumPy does about floating-point errors, as a context and as a decorator.

Programs compute as under ``ignore``, and NumPy's warnings are no part of what a program means, so that ``ignore`` and
``warn`` are the same. What makes NumPy raise, print or call is refused.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.implements import implements
from dcpy.frontend.values import Static, Value

if TYPE_CHECKING:
    from dcpy.frontend.lower.builder import Builder

KINDS = ("all", "divide", "over", "under", "invalid")
SILENT = ("ignore", "warn", None)
NONE = Static(None)
_WRAPPER = np.errstate()(lambda: None).__code__  # of what ``@np.errstate(...)`` makes of a function


def require_silent(state: np.errstate) -> None:
    """Refuses what makes NumPy raise, print or call for floating-point errors."""
    for kind in KINDS:
        how = getattr(state, f"_{kind}")
        if how not in SILENT:
            raise FrontendError(
                f"np.errstate({kind}={how!r}) is not supported",
                notes=("compiled code gives NaN and infinities as IEEE 754 says, and looks at no flags",),
                help="use 'ignore', and test the result: "
                "`if not np.all(np.isfinite(x)): raise FloatingPointError('...')`",
            )


@implements(np.errstate)
def errstate(
    b: Builder, *, call: Value = NONE, all: Value = NONE, divide: Value = NONE, over: Value = NONE,
    under: Value = NONE, invalid: Value = NONE,
) -> Value:  # fmt: skip
    """How floating-point errors are handled: ``ignore`` and ``warn`` are the same in a program, which never warns."""
    keywords = {
        name: b.static(value, f"{name} of np.errstate")
        for name, value in zip(KINDS, (all, divide, over, under, invalid), strict=True)
    }
    state = np.errstate(**keywords)
    require_silent(state)
    return Static(state)


def without_errstate(function: Any) -> Any:
    """The function under ``@np.errstate(...)``; anything else as it is."""
    while isinstance(function, types.FunctionType) and function.__code__ is _WRAPPER:
        for cell in function.__closure__ or ():
            if isinstance(cell.cell_contents, np.errstate):
                require_silent(cell.cell_contents)
        function = function.__wrapped__  # type: ignore[attr-defined]
    return function
