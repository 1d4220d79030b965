"""``python -m benchmarks.model``: does the model of time order two versions of a nest as the clock does?

Measures the processor (as `dcpy doctor --cpu` does) and both versions of each pair (`benchmarks.model_pairs`) in turn,
prints both beside what the model says, and how many pairs it orders right. Times that differ by less than a tenth are
equal: either order is right. ``--keep`` writes the table, which a test holds the model to (`results/model.json`).

What runs on one core is measured in processor time, which neighbours disturb least; what threads do, by the clock: on a
busy machine that says nothing, and ``--no-threads`` leaves it out.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import dcpy
from benchmarks.model_pairs import PAIRS, Pair
from dcpy import driver
from dcpy.base.errors import ExpansionError
from dcpy.base.options import resolve_options
from dcpy.ir.analysis.costs.nest_time import nest_times
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import parse_sdfg
from dcpy.targets.cost_overrides import with_figures
from dcpy.targets.cpu.calibration import measure as measure_processor

TABLE = Path(__file__).parent / "results" / "model.json"
EQUAL = 1.1  #: times that differ by less are
ROUNDS, ROUND = 15, 0.002  #: of both versions in turn, and the seconds of calls that one round takes at least
NAMES = ("N", "M", "K")


@dataclass(frozen=True)
class Measured:
    """One pair at one size: seconds before and after the transformation."""

    name: str
    sizes: tuple[int, ...]
    before: float
    after: float


def modelled(pair: Pair, sizes: tuple[int, ...], costs: Costs) -> tuple[float, float]:
    """What the model says, in seconds."""
    known = dict(zip(NAMES, sizes, strict=False))
    times = []
    for _, text in pair.texts():
        lowered = lower(text, pair.threads)
        times.append(sum(found.seconds for found in nest_times(lowered.body, known, Uses(lowered), costs)))
    return times[0], times[1]


def lower(text: str, threads: bool) -> Sdfg:
    """A program as it is compiled."""
    options = resolve_options({"cpu.openmp": threads})
    return driver.lower(parse_sdfg(text), options)[0]


def measured(pair: Pair, sizes: tuple[int, ...]) -> Measured:
    """Seconds of both versions: the least of some rounds in turn."""
    clock = time.perf_counter if pair.threads else time.thread_time
    known = dict(zip(NAMES, sizes, strict=False))
    calls = [_call(text, known, pair.threads) for _, text in pair.texts()]
    counts = [_count(call, clock) for call in calls]
    rounds = [[_seconds(call, count, clock) for call, count in zip(calls, counts, strict=True)] for _ in range(ROUNDS)]
    return Measured(pair.name, sizes, min(before for before, _ in rounds), min(after for _, after in rounds))


def _call(text: str, sizes: Mapping[str, int], threads: bool) -> Callable[[], object]:
    compiled = dcpy.parse(text).compile(**{"cpu.openmp": threads})
    given = {name: desc for name, desc in parse_sdfg(text).containers.items() if not desc.transient}
    arguments = {name: np.full([dim.evaluate(sizes) for dim in desc.shape], 0.5) for name, desc in given.items()}
    return lambda: compiled(**arguments)


def _count(call: Callable[[], object], clock: Callable[[], float]) -> int:
    """How many calls take long enough to be timed."""
    call()
    alone = _seconds(call, 1, clock)
    return max(1, int(ROUND / max(alone, 1e-6)))


def _seconds(call: Callable[[], object], count: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count


def is_right(real: Measured, model: tuple[float, float]) -> bool:
    """Whether the model orders a pair as it was measured; where both are equal, any order is right."""
    was, says = real.after / real.before, model[1] / model[0]
    if 1 / EQUAL < was < EQUAL:
        return True
    return says <= 1.0 if was < 1 else says >= 1.0


def judged(table: Mapping[str, object]) -> Iterator[tuple[Measured, tuple[float, float]]]:
    """Each pair of a table, and what the model says of it for the processor of the table."""
    pairs = {pair.name: pair for pair in PAIRS}
    costs = with_figures(COSTS, table["processor"])  # type: ignore[arg-type]
    for row in table["pairs"]:  # type: ignore[attr-defined]
        real = Measured(row["name"], tuple(row["sizes"]), row["before"], row["after"])
        if real.name in pairs:
            yield real, modelled(pairs[real.name], real.sizes, costs)


def main(words: list[str]) -> int:
    """Measures and prints; returns an exit code."""
    try:
        blas = driver.environment_of("openblas")
    except ExpansionError:
        blas = None
    figures = measure_processor(resolve_options(), blas)
    chosen = [pair for pair in PAIRS if "--no-threads" not in words or not pair.threads]
    rows = [asdict(measured(pair, sizes)) for pair in chosen for sizes in pair.sizes]
    table: dict[str, object] = {"processor": figures, "pairs": rows}
    if "--keep" in words:
        TABLE.write_text(json.dumps(table, indent=1) + "\n")
    return report(table)


def report(table: Mapping[str, object]) -> int:
    """Prints a table and the model's answers."""
    right = total = 0
    print(f"{'pair':30} {'sizes':>18} {'before':>12} {'after':>12} {'model before':>13} {'after':>12}")
    for real, model in judged(table):
        good = is_right(real, model)
        right, total = right + good, total + 1
        times = "".join(f"{seconds * 1e6:10.1f} µs" for seconds in (real.before, real.after, *model))
        print(f"{real.name:30} {'x'.join(map(str, real.sizes)):>18}{times}  {'' if good else 'WRONG'}")
    print(f"{right} of {total} pairs are ordered right ({right / max(total, 1):.0%})")
    return 0


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(report(json.loads(TABLE.read_text())) if "--kept" in words else main(words))
