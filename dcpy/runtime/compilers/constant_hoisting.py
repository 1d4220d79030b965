"""Constant hoisting: g++ moves the loads of all constants out of a loop (``-fgcse``), however many there are.

Where there are more of them than registers, each is stored to the stack and loaded from there again, which is no
better than loading the constant, and all of them are alive at the same time: the work of the register allocator grows
with the square of their number. Such functions are compiled without.
"""

from __future__ import annotations

import re

MOST = 64  #: constants of a function; processors have up to 32 vector registers
FLAGS = ("-fno-gcse",)

_FUNCTION = re.compile(r"^\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_CONSTANT = re.compile(r"(?<![\w.])\d+(?:\.\d*(?:e[-+]?\d+)?|e[-+]?\d+)")


def has_many_constants(text: str) -> bool:
    """Return whether a function of a translation unit has more floating-point constants than can be in registers."""
    return any(len(set(_CONSTANT.findall(body))) > MOST for body in _FUNCTION.findall(text))
