"""What something cost: time on the clock, and of processors, or calls, which say more on a busy machine."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable


class Stopwatch:
    """Starts when it is made; prints as seconds since then, and processor seconds of finished child processes."""

    def __init__(self) -> None:
        self.start = time.perf_counter()

    def __str__(self) -> str:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = children.ru_utime + children.ru_stime
        return f"{time.perf_counter() - self.start:.0f} s ({busy:.0f} s of processors)"


def calls_of(work: Callable[[], object]) -> int:
    """How many Python functions are called: work that no other process on the machine disturbs."""
    calls = [0]

    def tally(frame: object, event: str, argument: object) -> None:
        calls[0] += event == "call"

    sys.setprofile(tally)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls[0]
