"""Matrix-vector product and its transpose, accumulated. Domain: linear algebra."""

import numpy as np


def mvt(x1, x2, y_1, y_2, A):
    x1 += A @ y_1
    x2 += y_2 @ A


def initialize(N):
    """A matrix of `N` by `N`."""
    rng = np.random.default_rng(42)
    return {name: rng.random(N) for name in ("x1", "x2", "y_1", "y_2")} | {"A": rng.random((N, N))}
