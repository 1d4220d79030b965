"""Programs on process grids, and what NumPy gives on one rank."""

from __future__ import annotations

import numpy as np

import dcpy
import dcpy as dace
from dcpy import comm
from dcpy.base.rank_grids import balanced, coordinates
from dcpy.comm import PROC_NULL, MPI_Request

N, M, K, P = (dcpy.symbol(name) for name in ("N", "M", "K", "P"))
lNx, lNy = dace.symbol("lNx"), dace.symbol("lNy")  # noqa: N816
noff, soff, woff, eoff = (dace.symbol(name) for name in ("noff", "soff", "woff", "eoff"))
nn, ns, nw, ne = (dace.symbol(name) for name in ("nn", "ns", "nw", "ne"))


# -- section 4.3 of the paper, with the lines that are left out there --------------------------------------------------


@dace.program
def half_step(inpbuf: dace.float64[lNx + 2, lNy + 2],
              outbuf: dace.float64[lNx + 2, lNy + 2]):
    req = np.empty((8,), dtype=MPI_Request)
    dace.comm.Isend(inpbuf[1, 1:-1], nn, 0, req[0])
    dace.comm.Isend(inpbuf[-2, 1:-1], ns, 1, req[1])
    dace.comm.Isend(inpbuf[1:-1, 1], nw, 2, req[2])
    dace.comm.Isend(inpbuf[1:-1, -2], ne, 3, req[3])
    dace.comm.Irecv(inpbuf[0, 1:-1], nn, 1, req[4])
    dace.comm.Irecv(inpbuf[-1, 1:-1], ns, 0, req[5])
    dace.comm.Irecv(inpbuf[1:-1, 0], nw, 3, req[6])
    dace.comm.Irecv(inpbuf[1:-1, -1], ne, 2, req[7])
    dace.comm.Waitall(req)
    outbuf[1+noff:-1-soff, 1+woff:-1-eoff] = 0.2 * (
        inpbuf[1+noff:-1-soff, 1+woff:-1-eoff] +
        inpbuf[1+noff:-1-soff, woff:-2-eoff] +
        inpbuf[1+noff:-1-soff, 2+woff:lNy+2-eoff] +
        inpbuf[2+noff:lNx+2-soff, 1+woff:-1-eoff] +
        inpbuf[noff:-2-soff, 1+woff:-1-eoff])


@dace.program
def j2d_dist(TSTEPS: dace.int32, A: dace.float64[N, N],
             B: dace.float64[N, N]):
    lA = np.zeros((lNx + 2, lNy + 2), dtype=A.dtype)
    lB = np.zeros((lNx + 2, lNy + 2), dtype=B.dtype)
    lA[1:-1, 1:-1] = dace.comm.BlockScatter(A)
    lB[1:-1, 1:-1] = dace.comm.BlockScatter(B)
    for t in range(1, TSTEPS):
        half_step(lA, lB)
        half_step(lB, lA)
    A[:] = dace.comm.BlockGather(lA[1:-1, 1:-1])
    B[:] = dace.comm.BlockGather(lB[1:-1, 1:-1])


def jacobi_2d(TSTEPS, A, B):
    """The same on one rank."""
    for _ in range(1, TSTEPS):
        for x, y in ((A, B), (B, A)):
            y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])


