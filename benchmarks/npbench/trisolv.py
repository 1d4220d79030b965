"""Lower triangular system by forward substitution. Domain: solvers."""

import numpy as np


def trisolv(L, x, b):
    for i in range(L.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def initialize(N):
    """A lower triangular matrix of `N` by `N`, dominated by its diagonal."""
    rng = np.random.default_rng(42)
    return {"L": np.tril(rng.random((N, N)) / N) + np.eye(N), "x": np.full(N, -999.0), "b": rng.random(N)}
