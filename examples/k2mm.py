"""Two matrix products: ``D = alpha * A @ B @ C + beta * D``."""

import numpy as np

import dcpy


@dcpy.program
def k2mm(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D


def initialize(n, dtype=np.float64):
    """Arguments for matrices of about `n` rows."""
    rng = np.random.default_rng(42)
    ni, nj, nk, nl = n, n + 1, n + 2, n + 3
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": rng.random((ni, nk)).astype(dtype),
        "B": rng.random((nk, nj)).astype(dtype),
        "C": rng.random((nj, nl)).astype(dtype),
        "D": rng.random((ni, nl)).astype(dtype),
    }
