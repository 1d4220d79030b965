"""Python exceptions that a program raises: from the name, message and values of a `Check`, or out of a node."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dcpy.base.program_exceptions import advice_on, exception_type
from dcpy.base.source import SrcSpan
from dcpy.base.tracebacks import raised_by_program
from dcpy.ir.effects import Effect
from dcpy.ir.interp.scalars import IndexOutOfRange
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, Check


def exception_of(check: Check, values: Sequence[Any]) -> Exception:
    """The exception that a failed check raises, with the place in the user's program as a note."""
    text = formatted(check.message, values)
    kind = exception_type(check.exception)
    if kind is None:
        error: Exception = RuntimeError(f"{check.exception}: {text}")
    else:
        error = kind(text) if text else kind()
    return _placed(error, text, check.span)


@contextmanager
def raising(node: Node) -> Iterator[None]:
    """Within: exceptions that a node says that it may raise become those of the program, with its place as a note."""
    try:
        yield
    except Exception as error:
        if Effect.MAY_RAISE not in node.effects:
            raise
        raise _placed(type(error)(*error.args), str(error), node.span) from None


def placed_at(element: Block | Node, error: IndexOutOfRange) -> Exception:
    """The `IndexError` of an index out of range, with the place of the element whose expression has that index."""
    return _placed(IndexError(*error.args), str(error), element.span)


def _placed(error: Exception, text: str, span: SrcSpan | None) -> Exception:
    if span is not None:
        error.add_note(span.render())
    if advice := advice_on(text):
        error.add_note(f"  = help: {advice}")
    return raised_by_program(error)


def formatted(message: str, values: Sequence[Any]) -> str:
    """The message with ``{0}`` to ``{3}`` replaced; other braces are just text."""

    def fill(match: re.Match[str]) -> str:
        number = int(match[1])
        return str(values[number]) if number < len(values) else match[0]

    return re.sub(r"\{([0-3])\}", fill, message)
