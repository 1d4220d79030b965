"""Programs of the local view, and what they compute on one rank: for virtual ranks and for real ones."""

from __future__ import annotations

import numpy as np

import dcpy
from dcpy import comm

N, M, R = (dcpy.symbol(name) for name in "NMR")


@dcpy.program
def relax(T: dcpy.int64, A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    """Jacobi's iteration on blocks of rows with a halo of one row."""
    rank, ranks = comm.rank(), comm.size()
    above = rank - 1 if rank > 0 else comm.PROC_NULL
    below = rank + 1 if rank + 1 < ranks else comm.PROC_NULL
    requests = np.empty((4,), dtype=comm.Request)
    for _ in range(T):
        comm.Isend(A[1, 1:-1], above, 0, requests[0])
        comm.Isend(A[-2, 1:-1], below, 1, requests[1])
        comm.Irecv(A[0, 1:-1], above, 1, requests[2])
        comm.Irecv(A[-1, 1:-1], below, 0, requests[3])
        comm.Waitall(requests)
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        A[1:-1, 1:-1] = B[1:-1, 1:-1]


def relax_of_numpy(steps, A):
    """The same, of the whole array."""
    for _ in range(steps):
        A[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])


@dcpy.program
def pagerank(rows: dcpy.float64[R, N], mine: dcpy.float64[R], found: dcpy.float64[N]):
    """The power method; each rank has some rows of the matrix of links."""
    found[:] = 1.0 / N
    total = np.ones(1)
    while total[0] > 1e-10:
        mine[:] = 0.85 * (rows @ found) + 0.15 / N
        before = found.copy()
        comm.Allgather(mine, found)
        part = np.full(1, np.sum(np.abs(found - before)) / comm.size())
        comm.Allreduce(part, total, comm.SUM)


def pagerank_of_numpy(links):
    """The same, of the whole matrix."""
    count = len(links)
    found, before = np.full(count, 1.0 / count), np.zeros(count)
    while np.sum(np.abs(found - before)) > 1e-10:
        before, found = found, 0.85 * (links @ found) + 0.15 / count
    return found


def rows_of(rank, ranks, count):
    """The rows of a rank in balanced blocks."""
    return slice(rank * count // ranks, (rank + 1) * count // ranks)


@dcpy.program
def global_sums(x: dcpy.float64[6], out: dcpy.float64[6, 6]):
    """One row of results for each collective; what a rank does not get stays as it was."""
    comm.Allreduce(x, out[0], comm.SUM)
    comm.Allreduce(x, out[1], comm.MAX)
    comm.Scan(x, out[2], comm.SUM)
    out[3] = -1.0
    comm.Exscan(x, out[3], comm.SUM)
    out[4] = x
    comm.Bcast(out[4], comm.size() - 1)
    out[5] = -2.0
    comm.Reduce(x, out[5], comm.PROD, 0)


@dcpy.program
def extrema(x: dcpy.float64[4, 2], k: dcpy.int64[2], out: dcpy.float64[3, 4, 2], last: dcpy.int64[2]):
    """Values and where they are: pairs along the last axis."""
    comm.Allreduce(x, out[0], comm.MINLOC)
    comm.Scan(x, out[1], comm.MAXLOC)
    out[2] = -1.0
    comm.Reduce(x, out[2], comm.MAXLOC, 0)
    comm.Allreduce(k, last, comm.MAXLOC)


def pairs_of(rank):
    """Four pairs and one of a rank, with equal values on several ranks."""
    values = np.random.default_rng(rank).integers(0, 3, 5)
    return np.column_stack([values[:4].astype(float), np.full(4, float(rank))]), np.array([values[4], rank])


def extrema_of_numpy(rank, ranks):
    """`out` and `last` of a rank."""
    pairs, ks = (np.array(part) for part in zip(*map(pairs_of, range(ranks)), strict=True))

    def of(values, find):
        where = find(values, axis=0)  # the first of equal ones
        return np.stack([np.take_along_axis(values, where[np.newaxis], 0)[0], where.astype(float)], axis=-1)

    values = pairs[:, :, 0]
    out = [of(values, np.argmin), of(values[: rank + 1], np.argmax), np.full((4, 2), -1.0)]
    if rank == 0:
        out[2] = of(values, np.argmax)
    return np.array(out), ks[np.argmax(ks[:, 0])]
