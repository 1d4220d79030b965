"""Scaled sum of two matrix-vector products. Domain: linear algebra."""

import numpy as np


def gesummv(alpha, beta, A, B, x):
    return alpha * A @ x + beta * B @ x


def initialize(N):
    """Matrices of `N` by `N`."""
    rng = np.random.default_rng(42)
    return {"alpha": 1.5, "beta": 1.2, "A": rng.random((N, N)), "B": rng.random((N, N)), "x": rng.random(N)}
