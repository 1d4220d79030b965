"""Sparse matrix times vector, compressed by rows. Domain: others."""

import numpy as np


def spmv(A_row, A_col, A_val, x):
    y = np.empty(A_row.size - 1, A_val.dtype)
    for i in range(A_row.size - 1):
        cols = A_col[A_row[i] : A_row[i + 1]]
        vals = A_val[A_row[i] : A_row[i + 1]]
        y[i] = vals @ x[cols]
    return y


def initialize(M, N, nnz):
    """A matrix of `M` by `N` with `nnz` entries."""
    rng = np.random.default_rng(42)
    places = np.unravel_index(np.sort(rng.choice(M * N, nnz, replace=False)), (M, N))
    per_row = np.bincount(places[0], minlength=M)
    return {
        "A_row": np.concatenate(([0], np.cumsum(per_row))).astype(np.uint32),
        "A_col": places[1].astype(np.uint32),
        "A_val": rng.random(nnz),
        "x": rng.random(N),
    }
