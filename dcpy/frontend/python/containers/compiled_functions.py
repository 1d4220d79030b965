"""Functions of containers that are compiled once for each kind of arguments (`lower.functions.outlined_calls`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled_once(function: Function) -> Function:
    """Mark a function of numbers and lists, which does not change the length of a list and returns a number or None."""
    function.compiled_once = True  # type: ignore[attr-defined]
    return function
