"""Decorators of nested functions: applied when the program is compiled, as Python applies them when it runs.

A decorator is any function that the program may call, of the user's or nested itself: it gets the function as a value,
and the name stands for what it returns. Of Python's own, those are known that give a function of the same meaning.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError, ProgramError
from dcpy.frontend.abstract_values.values import Static, Value
from dcpy.frontend.callback_decorator import callback
from dcpy.frontend.lower.expressions import evaluate, evaluate_all
from dcpy.frontend.lower.functions.call_dispatch import call

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

SAME = Static(None)  # what gives the function itself


def decorator(frame: Frame, tree: ast.expr) -> Value:
    """The value of a decorator; `SAME` for one that changes nothing of what the function computes."""
    called = tree.func if isinstance(tree, ast.Call) else tree
    found = evaluate(frame, called)
    if not isinstance(found, Static) or not _keeps_meaning(found.value, called=called is not tree):
        made = found if called is tree else _made(frame, tree)
        return SAME if isinstance(made, Static) and isinstance(made.value, np.errstate) else made
    if isinstance(tree, ast.Call):
        evaluate_all(frame, [*tree.args, *(keyword.value for keyword in tree.keywords)])
    return SAME


def decorated(frame: Frame, tree: ast.expr, found: Value, function: Value) -> Value:
    """Return the value of the name of a definition with this decorator."""
    if found is SAME:
        return function
    try:
        _refuse_callbacks(found)
        return call(frame, found, [function], {})
    except FrontendError as error:
        if error.span is not None:
            raise
        raise _refused(frame, tree, error) from error.__cause__


def _made(frame: Frame, tree: ast.expr) -> Value:
    """The decorator that a call gives."""
    try:
        return evaluate(frame, tree)
    except ProgramError:
        raise
    except FrontendError as error:
        if error.span != frame.span(tree):
            raise
        raise _refused(frame, tree, error) from error.__cause__


def _refused(frame: Frame, tree: ast.expr, error: FrontendError) -> FrontendError:
    return FrontendError(
        f"the decorator @{ast.unparse(tree)} cannot be applied: {error.message}",
        span=frame.span(tree),
        notes=(*error.notes, "decorators of nested functions are applied when the program is compiled"),
        help="use a function that takes a function and returns one, or define the function outside of the program",
    )


def _keeps_meaning(found: Any, *, called: bool) -> bool:
    """``@dcpy.program``, with options or without; ``@functools.wraps(f)``; ``@functools.cache`` and its kind."""
    if getattr(found, "__module__", None) == "dcpy.api":
        return getattr(found, "__name__", "") in ("program", "method")
    if found is functools.wraps:
        return called
    return found is functools.lru_cache or (found is functools.cache and not called)


def _refuse_callbacks(found: Value) -> None:
    if isinstance(found, Static) and found.value is callback:
        raise FrontendError("a Python function that a compiled program calls is no part of the program")
