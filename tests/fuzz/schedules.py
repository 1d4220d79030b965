"""Random schedules of random loop nests: every accepted step is verified, and interpreted against the original.

`python -m tests.fuzz.schedules N [SEED]` runs a campaign and prints how often each transformation was accepted; what
differs is printed with its program and its history. Numbers are integers, so any order of a sum gives the same.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.api import Refusal, Transformation, matches, perform
from dcpy.transforms.catalog import TRANSFORMATIONS
from dcpy.transforms.history import replay
from tests.support.expect import assert_same_outcome, outcome, random_arguments

SIDE, MIDDLE = 44, 16  # arrays have room for every index that is written
ARRAYS = "ABC"
LONGEST = 9000  # characters of a program that is transformed further
SIZES = ({"N": 0, "M": 3}, {"N": 1, "M": 2}, {"N": 3, "M": 4}, {"N": 4, "M": 1})

PARAMETERS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "horizontal-fusion": lambda r: {},
    "loop-distribution": lambda r: {"at": r.randint(1, 2)},
    "loop-interchange": lambda r: {},
    "loop-peeling": lambda r: {"count": r.randint(1, 2), "last": r.random() < 0.5},
    "loop-reversal": lambda r: {},
    "loop-skewing": lambda r: {"factor": r.choice((-2, -1, 1, 2))},
    "loop-to-map": lambda r: {},
    "loop-unroll": lambda r: {"factor": r.choice((0, 2, 3))},
    "map-collapse": lambda r: {"allow_dependent": r.random() < 0.5},
    "map-expansion": lambda r: {"count": r.randint(1, 2)},
    "map-fission": lambda r: {"at": r.randint(1, 2)},
    "map-fusion": lambda r: {},
    "map-interchange": lambda r: {},
    "map-tiling": lambda r: {"sizes": r.choice(((2,), (2, 3), (3, 2)))},
    "map-to-for-loop": lambda r: {},
    "move-loop-into-map": lambda r: {},
    "move-map-into-loop": lambda r: {},
    "parallelization": lambda r: {},
    "scalar-expansion": lambda r: {},
    "state-fusion": lambda r: {},
    "strip-mining": lambda r: {"size": r.randint(1, 3)},
    "unroll-and-jam": lambda r: {"factor": r.randint(2, 3)},
    "vectorization": lambda r: {},
}


class Nests:
    """Writes random programs of loops and maps over three arrays and a sum."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.count = 0

    def program(self) -> Sdfg:
        blocks = " ".join(self.block((), 0) for _ in range(self.chance.randint(1, 2)))
        arrays = ", ".join(f"{name}: i64[{SIDE}, {SIDE}]" for name in ARRAYS)
        return parse_sdfg(f"sdfg @f({arrays}, s: i64[]) symbols(N: size, M: size) {{ {blocks} }}")

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def block(self, params: tuple[str, ...], depth: int) -> str:
        if depth < 3 and self.chance.random() < (1.0, 0.7, 0.4)[depth]:
            return self.loop(params, depth)
        if self.chance.random() < 0.5:
            return f"state {{ {self.tasklets(params)} }}"
        ranges = [self.range(params) for _ in range(self.chance.randint(1, 2))]
        return f"state {{ {' '.join(self.map(params, ranges) for _ in range(self.chance.choice((1, 1, 2))))} }}"

    def loop(self, params: tuple[str, ...], depth: int) -> str:
        param = self.name("i")
        inside = (*params, param)
        temporary = ""
        count = self.chance.choice((1, 1, 1, 2))
        blocks = [self.block(inside, depth + 1) for _ in range(count)]
        if self.chance.random() < 0.2:
            name = self.name("t")
            temporary = f"data {name}: i64 transient"
            blocks.append(f"state {{ {self.through(name, inside)} }}")
        return f"loop {param} = {self.range(params)} {{ {temporary} {' '.join(blocks)} }}"

    def range(self, params: tuple[str, ...]) -> str:
        plain = ["0:N", "0:M", "1:N", "N - 1:-1:-1", "0:M:2", "0:3"]
        around = [f"0:{params[-1]} + 1", f"{params[-1]}:4"] if params else []
        return self.chance.choice((*plain, *around) if self.chance.random() < 0.4 else ("0:N", "0:M"))

    def tasklets(self, params: tuple[str, ...]) -> str:
        return " ".join(self.tasklet(params) for _ in range(self.chance.choice((1, 1, 2))))

    def tasklet(self, params: tuple[str, ...]) -> str:
        reads = ", ".join(f"a{n} <- {self.element(params)}" for n in range(2))
        if self.chance.random() < 0.15:
            return f"tasklet ({reads}) -> (o -> s (add)) {{ o = a0 - a1 }}"
        return f"tasklet ({reads}) -> (o -> {self.element(params)}) {{ o = (3*a0 + 5*a1 + 7) % 1009 }}"

    def through(self, name: str, params: tuple[str, ...]) -> str:
        first = f"tasklet (a <- {self.element(params)}) -> (o -> {name}) {{ o = a + 1 }}"
        return f"{first} tasklet (a <- {name}) -> (o -> {self.element(params)}) {{ o = a % 1009 }}"

    def element(self, params: tuple[str, ...]) -> str:
        return f"{self.chance.choice(ARRAYS)}[{self.index(params)}, {self.index(params)}]"

    def index(self, params: tuple[str, ...]) -> str:
        terms = [f"{self.chance.choice((-1, 1, 1, 1, 2))}*{name}" for name in params if self.chance.random() < 0.5]
        return " + ".join([*terms[:2], str(MIDDLE + self.chance.randint(-2, 2))])

    def map(self, params: tuple[str, ...], ranges: list[str]) -> str:
        """A map whose points do not depend on each other: each has an element of one array, and reads others."""
        mine = [self.name("m") for _ in ranges]
        axes = [f"{name} = {values}" for name, values in zip(mine, ranges, strict=True)]
        written = self.chance.choice(ARRAYS)
        own = f"{written}[{mine[0]} + {MIDDLE}, {mine[-1]} + {MIDDLE}]"
        others = [name for name in ARRAYS if name != written]
        reads = [f"{self.chance.choice(others)}[{self.index((*params, *mine))}, {self.index(params)}]" for _ in "ab"]
        body = f"tasklet (a <- {reads[0]}, b <- {own}) -> (o -> {own}) {{ o = (3*a + 5*b) % 1009 }}"
        if self.chance.random() < 0.5:
            body += f" tasklet (a <- {own}, b <- {reads[1]}) -> (o -> s (add)) {{ o = a - b }}"
        if self.chance.random() < 0.3:
            body = f"loop {self.name('k')} = 0:3 {{ state {{ {body} }} }}"
        if len(axes) == 2 and self.chance.random() < 0.5:
            return f"map {axes[0]} {{ map {axes[1]} {{ {body} }} }}"
        return f"map {', '.join(axes)} {{ {body} }}"


