"""``python -m benchmarks.auto_and_plain [NAME ...]``: what auto_optimize gains on each kernel of NPBench and each loop.

Both are called in turn in one process, on fresh arguments, each as often before the other as behind it: whoever comes
second finds other caches. The ratio is that of the fastest calls, which neighbours disturb least. The bar is 0.95:
auto_optimize makes nothing slower. Set ``OMP_NUM_THREADS=1`` on a busy machine: a team that waits for a processor says
nothing about the code.
"""

from __future__ import annotations

import copy
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

import dcpy
from benchmarks.loops.programs import PROGRAMS
from benchmarks.npbench import kernels

BAR = 0.95
ROUNDS = 16
AGAIN = 3  # a ratio below the bar is measured again as often: one bad moment is no cliff


def ratios(names: Iterable[str] = (), preset: str = "S") -> Iterator[tuple[str, float]]:
    """Each program with the time of its plain version over that of the optimized one."""
    for name in names or (*kernels(), *PROGRAMS):
        function, arguments = _program(name, preset)
        yield name, ratio_of(dcpy.program(function), dcpy.program(function, auto_optimize=True), arguments)


def ratio_of(plain: Any, auto: Any, arguments: Sequence[Any], seconds: float = float("inf")) -> float:
    """The time of `plain` over that of `auto`, fewer rounds where `seconds` are over."""
    end = time.perf_counter() + seconds
    ratio = _ratio(plain, auto, arguments, end)
    for _ in range(AGAIN):
        if ratio >= BAR or time.perf_counter() > end:
            break
        ratio = max(ratio, _ratio(plain, auto, arguments, end))
    return ratio


def _program(name: str, preset: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    if name in PROGRAMS:
        return PROGRAMS[name].function, PROGRAMS[name].arguments(np.random.default_rng(0))
    return kernels()[name].function, tuple(kernels()[name].initialize(preset).values())


def _ratio(plain: Any, auto: Any, arguments: Sequence[Any], end: float) -> float:
    fastest = {program: float("inf") for program in (plain, auto)}
    for number in range(ROUNDS):
        if number and time.perf_counter() > end:
            break
        for program in (plain, auto) if number % 2 else (auto, plain):
            mine = copy.deepcopy(arguments)
            start = time.perf_counter()
            program(*mine)
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
