"""``python -m benchmarks.schedules``: what the schedules of examples/schedules.py gain over the programs as they are.

Both are called in turn in one process, on the same arguments. By default on one thread, in processor time, which
neighbours disturb least; ``--threads`` takes all threads and the clock, and says something on an idle machine only.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import dcpy
from examples import schedules

ROUNDS = 7
SIZES = {  # by schedule, of which each begins with the name of its program
    "product": (512, 1024),
    "relaxation": (1000, 2000, 3000),
    "jacobi_2d": (700, 1400, 2800),
    "jacobi_2d_overlapped": (700, 2800),
}


def measure(name: str, size: int, threads: bool) -> tuple[float, float]:
    """Seconds of the program as it is, and scheduled: medians of calls in turn."""
    of = name.removesuffix("_overlapped")
    program = getattr(schedules, of)
    plain, scheduled = (dcpy.parse(str(program.to_sdfg())) for _ in range(2))
    getattr(schedules, f"schedule_{name}")(scheduled)
    arguments = getattr(schedules, f"initialize_{of}")(size)
    compiled = [sdfg.compile(**{"cpu.openmp": threads}) for sdfg in (plain, scheduled)]
    clock = time.perf_counter if threads else time.process_time
    rounds = [[_seconds(call, arguments, clock) for call in compiled] for _ in range(ROUNDS)]
    return median(before for before, _ in rounds), median(after for _, after in rounds)


def _seconds(call: Callable[..., Any], arguments: dict[str, Any], clock: Callable[[], float]) -> float:
    start = clock()
    call(**arguments)
    return clock() - start


def main(words: list[str]) -> int:
    """Prints the table."""
    threads = "--threads" in words
    print(f"{'program':20} {'size':>6} {'plain':>10} {'scheduled':>10} {'ratio':>6}")
    for name, sizes in SIZES.items():
        for size in sizes:
            plain, scheduled = measure(name, size, threads)
            ratio = plain / scheduled
            print(f"{name:20} {size:6} {plain * 1e3:7.1f} ms {scheduled * 1e3:7.1f} ms {ratio:6.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