def of_rank(rank, ranks, size):
    """What the paper's program is told of a rank: its block, its neighbours, and where the array ends."""
    sizes = balanced(ranks, 2)
    at = coordinates(rank, sizes)
    blocks = [-(-size // count) for count in sizes]
    found = {}
    for name, here, block in zip(("lNx", "lNy"), at, blocks, strict=True):
        found[name] = max(0, min(size, (here + 1) * block) - here * block)
    ends = [("nn", "noff", 0, -1), ("ns", "soff", 0, 1), ("nw", "woff", 1, -1), ("ne", "eoff", 1, 1)]
    for neighbour, offset, axis, step in ends:
        there = list(at)
        there[axis] += step
        last = not 0 <= there[axis] < sizes[axis]
        found[neighbour] = PROC_NULL if last else there[0] * sizes[1] + there[1]
        found[offset] = int(last)
    return found


# -- blocks ------------------------------------------------------------------------------------------------------------


@dcpy.program
def doubled(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    """Balanced blocks on a grid of all ranks; the whole array again on all of them."""
    own = comm.BlockScatter(A)
    own *= 2
    B[:] = comm.BlockGather(own)


@dcpy.program
def doubled_rows(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    """Blocks of columns on a column of ranks, in dimension 1; the whole array again at the first rank."""
    grid = comm.Cart_create([0])
    own = comm.BlockScatter(A, None, grid, None, [None, 0])
    own *= 2
    comm.BlockGather(own, B, grid, None, [None, 0])


@dcpy.program
def doubled_cyclic(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    """Blocks of 2 x 3 that go round."""
    own = comm.BCScatter(A, None, (2, 3))
    own *= 2
    comm.BCGather(own, B, (2, 3))


@dcpy.program
def doubled_on_four(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    """A grid that not all ranks are on."""
    grid = comm.Cart_create([2, 2])
    own = comm.BlockScatter(A, None, grid)
    own *= 2
    comm.BlockGather(own, B, grid)


WHOLE = (doubled, doubled_rows, doubled_cyclic, doubled_on_four)


@dcpy.program
def of_each_row(x: dcpy.float64[N], own: dcpy.float64[K], back: dcpy.float64[N]):
    """Each row of a grid has an array of its own, which its first rank deals out."""
    grid = comm.Cart_create([2, 2])
    row = comm.Cart_sub(grid, [False, True])
    comm.BlockScatter(x, own, row)
    own += 1
    comm.BlockGather(own, back, row)


@dcpy.program
def with_copies(x: dcpy.float64[N], own: dcpy.float64[K], back: dcpy.float64[N]):
    """One array in blocks along the rows of a grid, with copies along its columns; then the sum of these."""
    grid = comm.Cart_create([2, 2])
    row = comm.Cart_sub(grid, [False, True], 0)
    column = comm.Cart_sub(grid, [True, False])
    comm.BlockScatter(x, own, row, column)
    own += 1
    comm.BlockGather(own, back, row, column)


@dcpy.program
def dealt_anew(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    """From blocks of rows to blocks of columns, and from these to the whole."""
    rows, columns = comm.Cart_create([0, 1]), comm.Cart_create([1, 0])
    of_rows = comm.BlockScatter(A, None, rows)
    of_columns = comm.BlockScatter(np.zeros_like(A), None, columns)
    comm.Redistribute(of_rows, comm.Subarray(A, of_rows, rows), of_columns, comm.Subarray(A.shape, of_columns, columns))
    of_columns *= 2
    comm.BlockGather(of_columns, B, columns)


@dcpy.program
def places(found: dcpy.int64[12]):
    """Where a rank is, and who is beside it, on a grid that is periodic along axis 1."""
    grid = comm.Cart_create([2, 2], [False, True])
    column = comm.Cart_sub(grid, [True, False])
    found[0], found[1] = comm.coords(grid)
    found[2], found[3] = comm.Cart_shift(grid, 0, 1)
    found[4], found[5] = comm.Cart_shift(grid, 1, 1)
    found[6], found[7] = comm.Cart_shift(column, 0, -1)
    found[8], found[9] = comm.coords(grid, 3)
    found[10] = comm.coords(column)[0]
    found[11] = grid.sizes[0] * 10 + column.sizes[0]


PLACES = [
    [0, 0, -1, 2, 1, 1, 2, -1, 1, 1, 0, 22],
    [0, 1, -1, 3, 0, 0, 3, -1, 1, 1, 0, 22],
    [1, 0, 0, -1, 3, 3, -1, 0, 1, 1, 1, 22],
    [1, 1, 1, -1, 2, 2, -1, 1, 1, 1, 1, 22],
    [2, 2, -1, -1, -1, -1, -1, -1, 1, 1, 2, 22],  # not on the grid
]
