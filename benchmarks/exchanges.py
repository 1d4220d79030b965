"""``python -m benchmarks.exchanges [N ...]``: jacobi_2d on 4 ranks, beside persistent requests written by hand.

One job, in which dcpy, C and mpi4py (with NumPy) take turns on N x N elements; each rank has one thread. Times are
medians, in microseconds for one sweep and the exchange before it: of few elements, that is the exchange. They are what
a call of three times as many steps takes longer: what a call of dcpy does before and after its steps is not in them.
"""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import dcpy
from dcpy.base.options import environment_of_ranks
from dcpy.cli.rank_launcher import command_for
from dcpy.libraries.mpi.environments import find_mpi
from dcpy.runtime.compilers.toolchain import find_toolchain

RANKS, TIMES = 4, 11
SIZES = {64: 500, 400: 100, 1600: 10}  # how many steps, of two sweeps
BY_HAND = r"""
#include <mpi.h>

// Requests of one array with a frame of one element: up, down, left, right; rows are contiguous, columns a vector.
static void prepare(double *x, int rows, int columns, const int *peers, MPI_Comm comm, MPI_Request *made)
{
    MPI_Datatype column;
    MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    int width = columns + 2;
    double *sent[] = {x + width + 1, x + rows * width + 1, x + width + 1, x + width + columns};
    double *got[] = {x + 1, x + (rows + 1) * width + 1, x + width, x + width + columns + 1};
    for (int k = 0; k < 4; k++)
        MPI_Recv_init(got[k], k < 2 ? columns : 1, k < 2 ? MPI_DOUBLE : column, peers[k], 0, comm, made + k);
    for (int k = 0; k < 4; k++)
        MPI_Send_init(sent[k], k < 2 ? columns : 1, k < 2 ? MPI_DOUBLE : column, peers[k], 0, comm, made + 4 + k);
    MPI_Type_free(&column);
}

static void sweep(const double *restrict from, double *restrict to, int columns, const int *box)
{
    int w = columns + 2;
    for (int i = box[0]; i < box[1]; i++)
        for (int j = box[2]; j < box[3]; j++) {
            const double *x = from + i * w + j;
            to[i * w + j] = 0.2 * (x[0] + x[-1] + x[1] + x[w] + x[-w]);
        }
}

// Seconds of some steps; `box` is what is computed here: what is at the edge of the whole stays as it is.
double by_hand(int handle, double *a, double *b, int rows, int columns, const int *peers, const int *box, int steps)
{
    MPI_Comm comm = MPI_Comm_f2c(handle);
    MPI_Request requests[16];
    prepare(a, rows, columns, peers, comm, requests);
    prepare(b, rows, columns, peers, comm, requests + 8);
    MPI_Barrier(comm);
    double start = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        MPI_Startall(8, requests);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        sweep(a, b, columns, box);
        MPI_Startall(8, requests + 8);
        MPI_Waitall(8, requests + 8, MPI_STATUSES_IGNORE);
        sweep(b, a, columns, box);
    }
    MPI_Barrier(comm);
    double found = MPI_Wtime() - start;
    for (int k = 0; k < 16; k++) MPI_Request_free(requests + k);
    return found;
}
"""


def jacobi_2d(steps, A, B):
    """`steps` steps; the elements at the edge stay."""
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


#: with the halos that the model of the network wants; with one update for each sweep, as in C; and while it computes
PROGRAMS = {
    "dcpy": dcpy.program(jacobi_2d, distributed=True, auto_optimize=True),
    "dcpy (as written)": dcpy.program(jacobi_2d, distributed=True, auto_optimize=True, halo_steps=-1),
    "dcpy (overlapped)": dcpy.program(
        jacobi_2d, distributed=True, auto_optimize=True, halo_steps=-1, halo_overlap=True
    ),
}