def check_schedule(seed: int, accepted: Counter[str], steps: int = 8) -> None:
    """One program under a random schedule; `AssertionError` where a step changes what it computes."""
    chance = random.Random(seed)
    before = Nests(chance).program()
    after = copy_sdfg(before)
    expected = [_outcomes(before, given) for given in SIZES]
    for _ in range(steps):
        name = chance.choice(list(PARAMETERS))
        if not _step(after, TRANSFORMATIONS[name](**PARAMETERS[name](chance)), chance):
            continue
        accepted[name] += 1
        for given, outcomes in zip(SIZES, expected, strict=True):
            for found, right in zip(_outcomes(after, given), outcomes, strict=True):
                try:
                    assert_same_outcome(found, right, given)
                except AssertionError as error:
                    text = f"seed {seed}: {after.history}\n{print_sdfg(before)}\n{print_sdfg(after)}"
                    raise AssertionError(f"{text}\n{error}") from error
        if len(print_sdfg(after)) > LONGEST:
            break
    assert print_sdfg(replay(copy_sdfg(before), after.history)) == print_sdfg(after), f"seed {seed}: {after.history}"


def _step(sdfg: Sdfg, transformation: Transformation[Any], chance: random.Random) -> bool:
    """Applies a transformation at a random match that allows it; whether there is one."""
    rw = Rewriter(sdfg, transformation.name, check=True)
    found = list(matches(transformation, sdfg, rw.uses))
    chance.shuffle(found)
    for match in found:
        plan = transformation.plan(match)
        if not isinstance(plan, Refusal):
            perform(transformation, match, plan, rw)
            return True
    return False


def _outcomes(sdfg: Sdfg, given: dict[str, int]) -> list[Any]:
    """What a program does, maps in order and in any order, watched for races."""
    arguments = random_arguments(sdfg, given, seed=sum(given.values()))
    return [outcome(sdfg, arguments, given, strict) for strict in (False, True)]


def main(words: list[str]) -> int:
    """A campaign; 1 where a program differs."""
    count, seed = int(words[0]) if words else 200, int(words[1]) if len(words) > 1 else 0
    accepted: Counter[str] = Counter()
    failures = 0
    for number in range(seed, seed + count):
        try:
            with np.errstate(all="ignore"):
                check_schedule(number, accepted)
        except Exception as error:
            failures += 1
            print(f"seed {number}: {type(error).__name__}: {error}\n")
    for name in PARAMETERS:
        print(f"{name:24} {accepted[name]:6}")
    print(f"{count} schedules, {sum(accepted.values())} steps, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
