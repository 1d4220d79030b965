"""Random schedules of random programs: every accepted step is verified, and interpreted against the original.

`python -m tests.fuzz.schedules N [SEED]` runs a campaign and prints how often each transformation was accepted; what
differs is printed with its program and its history. In turn, programs are loop nests and functions of NumPy, which is
then asked as well; some schedules are compiled in the end. Numbers are integers, so any order of a sum gives the same.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import Refusal, Transformation, matches, perform
from dcpy.transforms.catalog import TRANSFORMATIONS
from dcpy.transforms.history import replay
from tests.fuzz.chains import Chains
from tests.fuzz.nests import Nests
from tests.support.compiled import compile_sdfg
from tests.support.expect import assert_same_outcome, outcome, random_arguments

LONGEST = 9000  # characters of a program that is transformed further
TRIES = 8  # transformations that are drawn for one step, until one of them applies
SIZES = (
    {"N": 0, "M": 3, "T": 1}, {"N": 1, "M": 2, "T": 0}, {"N": 3, "M": 4, "T": 3}, {"N": 4, "M": 1, "T": 5},
)  # fmt: skip

Draw = Callable[[random.Random], dict[str, Any]]
PARAMETERS: dict[str, Draw] = {  # of those that have some; the others are drawn as they are
    "augmented-assignment-to-wcr": lambda r: {"loops": r.random() < 0.7},
    "buffer-tiling": lambda r: {"size": r.randint(1, 3), "axes": r.randint(1, 2)},
    "expand-library-node": lambda r: {"prefer": r.choice(((), ("pure",), ("maps",)))},
    "loop-distribution": lambda r: {"at": r.randint(1, 2)},
    "loop-fusion": lambda r: {"shift": r.randint(-1, 2)},
    "loop-peeling": lambda r: {"count": r.randint(1, 2), "last": r.random() < 0.5},
    "loop-skewing": lambda r: {"factor": r.choice((-2, -1, 1, 2))},
    "loop-unroll": lambda r: {"factor": r.choice((0, 2, 3))},
    "map-collapse": lambda r: {"allow_dependent": r.random() < 0.5},
    "map-expansion": lambda r: {"count": r.randint(1, 2)},
    "map-fission": lambda r: {"at": r.randint(1, 2)},
    "map-fusion": lambda r: {"keep_intermediate": r.random() < 0.2},
    "map-tiling": lambda r: {"sizes": r.choice(((2,), (2, 3), (3, 2)))},
    "stencil-tiling": lambda r: {"size": r.randint(1, 3), "axes": r.randint(1, 2)},
    "strip-mining": lambda r: {"size": r.randint(1, 3)},
    "subgraph-fusion": lambda r: {"rank": r.randint(0, 2), "small": r.random() < 0.7},
    "time-tiling": lambda r: {"steps": r.randint(1, 3), "sizes": r.choice(((1,), (2,), (2, 3), (3, 2)))},
    "unroll-and-jam": lambda r: {"factor": r.randint(2, 3)},
}
#: what schedules are made of, each of which a campaign is to apply
SCHEDULING = (
    "accumulate-transient", "buffer-tiling", "common-subexpression-elimination", "double-buffering",
    "expand-library-node", "horizontal-fusion", "in-local-storage", "loop-distribution", "loop-fusion",
    "loop-interchange", "loop-peeling", "loop-reversal", "loop-skewing", "loop-to-map", "loop-unroll", "map-collapse",
    "map-expansion", "map-fission", "map-fusion", "map-inlining", "map-interchange", "map-tiling", "map-to-for-loop",
    "move-loop-into-map", "move-map-into-loop", "out-local-storage", "parallelization", "recompute-fusion",
    "scalar-expansion", "scalar-replacement", "state-fusion", "stencil-tiling", "strip-mining", "subgraph-fusion",
    "time-tiling", "transient-reuse", "unroll-and-jam", "vectorization",
)  # fmt: skip
#: those of them that apply at few places
RARE = (
    "accumulate-transient", "common-subexpression-elimination", "double-buffering", "expand-library-node",
    "loop-distribution", "loop-fusion", "map-collapse", "map-fission", "map-inlining", "map-interchange",
    "move-map-into-loop", "scalar-replacement", "time-tiling",
)  # fmt: skip
#: what may come between: passes that simplify, and versions for what is found out at run time
OTHERS = (
    "augmented-assignment-to-wcr", "constant-propagation", "dead-branch-elimination", "dead-dataflow-elimination",
    "dead-state-elimination", "empty-state-elimination", "extremum-reduction", "loop-versioning", "map-versioning",
    "redundant-copy-removal", "redundant-view-removal", "scalar-to-symbol-promotion", "symbol-propagation",
    "trivial-loop-elimination", "trivial-map-elimination", "unused-container-elimination",
    "wcr-to-augmented-assignment",
)  # fmt: skip


@dataclass
class Campaign:
    """What is drawn from, and how often each transformation was accepted."""

    names: tuple[str, ...] = (*SCHEDULING, *SCHEDULING, *RARE, *RARE, *RARE, *OTHERS)
    steps: int = 8
    compiled: int = 10  #: every so many schedules is compiled in the end; 0: none

    def __post_init__(self) -> None:
        self.accepted: Counter[str] = Counter()

    def check(self, seed: int) -> None:
        """One program under a random schedule; `AssertionError` where a step changes what it computes."""
        chance = random.Random(seed)
        chains = Chains(chance) if seed % 2 else None
        before = Nests(chance).program() if chains is None else chains.program()
        after = copy_sdfg(before)
        first = len(after.history)
        given = [random_arguments(before, sizes, seed=sum(sizes.values())) for sizes in SIZES]
        expected = [
            [outcome(before, *both, strict) for strict in (False, True)] for both in zip(given, SIZES, strict=True)
        ]
        for step in range(self.steps):
            if not self._step(after, chance):
                break
            for number, strict in ((step % len(SIZES), True), ((step + 2) % len(SIZES), False)):
                found = outcome(after, given[number], SIZES[number], strict)
                _compare(found, expected[number][strict], before, after, f"seed {seed}")
            if len(print_sdfg(after)) > LONGEST:
                break
        for arguments, sizes, right in zip(given, SIZES, expected, strict=True):
            for strict in (False, True):
                _compare(outcome(after, arguments, sizes, strict), right[strict], before, after, f"seed {seed}")
        where = f"seed {seed}: {after.history[first:]}"
        assert print_sdfg(replay(copy_sdfg(before), after.history[first:])) == print_sdfg(after), where
        if chains is not None:
            for arguments, right in zip(given, expected, strict=True):
                _compare(_of_call(chains.function(), arguments), right[0], before, after, f"NumPy, seed {seed}")
        if self.compiled and seed % self.compiled in (0, 1):
            compiled = compile_sdfg(after)
            for arguments, right in zip(given, expected, strict=True):
                _compare(_of_call(compiled, arguments), right[0], before, after, f"compiled, seed {seed}")

    def _step(self, sdfg: Sdfg, chance: random.Random) -> bool:
        """Applies one of some transformations at a random match that allows it; whether there is one."""
        for _ in range(TRIES):
            name = chance.choice(self.names)
            transformation = TRANSFORMATIONS[name](**PARAMETERS.get(name, lambda _: {})(chance))
            if _applied(sdfg, transformation, chance):
                self.accepted[name] += 1
                return True
        return False


def _applied(sdfg: Sdfg, transformation: Transformation[Any], chance: random.Random) -> bool:
    rw = Rewriter(sdfg, transformation.name, check=True)
    found = list(matches(transformation, sdfg, rw.uses))
    chance.shuffle(found)
    for match in found:
        plan = transformation.plan(match)
        if not isinstance(plan, Refusal):
            perform(transformation, match, plan, rw)
            return True
    return False


def _of_call(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """What a function makes of a copy of the arguments."""
    mine = {name: value.copy() for name, value in arguments.items()}
    function(**mine)
    return mine


def _compare(found: Any, right: Any, before: Sdfg, after: Sdfg, what: str) -> None:
    try:
        assert_same_outcome(found, right, {"of": what})
    except AssertionError as error:
        text = f"{what}: {after.history}\n{print_sdfg(before)}\n{print_sdfg(after)}"
        raise AssertionError(f"{text}\n{error}") from error


def run(count: int, seed: int, campaign: Campaign) -> int:
    """A campaign; returns how many programs differ."""
    failures = 0
    for number in range(seed, seed + count):
        try:
            with np.errstate(all="ignore"):
                campaign.check(number)
        except Exception as error:
            failures += 1
            print(f"seed {number}: {type(error).__name__}: {error}\n", flush=True)
    return failures


def main(words: list[str]) -> int:
    """A campaign; 1 where a program differs."""
    count, seed = int(words[0]) if words else 200, int(words[1]) if len(words) > 1 else 0
    campaign = Campaign()
    failures = run(count, seed, campaign)
    for name in dict.fromkeys(campaign.names):
        print(f"{name:34} {campaign.accepted[name]:6}")
    print(f"{count} schedules, {campaign.accepted.total()} steps, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
