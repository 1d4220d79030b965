"""What a long check cost: time on the clock, and of processors, which says more on a busy machine."""

from __future__ import annotations

import resource
import time


class Stopwatch:
    """Starts when it is made; prints as seconds since then, and processor seconds of finished child processes."""

    def __init__(self) -> None:
        self.start = time.perf_counter()

    def __str__(self) -> str:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = children.ru_utime + children.ru_stime
        return f"{time.perf_counter() - self.start:.0f} s ({busy:.0f} s of processors)"
