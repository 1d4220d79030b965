"""Options of the made-up device."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Clock(Enum):
    """Clock of the bare machine."""

    SLOW = "slow"
    FAST = "fast"


@dataclass(frozen=True, slots=True)
class BareOptions:
    """Settings of the ``bare`` target."""

    clock: Clock = Clock.SLOW  #: clock of the machine: ``slow`` or ``fast``
    stack: int = 256  #: bytes of one array on the stack
    words: tuple[str, ...] = ("port",)  #: names that the compiler of the machine reserves
