"""``python -m benchmarks.clusters [RANKS ...] [NAME ...]``: kernels of the paper's figure 12, more ranks, more work.

Sizes grow with the ranks as the paper's do, from smaller ones: a rank has as much to do as one alone. Each has one
thread. Ranks that share processors cannot be faster than these: efficiency is the time of one rank, times the ranks
that share a processor, over the time that it took. Without initial distribution, as there; milliseconds, medians of
calls after one that does not count. What the kernels compute is tested elsewhere (tests/mpi).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import dcpy
from dcpy.base.options import environment_of_ranks
from dcpy.cli.ranks import command_for

RANKS, TIMES = (1, 2, 4, 8), 7


def atax(A, x):
    """A matrix twice."""
    return (A @ x) @ A


def bicg(A, p, r):
    """A matrix, and its transpose."""
    return r @ A, A @ p


def doitgen(A, C4):
    """One small matrix for each row of planes."""
    A[:] = A @ C4


def gemm(alpha, beta, C, A, B):
    """A product."""
    C[:] = alpha * A @ B + beta * C


def gesummv(alpha, beta, A, B, x):
    """Two matrices."""
    return alpha * A @ x + beta * B @ x


def jacobi_1d(steps, A, B):
    """A stencil on a line: hardly any work between messages."""
    for _ in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def jacobi_2d(steps, A, B):
    """A stencil in the plane."""
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def mvt(x1, x2, y1, y2, A):
    """A matrix and its transpose, added to what is there."""
    x1 += A @ y1
    x2 += y2 @ A


#: kernel -> numbers and shapes of its arguments, with the work of so many ranks
ARGUMENTS: dict[Callable[..., Any], Callable[[int], list[Any]]] = {
    atax: lambda p: [(_root(2000, p, 2), _root(2500, p, 2)), (_root(2500, p, 2),)],
    bicg: lambda p: [(_root(2500, p, 2), _root(2000, p, 2)), (_root(2000, p, 2),), (_root(2500, p, 2),)],
    doitgen: lambda p: [(16 * p, 128, 128), (128, 128)],
    gemm: lambda p: [1.5, 1.25, *((_root(n, p, 3), _root(m, p, 3)) for n, m in ((800, 920), (800, 520), (520, 920)))],
    gesummv: lambda p: [1.5, 1.25, *[(_root(2240, p, 2),) * 2] * 2, (_root(2240, p, 2),)],
    jacobi_1d: lambda p: [500, (24000 * p,), (24000 * p,)],
    jacobi_2d: lambda p: [20, *[(_root(1300, p, 2),) * 2] * 2],
    mvt: lambda p: [*[(_root(2200, p, 2),)] * 4, (_root(2200, p, 2),) * 2],
}
GRID_OF_ONE_AXIS = ("doitgen", "jacobi_1d")  # first dimensions alone are cut
KERNELS = {kernel.__name__: kernel for kernel in ARGUMENTS}


def _root(size: int, ranks: int, dims: int) -> int:
    return round(size * ranks ** (1 / dims))


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
    dealt = min(value.ndim, len(grid.sizes))
    return dcpy.distribute(value, grid, ("block",) * dealt + (None,) * (value.ndim - dealt))


def timed(ranks: int, names: list[str]) -> dict[str, float]:
    """Seconds of each kernel in one job."""
    own = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = command_for(ranks, ["-m", "benchmarks.clusters", "--rank", *names])
    done = subprocess.run(command, env=environment_of_ranks(ranks) | own, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(words: list[str]) -> int:
    """A line for each kernel: the time of one rank, then times and efficiencies of more."""
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
    times, processors = {ranks: timed(ranks, names) for ranks in counts}, len(os.sched_getaffinity(0))
    print(f"| kernel | {' | '.join(f'{ranks} ranks' if ranks > 1 else '1 rank' for ranks in counts)} |")
    print("|---" * (len(counts) + 1) + "|")
    for name in names:
        cells = [
            f"{1e3 * times[ranks][name]:.2f} ({times[1][name] * max(1, ranks / processors) / times[ranks][name]:.0%})"
            for ranks in counts
        ]
        print(f"| {name} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        on_ranks(sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
