"""Random process networks: `python -m tests.fuzz.networks N [first seed] [compiled every]`.

Each is the source of a function ``f(x, y)``: processes with streams forwards, and backwards where elements are there at
first; of random depths, with loops, branches, copies, endless and failing processes. Results, exceptions and memory
afterwards are compared: plain Python, the interpreter (as written, simplified, in shuffled turns), compiled code.
"""

from __future__ import annotations

import random
import signal
import sys
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import dcpy
from tests.fuzz.program import define
from tests.support.applications import applications
from tests.support.networks import agree, interpreted, outcome

ROUNDS = 12
MOST = 6  # processes
ROWS = 2 * MOST
SECONDS = 60  # for one network
RTOL = 1e-9  # sums are computed in another order


class _Writer:
    """Writes one network; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = self.random.randint(1, MOST)
        self.pops: dict[int, list[str]] = {process: [] for process in range(self.count)}
        self.pushes: dict[int, list[str]] = {process: [] for process in range(self.count)}
        self.givers: dict[int, set[int]] = {process: set() for process in range(self.count)}
        self.endless: set[int] = set()
        self.streams = 0

    def text(self) -> str:
        """The whole function."""
        for process in range(self.count):
            for _ in range(self.random.choice((0, 1, 1, 2))):
                self.stream(process, self.random.randrange(self.count))
        self.line(1, "with dcpy.dataflow():")
        order = list(range(self.count))
        for process in order:  # who lives on what ends gets too little to live for ever
            givers = self.givers[process]
            if self.random.random() < 0.2 and givers and not givers & {process, *self.endless}:
                self.endless.add(process)
        self.random.shuffle(order)
        for process in order:
            self.process(process)
        if self.random.random() < 0.3:
            self.copies()
        self.line(1, "return y[0, 0] + 1")
        return "def f(x, y):\n" + "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def stream(self, giver: int, taker: int) -> None:
        """A stream from one process to another; one that goes back holds elements at first, mostly."""
        name, self.streams = f"s{self.streams}", self.streams + 1
        depth = self.random.choice((0, 1, 1, 2, 3, 5, 20))
        dtype = self.random.choice(("float64", "float64", "int64", "float32"))
        self.line(1, f"{name} = dcpy.define_stream(dcpy.{dtype}, {depth})")
        first = self.random.choice((0, 1, 1, 2)) if taker <= giver else 0
        if depth:
            first = min(first, depth)
        for _ in range(first):
            self.line(1, f"{name}.push({self.random.randint(-3, 3)})")
        self.pushes[giver].append(name)
        self.pops[taker].append(name)
        self.givers[taker].add(giver)

    def process(self, number: int) -> None:
        """A loop that pops, computes and pushes, in some order."""
        endless = number in self.endless
        rounds = ROUNDS if self.random.random() < 0.8 else self.random.randint(0, ROUNDS + 4)
        self.line(0, "")
        self.line(2, "@dcpy.process(endless=True)" if endless else "@dcpy.process")
        self.line(2, f"def p{number}():")
        self.line(3, f"v = x[{number}]")
        if endless:
            self.line(3, "i = 0")
            self.line(3, "while True:")
        else:
            self.line(3, f"for i in range({rounds}):")
        steps = [f"v = v / 2 + {name}.pop()" for name in self.pops[number]]
        steps += [f"{name}.push(v + i)" for name in self.pushes[number]]
        if self.random.random() < 0.3:
            self.random.shuffle(steps)
        for step in steps:
            if endless:
                self.line(4, step)  # it waits in each round, or the network would never end
            else:
                self.step(step)
        self.line(4, f"y[{number}, i % {ROUNDS}] = v")
        if endless:
            self.line(4, "i += 1")
        if self.random.random() < 0.07:
            self.line(4, f"y[{number}, 0] = x[i + {self.random.randint(0, 5)}]")
        if self.random.random() < 0.05:
            self.line(4, "if v > 4:")
            self.line(5, "raise ValueError('large')")
        if self.random.random() < 0.2:
            self.line(4, "v = np.sum(np.sqrt(np.abs(x * v)))")

    def step(self, step: str) -> None:
        """A pop or push: mostly one in each round, sometimes under a condition, or several."""
        kind = self.random.random()
        if kind < 0.08:
            self.line(4, self.random.choice(("if v > 0:", "if i % 2 == 0:", "if i < 8:")))
            self.line(5, step)
        elif kind < 0.14:
            self.line(4, "for _ in range(2):")
            self.line(5, step)
        else:
            self.line(4, step)

    def copies(self) -> None:
        """A chain of copies of one process, behind the others."""
        width = self.random.randint(1, 4)
        depth = self.random.choice((0, 1, 2, 7))
        self.line(1, f"c = dcpy.define_streamarray({width + 1}, dcpy.float64, {depth})")
        self.line(1, "with dcpy.dataflow():")
        self.line(2, "@dcpy.process")
        self.line(2, "def give():")
        self.line(3, f"for i in range({ROUNDS}):")
        self.line(4, "c[0].push(x[i % 8])")
        self.line(2, f"@dcpy.process(range({width}))")
        self.line(2, "def pe(p):")
        self.line(3, f"for i in range({ROUNDS - self.random.choice((0, 0, 1))}):")
        self.line(4, "w = c[p].pop() + p")
        self.line(4, f"y[{MOST} + p, i] = w")
        self.line(4, "c[p + 1].push(w)")
        self.line(2, "@dcpy.process")
        self.line(2, "def take():")
        self.line(3, f"for i in range({ROUNDS}):")
        self.line(4, f"y[{ROWS - 1}, i] = c[{width}].pop()")


def source_of(seed: int) -> str:
    """The text of the network with this seed."""
    return _Writer(seed).text()


def arguments(seed: int) -> tuple[Any, ...]:
    """Small numbers, and room for what the processes note."""
    return np.random.default_rng(seed).integers(-3, 4, 12).astype(float), np.zeros((ROWS, ROUNDS))


def reference(seed: int) -> tuple[Callable[..., Any], tuple[Any, ...], Any]:
    """The function, its arguments, and what Python makes of them."""
    with np.errstate(all="ignore"):
        function, given = define(source_of(seed)), arguments(seed)
        return function, given, outcome(function, given)


def check_interpreted(seed: int) -> str:
    """Compares Python and the interpreter; what Python did, in a word."""
    with np.errstate(all="ignore"):
        function, given, expected = reference(seed)
        for simplify, strict in ((False, False), (True, False), (True, True)):
            agree(outcome(interpreted(function, simplify=simplify, strict=strict), given), expected, RTOL)
    return "ran" if expected[1] is None else str(expected[1]).split()[0].strip(":")


def check_transformed(seed: int, limit: int = 2) -> int:
    """Applies each transformation where it may be, one at a time; how many."""
    from dcpy.ir.interp import run as interpret

    count = 0
    with np.errstate(all="ignore"):
        function, given, expected = reference(seed)
        sdfg = dcpy.program(function).to_sdfg(*given)
        for application in applications(sdfg, limit):
            changed = application.changed()

            def run(*mine: Any, changed: Any = changed) -> Any:
                return interpret(changed, dict(zip(changed.arguments, mine, strict=True)))

            agree(outcome(run, given), expected, RTOL)
            count += 1
    return count


def check_compiled(seed: int, times: int = 3) -> None:
    """Compares Python and compiled code, a few times, plain and optimized in turn."""
    with np.errstate(all="ignore"):
        function, given, expected = reference(seed)
        program = dcpy.program(function, auto_optimize=bool(zlib.crc32(str(seed).encode()) % 2))
        for _ in range(times):
            agree(outcome(program, given), expected, RTOL)


def _too_long(*_: object) -> None:
    raise TimeoutError("still running")


def main(count: int, first: int = 0, every: int = 10) -> int:
    """Checks so many networks; 1 if one differs."""
    found: Counter[str] = Counter()
    failed = 0
    signal.signal(signal.SIGALRM, _too_long)
    for seed in range(first, first + count):
        try:
            signal.alarm(SECONDS)
            found[check_interpreted(seed)] += 1
            if seed % every == 0:
                check_compiled(seed)
                found["compiled"] += 1
            if seed % every == 1:
                found["transformed"] += check_transformed(seed)
        except Exception as error:  # whatever it is: the seed is what counts
            failed += 1
            print(f"seed {seed}: {type(error).__name__}: {error}\n{source_of(seed)}", flush=True)
    print(f"{count} networks: {dict(found)}; {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
