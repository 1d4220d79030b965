"""`python -m tests.fuzz N [first seed] [gpu]`: N random programs; 1 with the smallest form of each that is not NumPy's.

Each program is interpreted: as written, simplified, and optimized. Every fourth is transformed as well, by each
transformation at the first matches that allow it, and another fourth is called with several patterns of sizes, as a
program that is used would be. Every tenth is compiled: as written, simplified, or optimized, in
turn. The seeds of a run are consecutive: two numbers describe it, and `python -m tests.fuzz 1 SEED` repeats one.
With ``gpu`` each program is called on the simulated GPU instead; what is not for devices counts as refused.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from dcpy.base.errors import FrontendError
from tests.fuzz import oracles
from tests.fuzz.program import Program
from tests.fuzz.programs import seeded
from tests.fuzz.shrink import shrunk
from tests.support import verified_lir
from tests.support.spent import Stopwatch

BATCH = 40  # programs that a process checks at a time
SECONDS = 120  # of a processor, for one oracle of one program: all transformations of a long one are many
SHRUNK = 10  # failures that are made small
Oracle = Callable[[Program], object]


class Clock(NamedTuple):
    """A clock, and the timer that goes by it."""

    now: Callable[[], float]
    timer: int
    signal: int


WALL = Clock(time.monotonic, signal.ITIMER_REAL, signal.SIGALRM)
PROCESSOR = Clock(time.process_time, signal.ITIMER_PROF, signal.SIGPROF)


@dataclass
class Findings:
    """What became of some programs."""

    checked: Counter[str] = field(default_factory=Counter)  # by oracle
    refused: Counter[str] = field(default_factory=Counter)  # by reason
    failures: list[tuple[int, str, str]] = field(default_factory=list)  # seed, oracle, message

    def add(self, other: Findings) -> None:
        self.checked += other.checked
        self.refused += other.refused
        self.failures += other.failures


def oracles_of(seed: int, device: str = "") -> dict[str, Oracle]:
    """What is asked about the program of a seed."""
    if device:
        return {"on the device": oracles.check_on_device}
    found: dict[str, Oracle] = {"interpreted": oracles.check_interpreted}
    if seed % 4 == 0:
        found["transformed"] = oracles.check_transformations
    if seed % 4 == 1:
        found["used"] = oracles.check_versions
    if seed % 10 == 0:
        way = list(oracles.COMPILED)[seed // 10 % len(oracles.COMPILED)]
        found["compiled"] = lambda program: oracles.check_compiled(program, way)
    return found


def verdict(oracle: Oracle, program: Program, seconds: int = SECONDS) -> Exception | None:
    """What an oracle raises; nothing where a program is as it should be. `TimeoutError` where one does not end.

    The limit is one of processor time, which others on the machine do not shorten; what waits for ever ends as well.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"), limited(30 * seconds), limited(seconds, PROCESSOR):
        warnings.simplefilter("ignore")
        try:
            oracle(program)
        except Exception as error:
            return error
    return None


@contextmanager
def limited(seconds: float, clock: Clock = WALL) -> Iterator[None]:
    """Raises `TimeoutError` inside after so many seconds. A limit around it goes on afterwards."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"runs for more than {seconds} s")

    start = clock.now()
    around = signal.signal(clock.signal, stop)
    left, interval = signal.setitimer(clock.timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(clock.timer, 0)
        signal.signal(clock.signal, around)
        if left:
            signal.setitimer(clock.timer, max(left - (clock.now() - start), 1e-3), interval)


def check(seeds: range, device: str = "") -> Findings:
    """Some programs under their oracles."""
    found = Findings()
    for seed in seeds:
        program = seeded(seed)
        for name, oracle in oracles_of(seed, device).items():
            error = verdict(oracle, program)
            if isinstance(error, FrontendError | oracles.NotComparable):
                found.refused[f"{type(error).__name__}: {str(error).splitlines()[0]}"] += 1
                break
            found.checked[name] += 1
            if error is not None:
                found.failures.append((seed, name, f"{type(error).__name__}: {error}"))
                break
    return found


def smallest(seed: int, name: str, device: str = "") -> Program:
    """The failing program of a seed, made small."""
    oracle = oracles_of(seed, device)[name]
    kind = type(verdict(oracle, seeded(seed)))
    return shrunk(seeded(seed), lambda program: type(verdict(oracle, program, 5)) is kind)


def main(count: int, first: int, device: str = "") -> int:
    """Checks `count` programs in two processes, and prints what was found."""
    watch, found = Stopwatch(), Findings()
    batches = [range(at, min(at + BATCH, first + count)) for at in range(first, first + count, BATCH)]
    with ProcessPoolExecutor(min(os.cpu_count() or 1, len(batches)), initializer=verified_lir.install) as pool:
        for findings in pool.map(partial(check, device=device), batches):
            found.add(findings)
    print(f"seeds {first} to {first + count - 1}: {', '.join(f'{n} {what}' for what, n in found.checked.items())}")
    print(f"{sum(found.refused.values())} not comparable or refused, the most frequent reasons:")
    for reason, times in found.refused.most_common(25):
        print(f"{times:6}  {reason[:150]}")
    print(f"{len(found.failures)} mismatches, {watch}", flush=True)
    for seed, name, message in found.failures:
        print(f"seed {seed}, {name}: {message.splitlines()[0][:200]}", flush=True)
    for seed, name, message in found.failures[:SHRUNK]:
        print(f"\nseed {seed}, {name}: {message[:1500]}\n{smallest(seed, name, device)!r}", flush=True)
    return 1 if found.failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("DCPY_CACHE_DIR", folder)
        numbers = [int(one) for one in sys.argv[1:] if one.isdecimal()]
        sys.exit(main(*(*numbers, 0)[:2], "gpu" if "gpu" in sys.argv else ""))
