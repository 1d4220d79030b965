"""Spread arguments: ``f(*x)``, also of an array or list whose length is known at run time only.

A function that takes a known number of arguments, without defaults and ``*args``, then says how many items there must
be; that is checked.
"""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING

import numpy as np

from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import ArrayValue, BoundMethod, FunctionValue, Static, Value
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.ir.symbolic import as_expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def spread(frame: Frame, value: Value, wanted: int | None) -> list[Value]:
    """Return the items of a starred value; `wanted`: how many arguments are missing, None where that is open."""
    b = frame.b
    size = sequences.length(b, value) if isinstance(value, ArrayValue | ListValue) else None
    if size is None or size.constant is not None or wanted is None:
        return sequences.items(b, value)
    message = f"{wanted} positional arguments are missing where {{0}} are given"
    b.emit.require(size - wanted, "TypeError", message, (size,))
    b.emit.require(wanted - size, "TypeError", message, (size,))
    return [sequences.at(b, value, as_expr(index)) for index in range(wanted)]


def missing_arguments(function: Value, call: ast.Call) -> int | None:
    """Return how many items the one starred argument of a call must have; None where that is open."""
    starred = sum(isinstance(arg, ast.Starred) for arg in call.args)
    count = _parameters(function) if starred == 1 and all(keyword.arg for keyword in call.keywords) else None
    return None if count is None else max(count - (len(call.args) - 1) - len(call.keywords), 0)


def _parameters(function: Value) -> int | None:
    """Return the number of arguments that a function takes; None where there may be more or fewer."""
    match function:
        case FunctionValue(definition=definition, defaults=()):
            args = definition.args
            open_end = args.vararg or args.kwarg or args.kwonlyargs
            return None if open_end else len(args.posonlyargs) + len(args.args)
        case BoundMethod(function=found):
            count = _parameters(Static(found))
            return None if count is None else count - 1
        case Static(value=np.ufunc() as ufunc):
            return ufunc.nin
        case Static(value=found) if callable(found):
            try:
                parameters = inspect.signature(found).parameters.values()
            except (TypeError, ValueError):
                return None
            fixed = all(each.kind in _BY_POSITION and each.default is each.empty for each in parameters)
            return len(parameters) if fixed else None
    return None
