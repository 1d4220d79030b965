"""Symmetric update of rank 2k; only the lower triangle of C changes. Domain: linear algebra."""

import numpy as np


def syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]


def initialize(M, N):
    """A symmetric matrix of `N` by `N`, factors of `N` by `M`."""
    rng = np.random.default_rng(42)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": rng.random((N, N)),
        "A": rng.random((N, M)),
        "B": rng.random((N, M)),
    }
