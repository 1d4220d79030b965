"""Programs of many ranks in DaCe's spelling, as its users write them: `dace.comm`, and NumPy on what a rank has.

Products on grids are not here: DaCe's are ScaLAPACK's. Tags are arguments, as DaCe 2.0.0b1 refuses numbers for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dace
import numpy as np
from dace.sdfg import utils
from dace.transformation.auto.auto_optimize import auto_optimize
from mpi4py import MPI

n, m, k = dace.symbol("n"), dace.symbol("m"), dace.symbol("k")
Request = dace.opaque("MPI_Request")


@dace.program
def doitgen(A: dace.float64[n, m, k], C4: dace.float64[k, k]):
    """No message."""
    A[:] = A @ C4


@dace.program
def gesummv(
    alpha: dace.float64, beta: dace.float64, A: dace.float64[n, m], B: dace.float64[n, m], x: dace.float64[m],
    y: dace.float64[n],
):  # fmt: skip
    """No message: x is everywhere."""
    y[:] = alpha * (A @ x) + beta * (B @ x)


@dace.program
def atax(A: dace.float64[n, m], x: dace.float64[m], y: dace.float64[m]):
    """A part of A x, times these rows, summed."""
    y[:] = (A @ x) @ A
    dace.comm.Allreduce(MPI.IN_PLACE, y, MPI.SUM)


@dace.program
def bicg(A: dace.float64[n, m], p: dace.float64[m], r: dace.float64[n], s: dace.float64[m], q: dace.float64[n]):
    """One is summed."""
    s[:] = r @ A
    dace.comm.Allreduce(MPI.IN_PLACE, s, MPI.SUM)
    q[:] = A @ p


@dace.program
def mvt(
    x1: dace.float64[n], x2: dace.float64[m], y1: dace.float64[m], y2: dace.float64[n], A: dace.float64[n, m],
    t: dace.float64[m],
):  # fmt: skip
    """One is summed."""
    x1 += A @ y1
    t[:] = y2 @ A
    dace.comm.Allreduce(MPI.IN_PLACE, t, MPI.SUM)
    x2 += t


@dace.program
def jacobi_1d(
    steps: dace.int32, A: dace.float64[n], B: dace.float64[n], before: dace.int32, behind: dace.int32, up: dace.int32,
    down: dace.int32,
):  # fmt: skip
    """Two messages each way for each step."""
    requests = np.empty((4,), dtype=Request)
    for _ in range(1, steps):
        dace.comm.Isend(A[1], before, up, requests[0])
        dace.comm.Isend(A[n - 2], behind, down, requests[1])
        dace.comm.Irecv(A[0], before, down, requests[2])
        dace.comm.Irecv(A[n - 1], behind, up, requests[3])
        dace.comm.Waitall(requests)
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        dace.comm.Isend(B[1], before, up, requests[0])
        dace.comm.Isend(B[n - 2], behind, down, requests[1])
        dace.comm.Irecv(B[0], before, down, requests[2])
        dace.comm.Irecv(B[n - 1], behind, up, requests[3])
        dace.comm.Waitall(requests)
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@dace.program
def jacobi_2d(
    steps: dace.int32, A: dace.float64[n, m], B: dace.float64[n, m], before: dace.int32, behind: dace.int32,
    up: dace.int32, down: dace.int32,
):  # fmt: skip
    """Two messages each way for each step."""
    requests = np.empty((4,), dtype=Request)
    for _ in range(1, steps):
        dace.comm.Isend(A[1], before, up, requests[0])
        dace.comm.Isend(A[n - 2], behind, down, requests[1])
        dace.comm.Irecv(A[0], before, down, requests[2])
        dace.comm.Irecv(A[n - 1], behind, up, requests[3])
        dace.comm.Waitall(requests)
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        dace.comm.Isend(B[1], before, up, requests[0])
        dace.comm.Isend(B[n - 2], behind, down, requests[1])
        dace.comm.Irecv(B[0], before, down, requests[2])
        dace.comm.Irecv(B[n - 1], behind, up, requests[3])
        dace.comm.Waitall(requests)
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def _results_of(name: str, given: Sequence[Any]) -> list[Any]:
    """Where programs that return something write it, and where messages go."""
    made: dict[str, Callable[[], list[Any]]] = {
        "atax": lambda: [np.empty(given[0].shape[1])],
        "bicg": lambda: [np.empty(given[0].shape[1]), np.empty(given[0].shape[0])],
        "gesummv": lambda: [np.empty(given[2].shape[0])],
        "mvt": lambda: [np.empty(given[4].shape[1])],
        "jacobi_1d": _neighbours,
        "jacobi_2d": _neighbours,
    }
    return made[name]() if name in made else []


def _neighbours() -> list[int]:
    world = MPI.COMM_WORLD
    behind = world.rank + 1 if world.rank + 1 < world.size else MPI.PROC_NULL
    return [world.rank - 1 if world.rank else MPI.PROC_NULL, behind, 1, 2]


PROGRAMS = {each.f.__name__: each for each in (atax, bicg, doitgen, gesummv, jacobi_1d, jacobi_2d, mvt)}


def compiled(names: Sequence[str]) -> dict[str, Callable[..., None]]:
    """The programs of some kernels, compiled by the first rank, as functions of the kernels' arguments."""
    return {name: _function(name) for name in names or PROGRAMS if name in PROGRAMS}


def _function(name: str) -> Callable[..., None]:
    sdfg = auto_optimize(PROGRAMS[name].to_sdfg(simplify=True), dace.DeviceType.CPU)
    program = utils.distributed_compile(sdfg, MPI.COMM_WORLD)
    order = list(PROGRAMS[name].signature.parameters)

    def call(*given: Any) -> None:
        values = dict(zip(order, [*given, *_results_of(name, given)], strict=True))
        arrays = [values[each] for each in order if isinstance(values[each], np.ndarray)]
        largest = max(arrays, key=lambda each: each.ndim)
        sizes = dict(zip("nmk", largest.shape, strict=False))
        program(**values, **{size: number for size, number in sizes.items() if size in sdfg.free_symbols})

    return call
