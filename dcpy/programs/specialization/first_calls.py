"""First calls in Python: they determine the types of results without a declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from dcpy.base.errors import DcpyError


def run_in_python(function: Callable[..., Any], values: Sequence[Any], symbols: Sequence[str], error: DcpyError) -> Any:
    """Return the function's result in Python, for its parameters' values; raises the error where it has `symbols`."""
    if symbols:
        raise error
    args: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter, value in zip(inspect.signature(function).parameters.values(), values, strict=False):
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords |= value
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[parameter.name] = value
        else:
            args.append(value)
    return function(*args, **keywords)
