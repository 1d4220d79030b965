"""Wrapper functions of decorators: ``@functools.wraps(f) def wrapper(*args, **kwargs)``.

Python runs the wrapper, so that is what is compiled. It is called as the function that it wraps: each argument of that
has a name and a type, and ``*args`` has those that come by position. That is right as long as the wrapper hands both on
as they are; one that looks into them could see which arguments a caller has named, which a program does not know.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import DictValue, TupleValue, Value
from dcpy.frontend.introspection.function_source import Source

_STAR = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def wrapped_arguments(function: Callable[..., Any], source: Source, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of the wrapper's own parameters, where those of the wrapped function have `values`."""
    outside = inspect.signature(function).parameters
    own = inspect.signature(function, follow_wrapped=False)
    _require_handed_on(source, [name for name, parameter in own.parameters.items() if parameter.kind in _STAR])
    _require_same(function, source)
    by_position: list[Value] = []
    by_name: dict[str, Value] = {}
    for name, parameter in outside.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = values[name]
            by_position += rest.items if isinstance(rest, TupleValue) else [rest]
        elif parameter.kind is parameter.KEYWORD_ONLY:
            by_name[name] = values[name]
        else:
            by_position.append(values[name])
    bound = own.bind(*by_position, **by_name).arguments
    for name, parameter in own.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            bound[name] = TupleValue(tuple(bound.get(name, ())))
        elif parameter.kind is parameter.VAR_KEYWORD:
            bound[name] = DictValue(tuple(bound.get(name, {}).items()))
    return bound


def _require_same(function: Callable[..., Any], source: Source) -> None:
    """Callers see the parameters of the function inside; Python binds those of the wrapper.

    What the wrapper does not name goes to ``*args``; without ``**kwargs``, Python refuses to have it named in a call.
    """
    outside = list(inspect.signature(function).parameters.values())
    own = inspect.signature(function, follow_wrapped=False).parameters.values()
    stars = [parameter.kind for parameter in own if parameter.kind in _STAR]
    named = [_facts(parameter) for parameter in own if parameter.kind not in _STAR]
    needed = {_STAR[p.kind is p.KEYWORD_ONLY] for p in outside[len(named) :]}
    if named != [_facts(parameter) for parameter in outside[: len(named)]] or not needed.issubset(stars):
        raise FrontendError(
            "the wrapper does not take the same arguments as the function that it wraps",
            span=source.span(source.node.args.args[0]) if source.node.args.args else None,
            help="give it the same parameters with the same defaults, or `*args, **kwargs`",
        )


def _facts(parameter: inspect.Parameter) -> tuple[Any, ...]:
    return parameter.name, parameter.kind, id(parameter.default)


def _require_handed_on(source: Source, names: list[str]) -> None:
    """Each use of ``*args`` and ``**kwargs`` is ``g(*args, **kwargs)``."""
    calls = [part for part in ast.walk(source.node) if isinstance(part, ast.Call)]
    starred = [arg.value for call in calls for arg in call.args if isinstance(arg, ast.Starred)]
    handed_on = [*starred, *(keyword.value for call in calls for keyword in call.keywords if keyword.arg is None)]
    for use in ast.walk(source.node):
        if isinstance(use, ast.Name) and use.id in names and not any(use is passed for passed in handed_on):
            raise FrontendError(
                f"a wrapper that looks into {use.id!r} is not supported",
                span=source.span(use),
                notes=("the keywords of a call are not known when the wrapper is compiled",),
                help="hand them on as they are, `f(*args, **kwargs)`, or give the wrapper parameters with names",
            )
