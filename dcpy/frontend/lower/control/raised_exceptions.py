"""Raised exceptions: what ``assert`` and ``raise`` raise, and messages that a check can hold."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.base.program_exceptions import exception_type
from dcpy.frontend.abstract_values.values import (
    Static,
    TextValue,
    Value,
    dtype_of,
    is_number,
    scalar_expr,
)
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.expressions import evaluate, evaluate_all
from dcpy.ir import types
from dcpy.ir.expressions.scalar import ScalarExpr, cast

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def exception_of(frame: Frame, node: core.Require) -> tuple[type[Exception], list[Value]]:
    """The exception of an ``assert`` or ``raise``, and its arguments."""
    if node.exception is None and node.test is None:
        raise FrontendError("raise without an exception is not supported", help="raise ValueError(...)")
    if node.exception is None:
        return AssertionError, [] if node.message is None else [evaluate(frame, node.message)]
    call = node.exception if isinstance(node.exception, ast.Call) else None
    if call is not None and call.keywords:
        raise FrontendError("exceptions take no keywords", span=frame.span(call), help="write ValueError(...)")
    kind = _exception_type(frame, call.func if call is not None else node.exception)
    return kind, [] if call is None else evaluate_all(frame, call.args)


def _exception_type(frame: Frame, node: ast.expr) -> type[Exception]:
    value = evaluate(frame, node)
    found = value.value if isinstance(value, Static) else None
    if isinstance(found, type) and issubclass(found, Exception) and exception_type(found.__name__) is found:
        return found
    raise FrontendError(
        "only exceptions of Python and NumPy can be raised", span=frame.span(node), help="raise ValueError(...)"
    )


def plain_message(args: list[Value]) -> tuple[str, list[ScalarExpr]] | None:
    """A text that a check can hold: up to four integers in it are known at run time only; None for other arguments."""
    match args:
        case []:
            return "", []
        case [Static(value=str() as text)]:
            return text, []
        case [TextValue(parts=parts)]:
            numbers = [part for part in parts if not isinstance(part, str)]
            braces = any(brace in part for part in parts if isinstance(part, str) for brace in "{}")
            if braces or len(numbers) > 4 or not all(spec == "" and code < 0 and _shows_as_int64(value)
                                                     for value, code, spec in numbers):  # fmt: skip
                return None
            places = iter(range(len(numbers)))
            text = "".join(part if isinstance(part, str) else f"{{{next(places)}}}" for part in parts)
            return text, [cast(scalar_expr(value), types.int64) for value, _, _ in numbers]
    return None


def _shows_as_int64(value: Value) -> bool:
    return is_number(value) and dtype_of(value).is_integer and dtype_of(value) != types.uint64
