"""``python -m benchmarks.distances [NAME ...]``: how far kernels of NPBench are from what the processor could do.

Of each: milliseconds of a call, what the model of time says, the least that it says of any schedule (all cores, full
vectors, each line of memory moved once), the share of that in the call, and the nest that takes longest, with what
bounds it (decision 0191). Where nests run as often as data say, the model counts what is typical.

Sizes are those of the campaign's large preset; ``--preset S`` takes others. Run `dcpy doctor --cpu` first, else the
model is that of a server's processor.
"""

from __future__ import annotations

import argparse
import copy
import json
import tempfile
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import dcpy
from benchmarks.npbench import kernels

CAMPAIGN = Path(__file__).parent / "results" / "npbench.json"
CALLS = 7


def milliseconds(program: Any, arguments: Mapping[str, Any]) -> float:
    """The median of calls, each with arguments of its own."""
    times = []
    for _ in range(CALLS + 1):
        fresh = copy.deepcopy(arguments)
        start = time.perf_counter()
        program(*fresh.values())
        times.append(time.perf_counter() - start)
    return 1e3 * median(times[1:])


def row(name: str, preset: str) -> str:
    """A line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        program = dcpy.program(kernels()[name].function, auto_optimize=True, cache_dir=folder)
        arguments = kernels()[name].initialize(preset)
        taken = milliseconds(program, arguments)
        points = program.roofline(*arguments.values()).points
    modelled, least = 1e3 * sum(each.seconds for each in points), 1e3 * sum(each.least for each in points)
    worst = max(points, key=lambda each: each.seconds, default=None)
    nest = "" if worst is None else f"{worst.title}, {worst.bound} ({1e3 * worst.seconds:.2f} ms)"
    return f"| {name} ({preset}) | {taken:.2f} | {modelled:.2f} | {least:.2f} | {least / taken:.0%} | {nest} |"


def main() -> None:
    """A line for each kernel."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distances")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--preset", default="large")
    given = parser.parse_args()
    large = json.loads(CAMPAIGN.read_text())["large"]
    warnings.simplefilter("ignore")
    print("| kernel | a call, ms | by the model | at least | share | what takes longest |\n|---|---|---|---|---|---|")
    with np.errstate(all="ignore"):
        for name in given.names or tuple(kernels()):
            print(row(name, large[name] if given.preset == "large" else given.preset), flush=True)


if __name__ == "__main__":
    main()
