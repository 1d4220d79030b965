"""A product of matrices on as many ranks as there are: `python gemm.py`, or `dcpy run -n 4 gemm.py`."""

from __future__ import annotations

import numpy as np

import dcpy


@dcpy.program(distributed=True, auto_optimize=True)
def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C


def main(n: int = 101) -> None:
    grid = dcpy.grid()  # all ranks, in rows and columns
    world = grid.world
    a, b, c = np.random.default_rng(0).random((3, n, n))  # the same numbers on each rank

    A, B, C = (dcpy.distribute(x, grid, ("block", "block")) for x in (a, b, c))
    gemm(1.5, 1.25, C, A, B)

    print(f"rank {world.rank} of {world.size} has {C.local.shape} of {C.shape}", flush=True)
    whole = C.gather(root=0)  # None on the others
    if whole is not None:
        np.testing.assert_allclose(whole, 1.5 * a @ b + 1.25 * c)
        print("as on one rank", flush=True)


if __name__ == "__main__":
    main()
