"""Assumptions about symbols: what their values are in every run, and what they are like in most of them.

A user says so (``dcpy.symbol("N", range=(1, 4096), multiple_of=8, typical=1000)``), an SDFG carries it
(`Sdfg.assumed`), and each call is checked: calls that break an assumption are refused. So passes may rely on
it. The typical value is a hint for decisions about costs; nothing is legal by it, and no call breaks it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from dcpy.base.errors import ArgumentShapeError

LARGEST = 2**63 - 1  # value of a symbol
LARGEST_SIZE = 2**48  # of an axis of an argument: processors address no more bytes


@dataclass(frozen=True, slots=True)
class Assumption:
    """``least <= value <= most``, and the value is a multiple of `multiple_of`; `typical`: what it often is."""

    least: int | None = None
    most: int | None = None
    multiple_of: int = 1
    typical: int | None = None

    def problem(self, *, size: bool = False) -> str:
        """Return why no value, or no hint, can satisfy this; "" where one can. Values of a `size` start at 0."""
        numbers = [getattr(self, field.name) for field in fields(self)]
        if any(number is not None and abs(number) > LARGEST for number in numbers):
            return "a number of it does not fit into 64 bits"
        if self.multiple_of < 1:
            return f"values cannot be multiples of {self.multiple_of}"
        least = max(self.least or 0, 0) if size else self.least
        if least is not None and self.most is not None:
            if self.most < least:
                return f"no value is at least {least} and at most {self.most}"
            if self.most // self.multiple_of * self.multiple_of < least:
                return f"no multiple of {self.multiple_of} is at least {least} and at most {self.most}"
        if self.typical is not None and (why := replace(self, least=least).broken_by(self.typical)):
            return f"the typical value {why}"
        return ""

    def broken_by(self, value: int) -> str:
        """Return what is wrong with a value, ``1003 is not a multiple of 8``; "" where nothing is."""
        if self.least is not None and value < self.least:
            return f"{value} is less than {self.least}"
        if self.most is not None and value > self.most:
            return f"{value} is more than {self.most}"
        return f"{value} is not a multiple of {self.multiple_of}" if value % self.multiple_of else ""

    def and_also(self, other: Assumption) -> Assumption:
        """Return both together; the first hint counts that fits."""
        least = [number for number in (self.least, other.least) if number is not None]
        most = [number for number in (self.most, other.most) if number is not None]
        multiple = math.lcm(self.multiple_of, other.multiple_of)
        both = Assumption(max(least, default=None), min(most, default=None), multiple)
        hints = (hint for hint in (self.typical, other.typical) if hint is not None and not both.broken_by(hint))
        return replace(both, typical=next(hints, None))

    def in_words(self) -> str:
        """``from 1 to 4096 and a multiple of 8``."""
        if self.least is not None and self.most is not None:
            values = f"from {self.least} to {self.most}"
        else:
            values = f"at least {self.least}" if self.least is not None else ""
            values = f"at most {self.most}" if self.most is not None else values
        multiple = f"a multiple of {self.multiple_of}" if self.multiple_of > 1 else ""
        return " and ".join(filter(None, (values, multiple))) or "anything"

    def __str__(self) -> str:
        """``{least = 1, most = 4096, multiple_of = 8, typical = 1000}``; "" where nothing is assumed."""
        given = [field for field in fields(self) if getattr(self, field.name) != field.default]
        values = ", ".join(f"{field.name} = {getattr(self, field.name)}" for field in given)
        return f"{{{values}}}" if values else ""


NOTHING = Assumption()


def too_long(argument: str, shape: Sequence[int]) -> ArgumentShapeError | None:
    """The error of a call with an array that has more elements along an axis than memory has bytes; None if it has not.

    Only views that repeat an element are so long (`np.broadcast_to`).
    """
    for axis, size in enumerate(shape):
        if size > LARGEST_SIZE:
            error = ArgumentShapeError(
                f"argument {argument!r} has the size {size} along axis {axis}, which is more than memory can hold",
                notes=(f"no axis of an argument is longer than 2**{LARGEST_SIZE.bit_length() - 1}",),
                help="pass the part of it that is used",
            )
            error.argument = argument
            return error
    return None


def refusal(
    symbol: str, value: int, assumed: Assumption, told_by: str, argument: str = ""
) -> ArgumentShapeError | None:
    """The error of a call in which a symbol has a value that breaks its assumption; None where it does not.

    `told_by` says where the value comes from: ``argument 'A' has the size 1003 along axis 0``.
    """
    reason = assumed.broken_by(value)
    if not reason:
        return None
    error = ArgumentShapeError(
        f"{told_by}, but {symbol} is assumed to be {assumed.in_words()}: {reason}",
        notes=(f"compiled code relies on what dcpy.symbol({symbol!r}, ...) declares",),
        help="pass a size that fits, or declare the symbol without this assumption",
    )
    error.argument = argument
    return error