def compiled(folder: Path) -> ctypes.CDLL:
    """The C above, with as much optimization as programs of dcpy get."""
    found, source, made = find_mpi(), folder / "by_hand.c", folder / "by_hand.so"
    source.write_text(BY_HAND)
    flags = [f"-I{each}" for each in found.include_dirs] + [f"-L{each}" for each in found.library_dirs]
    flags += [f"-Wl,-rpath,{each}" for each in found.library_dirs] + [f"-l{each}" for each in found.libraries]
    wanted = ["-x", "c", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-x", "none", *flags]
    subprocess.run([*find_toolchain("auto").command, *wanted, "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


class LocalBlock:
    """What this rank has of the whole, with a frame of one element; of a grid of ranks that `comm` is."""

    def __init__(self, whole: np.ndarray, comm: object) -> None:
        sizes, at = comm.Get_topo()[0], comm.Get_topo()[2]
        self.comm, self.steps = comm, 0
        blocks = [-(-n // p) for n, p in zip(whole.shape, sizes, strict=True)]
        self.own = [slice(c * b, min((c + 1) * b, n)) for c, b, n in zip(at, blocks, whole.shape, strict=True)]
        self.a, self.b = np.pad(whole[tuple(self.own)], 1), np.pad(whole[tuple(self.own)], 1)
        self.rows, self.columns = (n - 2 for n in self.a.shape)
        self.peers = [peer for axis in (0, 1) for peer in comm.Shift(axis, 1)]
        self.box = [
            edge
            for own, n in zip(self.own, whole.shape, strict=True)
            for edge in (max(own.start, 1) - own.start + 1, min(own.stop, n - 1) - own.start + 1)
        ]

    def by_c(self, library: ctypes.CDLL, steps: int) -> float:
        """Seconds of the C above."""
        library.by_hand.restype = ctypes.c_double
        peers, box = ((ctypes.c_int * 4)(*numbers) for numbers in (self.peers, self.box))
        arrays = (each.ctypes.data_as(ctypes.c_void_p) for each in (self.a, self.b))
        return float(library.by_hand(self.comm.py2f(), *arrays, self.rows, self.columns, peers, box, steps))

    def by_mpi4py(self, steps: int) -> float:
        """Seconds of the same with mpi4py and NumPy."""
        from mpi4py import MPI

        requests = {id(x): self._requests(x) for x in (self.a, self.b)}
        top, bottom, left, right = self.box
        self.comm.Barrier()
        start = time.perf_counter()
        for _ in range(steps):
            for x, y in ((self.a, self.b), (self.b, self.a)):
                MPI.Prequest.Startall(requests[id(x)])
                MPI.Prequest.Waitall(requests[id(x)])
                mid = x[top:bottom, left:right] + x[top:bottom, left - 1 : right - 1]
                mid += x[top:bottom, left + 1 : right + 1]
                mid += x[top + 1 : bottom + 1, left:right]
                mid += x[top - 1 : bottom - 1, left:right]
                np.multiply(mid, 0.2, out=y[top:bottom, left:right])
        self.comm.Barrier()
        return time.perf_counter() - start

    def _requests(self, x: np.ndarray) -> list[object]:
        from mpi4py import MPI

        column = MPI.DOUBLE.Create_vector(self.rows, 1, self.columns + 2).Commit()
        flat, wide = x.reshape(-1), self.columns + 2
        sent = (wide + 1, self.rows * wide + 1, wide + 1, wide + self.columns)
        got = (1, (self.rows + 1) * wide + 1, wide, wide + self.columns + 1)
        how = [[self.columns, MPI.DOUBLE]] * 2 + [[1, column]] * 2
        made = [self.comm.Recv_init([flat[k:], *h], p) for k, h, p in zip(got, how, self.peers, strict=True)]
        return made + [self.comm.Send_init([flat[k:], *h], p) for k, h, p in zip(sent, how, self.peers, strict=True)]


def by_dcpy(name: str, steps: int, A: dcpy.DistArray, B: dcpy.DistArray) -> float:
    """Seconds of a call."""
    A.grid.world.most([0])
    start = time.perf_counter()
    PROGRAMS[name](steps, A, B)
    A.grid.world.most([0])
    return time.perf_counter() - start


def on_ranks(folder: str, size: int) -> None:
    """What each rank does; the first one prints a line."""
    grid = dcpy.grid(dims=2)
    world, steps = grid.world, SIZES.get(size, 20)
    comm = world.comm.Create_cart(grid.sizes, reorder=False)
    library = compiled(Path(folder)) if world.rank == 0 else None
    world.tell("compiled")
    library = library or ctypes.CDLL(f"{folder}/by_hand.so")
    whole = np.random.default_rng(0).random((size, size))
    arrays = {name: (dcpy.distribute(whole, grid), dcpy.distribute(whole, grid)) for name in PROGRAMS}
    hand, slow = LocalBlock(whole, comm), LocalBlock(whole, comm)
    runs: dict[str, Callable[[int], float]] = {
        **{name: partial(lambda name, steps: by_dcpy(name, steps, *arrays[name]), name) for name in PROGRAMS},
        "C": lambda steps: hand.by_c(library, steps),
        "mpi4py": slow.by_mpi4py,
    }
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(TIMES + 1):
        for name, run in runs.items():
            found[name].append((run(3 * steps) - run(steps)) / 2)
    for block in (hand, slow):
        for A, _ in arrays.values():
            np.testing.assert_array_equal(A.local, block.a[1:-1, 1:-1])
    if world.rank == 0:
        times = {name: 1e6 * statistics.median(seconds[1:]) / (2 * steps) for name, seconds in found.items()}
        told = ", ".join(f"{name} {each:.1f}" for name, each in times.items())
        ratios = ", ".join(f"{times[name] / times['C']:.2f}" for name in PROGRAMS)
        print(f"N = {size}: {told}; over C {ratios}", flush=True)


def main(words: list[str]) -> int:
    """A line for each size."""
    sizes = [int(word) for word in words if word.isdecimal()] or list(SIZES)
    try:
        command_for(RANKS, [])
    except dcpy.DcpyError as error:
        print(f"skipped: {error.message} ({error.help})")
        return 2
    own = {"OMP_NUM_THREADS": "1"}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            command = command_for(RANKS, ["-m", "benchmarks.exchanges", "--rank", folder, str(size)])
            code = subprocess.run(command, env=environment_of_ranks(RANKS) | own, check=False).returncode
            if code:
                return code
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        on_ranks(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))
