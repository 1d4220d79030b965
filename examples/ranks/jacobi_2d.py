"""A stencil on a grid of ranks, each with a block and a halo of its own: `dcpy run -n 4 jacobi_2d.py`."""

from __future__ import annotations

import numpy as np

import dcpy
from dcpy import comm

N, M = dcpy.symbol("N"), dcpy.symbol("M")


@dcpy.program(auto_optimize=True)
def jacobi_2d(steps: dcpy.int64, A: dcpy.float64[N, M]):
    """Each element becomes the mean of its neighbours; those on the border of the whole array stay."""
    grid = comm.Cart_create([0, 0])  # all ranks, in rows and columns
    above, below = comm.Cart_shift(grid, 0)
    left, right = comm.Cart_shift(grid, 1)

    block = comm.BlockScatter(A, None, grid)  # what rank 0 has is dealt out
    rows, columns = block.shape
    own = np.zeros((rows + 2, columns + 2))
    own[1:-1, 1:-1] = block
    new = own.copy()

    top, bottom = 1 if above == comm.PROC_NULL else 0, 1 if below == comm.PROC_NULL else 0
    west, east = 1 if left == comm.PROC_NULL else 0, 1 if right == comm.PROC_NULL else 0
    for _ in range(steps):
        requests = np.empty((8,), dtype=comm.Request)
        comm.Isend(own[1, 1:-1], above, 0, requests[0])
        comm.Isend(own[-2, 1:-1], below, 1, requests[1])
        comm.Isend(own[1:-1, 1], left, 2, requests[2])
        comm.Isend(own[1:-1, -2], right, 3, requests[3])
        comm.Irecv(own[0, 1:-1], above, 1, requests[4])
        comm.Irecv(own[-1, 1:-1], below, 0, requests[5])
        comm.Irecv(own[1:-1, 0], left, 3, requests[6])
        comm.Irecv(own[1:-1, -1], right, 2, requests[7])
        comm.Waitall(requests)
        for i in range(1 + top, rows + 1 - bottom):
            for j in range(1 + west, columns + 1 - east):
                new[i, j] = 0.25 * (own[i - 1, j] + own[i + 1, j] + own[i, j - 1] + own[i, j + 1])
        own[1:-1, 1:-1] = new[1:-1, 1:-1]

    comm.BlockGather(own[1:-1, 1:-1], A, grid)  # and comes back to rank 0


def jacobi_2d_of_numpy(steps, A):
    """The same on one rank."""
    for _ in range(steps):
        A[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])


def main(n: int = 101, m: int = 67, steps: int = 20) -> None:
    """Compares with NumPy on rank 0."""
    rank, ranks = comm.rank(), comm.size()
    A = np.random.default_rng(0).random((n, m)) if rank == 0 else np.zeros((n, m))
    expected = A.copy()

    jacobi_2d(steps, A)

    if rank == 0:
        jacobi_2d_of_numpy(steps, expected)
        np.testing.assert_allclose(A, expected, rtol=1e-13)
    grid = comm.Cart_create([0, 0])
    print(f"rank {rank} of {ranks} is at {grid.coords} of {grid.sizes}", flush=True)


if __name__ == "__main__":
    main()
