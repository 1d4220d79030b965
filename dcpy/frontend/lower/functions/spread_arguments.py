"""Spread arguments: ``f(*x)``, also of an array or list whose length is known at run time only.

A function that takes a known number of arguments, without defaults and ``*args``, then says how many items there must
be; that is checked.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import ArrayValue, BoundMethod, FunctionValue, Static, TupleValue, Value
from dcpy.frontend.lower.sequences import item_words
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


def columns(frame: Frame, function: Value, call: ast.Call, rows: Callable[[ast.expr], Value]) -> Value | None:
    """``zip(*rows)`` of rows whose number is known at run time only: the columns, as tuples; None for other calls."""
    is_zip = isinstance(function, Static) and function.value is zip and len(call.args) == 1
    is_zip = is_zip and all(keyword.arg == "strict" for keyword in call.keywords)  # rows of an array are of one length
    if not is_zip or not isinstance(call.args[0], ast.Starred):
        return None
    found = frame.program.evaluator.all_items(frame, rows(call.args[0].value))
    if isinstance(found, ListValue) and len(found.levels) == 2 and found.packed is not None:
        packed = found.packed_tuple
        if packed is None or not packed.is_flat:
            return frame.b.call(function, *spread(frame, found, None))
        parts = item_words.columns(frame.b, found)
        return TupleValue(tuple(replace(part, levels=(False,)) for part in parts))
    array = found.array if isinstance(found, ListValue) and found.holds_numbers else found
    if not isinstance(array, ArrayValue) or array.rank != 2 or frame.b.exact(array.shape[0]).constant is not None:
        return frame.b.call(function, *spread(frame, found, None))
    like = found if isinstance(found, ListValue) else ListValue(array)
    turned = frame.b.copy(frame.b.transpose(array, (1, 0)))
    return replace(like, array=turned, levels=(True, False), size="", token=None, fill=None)


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
