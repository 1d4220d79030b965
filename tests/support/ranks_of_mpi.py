"""What compiled programs of several ranks have sent, as their libraries count it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dcpy.distributed import world


@dataclass
class Sent:
    """Of all ranks together."""

    messages: int = 0
    bytes: int = 0
    collectives: int = 0


@contextmanager
def sent(program) -> Iterator[Sent]:
    """Counts what calls of a program inside send; to be looked at afterwards."""
    _asked(program)
    found = Sent()
    yield found
    numbers = [sum(of_ranks) for of_ranks in zip(*world().all(_asked(program)), strict=True)]
    found.messages, found.bytes, found.collectives = numbers


def _asked(program) -> list[int]:
    total = [0, 0, 0]
    for made in program._ranks._programs.values():
        ask = getattr(made.loaded.library, "dcpy_ranks_sent", None)
        if ask is not None:
            numbers = (ctypes.c_int64 * 3)()
            ask(numbers)
            total = [a + b for a, b in zip(total, numbers, strict=True)]
    return total
