"""``python -m benchmarks.regret [NAME ...]``: how much slower than the best schedule is the one that dcpy chooses?

Each nest (`benchmarks.regret_nests`) is compiled as a user's program is, and with each order of its axes, the last one
in vectors or not, short ones written out. The regret of a choice is its time over that of the fastest of all; 1.0 is
none. One thread, in processor time, the least of some rounds in turn.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

import dcpy
from benchmarks.ab import geometric_mean
from benchmarks.regret_nests import NESTS, SHORT, Nest
from dcpy.base.errors import DcpyError

ROUNDS, ROUND = 9, 0.002  #: of all versions in turn, and the seconds of calls that one round takes at least
CHOSEN = "chosen"


def candidates(nest: Nest) -> Iterator[tuple[str, str]]:
    """Name and text of each schedule: an order of axes, with vectors along the last one that is not written out."""
    yield CHOSEN, nest.text(", ".join(f"{name} = {values}" for name, values in nest.axes.items()))
    short = [name for name, count in nest.counts.items() if count <= SHORT]
    for order in itertools.permutations(nest.axes):
        kept = [name for name in order if name not in short]
        yield from _scheduled(nest, order, ())
        if short and kept and list(order) == [*kept, *short]:
            yield from _scheduled(nest, tuple(kept), tuple(short))


def _scheduled(nest: Nest, order: Sequence[str], unrolled: Sequence[str]) -> Iterator[tuple[str, str]]:
    for last in ("vector", "sequential"):
        marks = {name: "sequential" for name in order[:-1]} | {order[-1]: last} | dict.fromkeys(unrolled, "unrolled")
        axes = " / ".join(f"{name} = {nest.axes[name]} @{mark}" for name, mark in marks.items())
        yield " ".join(f"{name}:{mark[0]}" for name, mark in marks.items()), nest.text(axes)


def called(text: str, arguments: Mapping[str, np.ndarray], auto: bool) -> Callable[[], object]:
    """A call of a version."""
    sdfg = dcpy.parse(text)
    if auto:
        sdfg.auto_optimize()
    compiled = sdfg.compile(**{"cpu.openmp": False})
    return lambda: compiled(**arguments)


def seconds(call: Callable[[], object], count: int) -> float:
    """Processor seconds of a call, of so many."""
    start = time.thread_time()
    for _ in range(count):
        call()
    return (time.thread_time() - start) / count


def measured(nest: Nest, sizes: Mapping[str, int]) -> dict[str, float]:
    """The seconds of each version by its name: the least of some rounds in turn."""
    arguments = nest.made(sizes)  # the same for all: where memory lies matters
    calls: dict[str, Callable[[], object]] = {}
    for name, text in candidates(nest):
        try:
            calls[name] = called(text, arguments, name == CHOSEN)
            calls[name]()
        except DcpyError as error:
            calls.pop(name, None)
            if name == CHOSEN:
                raise
            print(f"  {nest.name}, {name}: {str(error).splitlines()[0][:100]}", file=sys.stderr)
    counts = {name: max(1, int(ROUND / max(seconds(call, 1), 1e-6))) for name, call in calls.items()}
    found = dict.fromkeys(calls, math.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            found[name] = min(found[name], seconds(call, counts[name]))
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Prints the table, the largest regret last, and its mean."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regret", description=__doc__)
    parser.add_argument("names", nargs="*", help="regular expressions of nests; default: all")
    parser.add_argument("--json", default="", help="where to keep the times")
    chosen = parser.parse_intermixed_args(words)
    rows = []
    for nest in NESTS:
        if chosen.names and not any(re.search(each, nest.name) for each in chosen.names):
            continue
        for sizes in nest.sizes:
            times = measured(nest, sizes)
            best = min(times, key=times.__getitem__)
            regret = times[CHOSEN] / times[best]
            shown = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            rows.append({"name": nest.name, "sizes": sizes, "times": times, "regret": regret, "best": best})
            print(f"{nest.name:34}{shown:28}{times[CHOSEN] * 1e6:12.2f} µs{regret:7.2f}  {best}", flush=True)
            if chosen.json:
                Path(chosen.json).write_text(json.dumps(rows, indent=1))
    regrets = sorted(float(str(row["regret"])) for row in rows)
    print(f"{len(rows)} nests and sizes: geometric mean {geometric_mean(regrets):.3f}, worst {regrets[-1]:.2f}")
    return 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    raise SystemExit(main())
