"""Matrix product with scaling, ``C = alpha * A @ B + beta * C``: the example of the paper, section 2.3."""

import numpy as np

import dcpy

NI, NJ, NK = (dcpy.symbol(name) for name in ("NI", "NJ", "NK"))


@dcpy.program
def gemm(
    alpha: dcpy.float64,
    beta: dcpy.float64,
    C: dcpy.float64[NI, NJ],
    A: dcpy.float64[NI, NK],
    B: dcpy.float64[NK, NJ],
):
    C[:] = alpha * A @ B + beta * C


def initialize(n, dtype=np.float64):
    """Arguments for matrices of about `n` rows."""
    rng = np.random.default_rng(42)
    ni, nj, nk = n, n + 1, n + 2
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": rng.random((ni, nj)).astype(dtype),
        "A": rng.random((ni, nk)).astype(dtype),
        "B": rng.random((nk, nj)).astype(dtype),
    }
