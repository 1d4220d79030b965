"""``python -m benchmarks.clusters [RANKS ...] [NAME ...] [--peers]``: the paper's figure 12, more ranks, more work.

Sizes grow with the ranks as the paper's do, from smaller ones: a rank has as much to do as one alone. Each has one
thread. Ranks that share processors cannot be faster than these: efficiency is the time of one rank, times the ranks
that share a processor, over the time that it took. Without initial distribution, as there; milliseconds, medians of
calls after one that does not count. What the kernels compute is tested elsewhere (tests/mpi). With ``--peers``, what
people write by hand with mpi4py and in DaCe follows (`benchmarks.peers.ranks_by_hand`, where there is such a program),
and the same functions on arrays of Dask, with as many workers as ranks (`benchmarks.peers.dask_arrays`).
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

import dcpy
from benchmarks.cluster_kernels import ARGUMENTS, GRID_OF_ONE_AXIS, KERNELS
from benchmarks.peers import of_ranks
from dcpy.base.options import environment_of_ranks
from dcpy.cli.rank_launcher import command_for

RANKS, TIMES = (1, 2, 4, 8), 7


def on_ranks(names: list[str]) -> None:
    """What each rank does; the first one prints seconds by kernel."""
    grids, found, draw = {dims: dcpy.grid(dims=dims) for dims in (1, 2)}, {}, np.random.default_rng(0)
    world = grids[1].world
    for name in names:
        wanted = ARGUMENTS[KERNELS[name]](world.size)
        given = [draw.random(each) if isinstance(each, tuple) else each for each in wanted]
        dealt = [_dealt(name, each, grids[1 if name in GRID_OF_ONE_AXIS else 2]) for each in given]
        program, times = dcpy.program(KERNELS[name], distributed=True, auto_optimize=True), []
        for _ in range(TIMES + 1):
            world.most([0])
            start = time.perf_counter()
            program(*dealt)
            world.most([0])
            times.append(time.perf_counter() - start)
        found[name] = statistics.median(times[1:])
    if world.rank == 0:
        print(json.dumps(found))


def _dealt(name: str, value: Any, grid: Any) -> Any:
    """In blocks; the small factor of doitgen is on all ranks, and its planes are not cut."""
    if not isinstance(value, np.ndarray) or (name == "doitgen" and value.ndim == 2):
        return value
    return dcpy.distribute(value, grid)


def timed(ranks: int, names: list[str]) -> dict[str, float]:
    """Seconds of each kernel in one job."""
    own = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = command_for(ranks, ["-m", "benchmarks.clusters", "--rank", *names])
    done = subprocess.run(command, env=environment_of_ranks(ranks) | own, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(words: list[str]) -> int:
    """A line for each kernel: the time of one rank, then times and efficiencies of more."""
    peers = of_ranks.installed() if "--peers" in words else []
    words = [word for word in words if word != "--peers"]
    unknown = [word for word in words if word not in KERNELS and not word.isdecimal()]
    if unknown:
        print(f"{unknown[0]!r} is none of {', '.join(KERNELS)}, and no number of ranks")
        return 2
    try:
        command_for(1, [])
    except dcpy.DcpyError as error:
        print(f"skipped: {error.message} ({error.help})")
        return 2
    names = [word for word in words if word in KERNELS] or list(KERNELS)
    asked = [int(word) for word in words if word.isdecimal()] or RANKS
    counts = sorted({1, *asked})
    print(f"| kernel | {' | '.join(f'{ranks} ranks' if ranks > 1 else '1 rank' for ranks in counts)} |")
    print("|---" * (len(counts) + 1) + "|")
    own = {ranks: timed(ranks, names) for ranks in counts}
    for name in names:
        print(_line(name, {ranks: found[name] for ranks, found in own.items()}), flush=True)
        for peer in peers:
            times = {ranks: of_ranks.seconds(peer, ranks, name) for ranks in counts}
            if not all(map(math.isinf, times.values())):
                print(_line(f"{name}, {peer}", times), flush=True)
    return 0


def _line(title: str, times: dict[int, float]) -> str:
    """Milliseconds and efficiencies of a kernel; a dash where there is no time."""
    processors, cells = len(os.sched_getaffinity(0)), []
    for ranks, found in times.items():
        efficiency = times[1] * max(1, ranks / processors) / found
        share = f" ({efficiency:.0%})" if math.isfinite(efficiency) else ""
        cells.append("-" if math.isinf(found) else f"{1e3 * found:.2f}{share}")
    return f"| {title} | {' | '.join(cells)} |"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        on_ranks(sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
