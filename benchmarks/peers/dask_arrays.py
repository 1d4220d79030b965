"""``python -m benchmarks.peers.dask_arrays WORKERS [NAME ...]``: the kernels of `benchmarks.clusters` on Dask's arrays.

The functions are the same, the blocks are those of the ranks' grid, and are on the workers before the clock starts,
which stops when all of the result is computed, on the workers. Runs where Dask is installed; needs nothing of dcpy.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

import dask
import dask.array
import numpy as np
from dask.distributed import Client, LocalCluster, wait

from benchmarks.cluster_kernels import ARGUMENTS, GRID_OF_ONE_AXIS, KERNELS

TIMES, LONGEST = 7, 20.0  # calls that count, fewer where they take longer than so many seconds together


def on_workers(value: Any, grid: tuple[int, ...]) -> Any:
    """An array in as many blocks along its first dimensions as the grid has axes; numbers stay."""
    if not isinstance(value, np.ndarray):
        return value
    cuts = (*grid, *(1,) * value.ndim)[: value.ndim]
    chunks = tuple(-(-size // parts) for size, parts in zip(value.shape, cuts, strict=True))
    return dask.array.from_array(value, chunks=chunks).persist()


def grid_of(name: str, workers: int) -> tuple[int, ...]:
    """Workers in a line, or as square as they can be."""
    if name in GRID_OF_ONE_AXIS:
        return (workers,)
    rows = max(n for n in range(1, workers + 1) if workers % n == 0 and n * n <= workers)
    return workers // rows, rows


def seconds(name: str, workers: int) -> float:
    """The median of some calls, after one that does not count."""
    wanted, draw = ARGUMENTS[KERNELS[name]](workers), np.random.default_rng(0)
    given = [draw.random(each) if isinstance(each, tuple) else each for each in wanted]
    dealt = [on_workers(each, grid_of(name, workers)) for each in given]
    wait([each for each in dealt if isinstance(each, dask.array.Array)])
    times: list[float] = []
    while len(times) < TIMES + 1 and (len(times) < 2 or sum(times) < LONGEST):
        arrays = [_other_values(each, len(times)) for each in dealt]
        start = time.perf_counter()
        returned = KERNELS[name](*arrays)
        results = [returned] if returned is not None else [each for each in arrays if not isinstance(each, float | int)]
        wait(dask.persist(*results))
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def _other_values(value: Any, number: int) -> Any:
    """Another array, on the workers: of equal ones, Dask would find the result of the call before."""
    if not isinstance(value, dask.array.Array):
        return value
    made = (value * (1.0 + number / 1024)).persist()
    wait(made)
    return made


def main(words: list[str]) -> int:
    """Prints seconds by kernel."""
    workers, names = int(words[0]), words[1:] or list(KERNELS)
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        print(json.dumps({name: seconds(name, workers) for name in names}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
