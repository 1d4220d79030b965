"""Python exceptions that a program raises: from the name, message and values of a `Check`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dcpy.base.exceptions import advice_on, exception_type
from dcpy.base.tracebacks import raised_by_program
from dcpy.ir.region import Check


def exception_of(check: Check, values: Sequence[Any]) -> Exception:
    """The exception that a failed check raises, with the place in the user's program as a note."""
    text = formatted(check.message, values)
    kind = exception_type(check.exception)
    if kind is None:
        error: Exception = RuntimeError(f"{check.exception}: {text}")
    else:
        error = kind(text) if text else kind()
    if check.span is not None:
        error.add_note(check.span.render())
    if advice := advice_on(text):
        error.add_note(f"  = help: {advice}")
    return raised_by_program(error)


def formatted(message: str, values: Sequence[Any]) -> str:
    """The message with ``{0}`` to ``{3}`` replaced; other braces are just text."""

    def fill(match: re.Match[str]) -> str:
        number = int(match[1])
        return str(values[number]) if number < len(values) else match[0]

    return re.sub(r"\{([0-3])\}", fill, message)
