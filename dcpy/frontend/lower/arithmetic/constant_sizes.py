"""Sizes of constants that operators make of constants: bounded, so that no compilation takes too long or all memory."""

from __future__ import annotations

from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.lower.arithmetic.array_sizes import ADDRESS_SPACE
from dcpy.frontend.lower.lowering_signals import WillRaise

MOST_BITS = 2**20  # of an integer
MOST_ITEMS = 2**20  # of a text, a tuple or a list
_SEQUENCES = (str, bytes, tuple, list)


def require_small(symbol: str, left: Any, right: Any) -> None:
    """Raise `FrontendError` where ``left symbol right`` of Python's constants is too large to be computed.

    `MemoryError`, as in Python, where no process has room for it.
    """
    if symbol in ("**", "<<") and isinstance(left, int) and isinstance(right, int) and right > 0:
        bits = left.bit_length() * right if symbol == "**" else left.bit_length() + right
        if abs(left) > 1 - (symbol == "<<"):
            _require_at_most(bits, MOST_BITS, "bits", 8)
    if symbol != "*":
        return
    for sequence, count in ((left, right), (right, left)):
        if isinstance(sequence, _SEQUENCES) and isinstance(count, int):
            items_per_byte = 1 if isinstance(sequence, str | bytes) else 1 / 8
            _require_at_most(len(sequence) * count, MOST_ITEMS, "items", items_per_byte)


def _require_at_most(size: int, most: int, unit: str, per_byte: float) -> None:
    if size <= most:
        return
    if size > ADDRESS_SPACE * per_byte:
        raise WillRaise("MemoryError", f"a constant of {size} {unit} has no room in memory", by="Python")
    raise FrontendError(
        f"a constant of {size} {unit} is too large to be computed when a program is compiled",
        notes=(f"constants have at most {most} {unit}",),
        help="compute it outside of the program, or write it as an array",
    )
