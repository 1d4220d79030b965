"""Memoized functions, `functools.lru_cache` and `functools.cache`, that a program calls.

The program computes what Python would find in the cache: the same, as long as a call does nothing but compute.
Arguments must be hashable, as in Python. An array out of a cache is one that others may see: it is never written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListRef, ListValue
from dcpy.frontend.abstract_values.values import ArrayValue, DictValue, TupleValue, Value, kind_of
from dcpy.frontend.introspection.function_source import read_source

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Call = Callable[["Frame", FunctionType, Sequence[Value], Mapping[str, Value]], Value]


def call_cached(
    frame: Frame, function: FunctionType, args: Sequence[Value], kwargs: Mapping[str, Value], call: Call
) -> Value:
    """The call of a function with a cache around it; `call` does it without."""
    for value in (*args, *kwargs.values()):
        _require_hashable(value)
    _require_no_effect(function)
    result = call(frame, function, args, kwargs)
    for array in _arrays(result):
        frame.b.forbid_writes(frame.b.root(array.container), f"the cache of {function.__name__}() keeps it")
    return result


def _require_hashable(value: Value) -> None:
    if isinstance(value, TupleValue) and not value.is_list:
        for item in value.items:
            _require_hashable(item)
    elif isinstance(value, ArrayValue | ListValue | ListRef | DictValue | TupleValue):
        raise FrontendError(
            f"a cached function cannot be called with {kind_of(value)}",
            notes=("Python raises TypeError here (unhashable type): a cache finds results by what was passed",),
            help="pass numbers, or call the function without the cache",
        )


def _require_no_effect(function: FunctionType) -> None:
    """Refuse what happens at the first call with some arguments only, as far as the function itself says."""
    source = read_source(function)
    own = {node.id for node in ast.walk(source.node) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(source.node):
        prints = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        stores = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if prints or (stores and not own.issuperset(_owner(node))):
            raise FrontendError(
                f"{function.__name__}() has a cache, and does more than compute",
                span=source.span(node),
                notes=(
                    "a cached function runs once for each combination of arguments, so its effects would depend on "
                    "earlier calls",
                ),
                help="remove the cache, or the side effect",
            )


def _owner(node: ast.AST) -> Iterator[str]:
    """The name of the array that a subscript is of."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _arrays(value: Value) -> Iterator[ArrayValue]:
    if isinstance(value, ArrayValue):
        yield value
    elif isinstance(value, TupleValue):
        for item in value.items:
            yield from _arrays(item)
