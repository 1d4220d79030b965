"""String formatting at run time: f-strings in ``print`` and in the messages of exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

_CONVERSIONS: dict[int, Callable[[Any], str]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


def formatted(value: Any, conversion: int, spec: str) -> str:
    """One value of an f-string: `conversion` is the code of ``s``, ``r`` or ``a``, or -1."""
    return format(_CONVERSIONS[conversion](value) if conversion in _CONVERSIONS else value, spec)


def throw(kind: type[Exception], *args: Any) -> NoReturn:
    """``raise kind(*args)``, as a function that a program calls."""
    raise kind(*args)
