"""Symmetric update of rank k; only the lower triangle of C changes. Domain: linear algebra."""

import numpy as np


def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def initialize(M, N):
    """A symmetric matrix of `N` by `N`, a factor of `N` by `M`."""
    rng = np.random.default_rng(42)
    return {"alpha": 1.5, "beta": 1.2, "C": rng.random((N, N)), "A": rng.random((N, M))}
