"""Rank-two update and two matrix-vector products."""

import numpy as np

import dcpy


@dcpy.program
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


def initialize(n, dtype=np.float64):
    """Arguments for a matrix of `n` by `n`; the vectors are small enough for float32 to stay accurate."""
    rng = np.random.default_rng(42)
    vectors = {name: (rng.random(n) / n).astype(dtype) for name in ("u1", "v1", "u2", "v2", "w", "x", "y", "z")}
    return {"alpha": 1.5, "beta": 1.2, "A": rng.random((n, n)).astype(dtype)} | vectors
