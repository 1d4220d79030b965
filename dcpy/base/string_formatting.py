"""String formatting at run time: f-strings in ``print`` and in the messages of exceptions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

JOINED, CHOSEN, REPEATED = -2, -3, -4
_CONVERSIONS: dict[int, Callable[[Any], str]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


def formatted(value: Any, conversion: int, spec: str) -> str:
    """One value of an f-string: `conversion` is the code of ``s``, ``r`` or ``a``, or -1.

    `JOINED`: texts with the format between them; `CHOSEN`: a character of the format, by its place;
    `REPEATED`: the format so many times.
    """
    if conversion == JOINED:
        return str.join(spec, value)
    if conversion == CHOSEN:
        return spec[int(value)]
    if conversion == REPEATED:
        return spec * int(value)
    return format(_CONVERSIONS[conversion](value) if conversion in _CONVERSIONS else value, spec)


class ArgumentMaker(ABC):
    """Makes an argument of a callback of an array, or number, of compiled code."""

    @abstractmethod
    def __call__(self, *operands: Any) -> Any: ...


@dataclass(frozen=True)
class TextTemplate(ArgumentMaker):
    """Makes a text of values: between fixed texts, places of values with their conversion and format.

    That of a list of texts has the conversion `JOINED`, and what stands between them.
    """

    pieces: tuple[str | tuple[int, str], ...]

    def __call__(self, *values: Any) -> str:
        left = iter(values)
        return "".join(piece if isinstance(piece, str) else formatted(next(left), *piece) for piece in self.pieces)


def throw(kind: type[Exception], *args: Any) -> NoReturn:
    """``raise kind(*args)``, as a function that a program calls."""
    raise kind(*args)
