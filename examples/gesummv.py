"""Scaled sum of two matrix-vector products."""

import numpy as np

import dcpy


@dcpy.program
def gesummv(alpha, beta, A, B, x):
    return alpha * A @ x + beta * B @ x


def initialize(n, dtype=np.float64):
    """Arguments for matrices of `n` by `n`."""
    rng = np.random.default_rng(42)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": rng.random((n, n)).astype(dtype),
        "B": rng.random((n, n)).astype(dtype),
        "x": rng.random(n).astype(dtype),
    }
