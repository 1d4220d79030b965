"""PageRank on as many ranks as there are, each with some rows of the matrix: `dcpy run -n 4 pagerank.py`."""

from __future__ import annotations

import numpy as np

import dcpy
from dcpy import comm

N, R = dcpy.symbol("N"), dcpy.symbol("R")


@dcpy.program(auto_optimize=True)
def pagerank(rows: dcpy.float64[R, N], mine: dcpy.float64[R], found: dcpy.float64[N]):
    """The power method, until nothing changes on any rank."""
    found[:] = 1.0 / N
    change = np.ones(1)
    while change[0] > 1e-12:
        before = found.copy()
        mine[:] = 0.85 * (rows @ found) + 0.15 / N
        comm.Allgather(mine, found)
        comm.Allreduce(np.full(1, np.max(np.abs(found - before))), change, comm.MAX)


def main(n: int = 101) -> None:
    rank, ranks = comm.rank(), comm.size()
    links = np.random.default_rng(0).random((n, n)) ** 8  # the same numbers on each rank
    links /= links.sum(axis=0)
    rows = links[rank * n // ranks : (rank + 1) * n // ranks]

    found = np.zeros(n)
    pagerank(rows, np.zeros(len(rows)), found)

    np.testing.assert_allclose(0.85 * (links @ found) + 0.15 / n, found, atol=1e-10)
    print(f"rank {rank} of {ranks} has {len(rows)} rows; page {np.argmax(found)} is first", flush=True)


if __name__ == "__main__":
    main()
