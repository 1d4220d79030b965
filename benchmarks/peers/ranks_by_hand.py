"""``python -m benchmarks.peers.ranks_by_hand WAY [NAME ...]``, on each rank: kernels as people write them for MPI.

Each rank has rows of matrices, or planes, or a part of a line, and says what it sends. WAY is mpi4py (NumPy, and
messages by hand) or dace (programs of `benchmarks.peers.dace_ranks`). Vectors along columns are on all ranks. Runs
where the peer is installed, and needs nothing of dcpy; the first rank prints seconds by kernel.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from benchmarks.cluster_kernels import ARGUMENTS, KERNELS
from benchmarks.peers.toolchains import for_dace

WORLD, TIMES = MPI.COMM_WORLD, 7
Local = Callable[..., Any]


def _sum(part: np.ndarray) -> np.ndarray:
    total = np.empty_like(part)
    WORLD.Allreduce(part, total)
    return total


def atax(A, x):
    """A part of A x, times these rows, summed."""
    return _sum((A @ x) @ A)


def bicg(A, p, r):
    """One is summed."""
    return _sum(r @ A), A @ p


def doitgen(A, C4):
    """No message."""
    A[:] = A @ C4


def gesummv(alpha, beta, A, B, x):
    """No message: x is everywhere."""
    return alpha * A @ x + beta * B @ x


def mvt(x1, x2, y1, y2, A):
    """One is summed."""
    x1 += A @ y1
    x2 += _sum(y2 @ A)


def _swap(x: np.ndarray) -> None:
    """First and last rows go to the neighbours."""
    before = WORLD.rank - 1 if WORLD.rank else MPI.PROC_NULL
    behind = WORLD.rank + 1 if WORLD.rank + 1 < WORLD.size else MPI.PROC_NULL
    WORLD.Sendrecv(x[1:2], before, recvbuf=x[-1:], source=behind)
    WORLD.Sendrecv(x[-2:-1], behind, recvbuf=x[:1], source=before)


def jacobi_1d(steps, A, B):
    """Two messages each way for each step."""
    for _ in range(1, steps):
        _swap(A)
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        _swap(B)
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def jacobi_2d(steps, A, B):
    """Two messages each way for each step."""
    for _ in range(1, steps):
        _swap(A)
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        _swap(B)
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


BY_MPI4PY = {each.__name__: each for each in (atax, bicg, doitgen, gesummv, jacobi_1d, jacobi_2d, mvt)}
#: which arguments are dealt along their first dimension; others are whole on all ranks
DEALT = {"atax": (0,), "bicg": (0, 2), "doitgen": (0,), "gesummv": (2, 3), "jacobi_1d": (1, 2), "jacobi_2d": (1, 2),
         "mvt": (0, 3, 4)}  # fmt: skip
FRAMED = ("jacobi_1d", "jacobi_2d")  # a rank has a row of each neighbour, too


def part_of(name: str, number: int, value: Any, draw: np.random.Generator) -> Any:
    """What this rank has of an argument: a number, or an array of a shape."""
    if not isinstance(value, tuple):
        return value
    rows, *rest = value
    if number in DEALT[name]:
        rows = rows // WORLD.size + (WORLD.rank < rows % WORLD.size) + 2 * (name in FRAMED)
    return draw.random((rows, *rest))


def seconds(name: str, kernel: Local) -> float:
    """The median of some calls, after one that does not count, of the slowest rank."""
    draw, times = np.random.default_rng(0), []
    wanted = ARGUMENTS[KERNELS[name]](WORLD.size)
    given = [part_of(name, number, each, draw) for number, each in enumerate(wanted)]
    for _ in range(TIMES + 1):
        WORLD.Barrier()
        start = time.perf_counter()
        kernel(*given)
        WORLD.Barrier()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def _by_dace(names: list[str]) -> dict[str, Local]:
    if WORLD.rank == 0:
        for_dace(Path.cwd())
    WORLD.Barrier()
    programs: dict[str, Local] = importlib.import_module("benchmarks.peers.dace_ranks").compiled(names)
    return programs


def main(words: list[str]) -> int:
    """Prints seconds by kernel."""
    way, *names = words
    kernels = BY_MPI4PY if way == "mpi4py" else _by_dace(names)
    found = {name: seconds(name, kernels[name]) for name in names or kernels if name in kernels}
    if WORLD.rank == 0:
        print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
