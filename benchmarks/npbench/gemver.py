"""Rank-two update and two matrix-vector products. Domain: linear algebra."""

import numpy as np


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


def initialize(N):
    """A matrix of `N` by `N`."""
    rng = np.random.default_rng(42)
    vectors = {name: rng.random(N) / N for name in ("u1", "v1", "u2", "v2", "w", "x", "y", "z")}
    return {"alpha": 1.5, "beta": 1.2, "A": rng.random((N, N))} | vectors
