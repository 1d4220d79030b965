"""@np.errstate`` decorators: the function itself, where the decorator changes no value."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from dcpy.base.errors import FrontendError

KINDS = ("all", "divide", "over", "under", "invalid")
SILENT = ("ignore", "warn", None)
_WRAPPER = np.errstate()(lambda: None).__code__  # of what the decorator makes of a function


def require_silent(state: np.errstate) -> None:
    """Refuse what makes NumPy raise, print or call for floating-point errors."""
    for kind in KINDS:
        how = getattr(state, f"_{kind}")
        if how not in SILENT:
            raise FrontendError(
                f"np.errstate({kind}={how!r}) is not supported",
                notes=("compiled code returns NaN and infinities as in IEEE 754, and checks no flags",),
                help="use 'ignore', and test the result: "
                "`if not np.all(np.isfinite(x)): raise FloatingPointError('...')`",
            )


def without_errstate(function: Any) -> Any:
    """The function under ``@np.errstate(...)``; anything else as it is."""
    while isinstance(function, types.FunctionType) and function.__code__ is _WRAPPER:
        for cell in function.__closure__ or ():
            if isinstance(cell.cell_contents, np.errstate):
                require_silent(cell.cell_contents)
        function = function.__wrapped__  # type: ignore[attr-defined]
    return function
