"""Symmetric matrix times matrix, with scaling; only the lower triangle of A is read. Domain: linear algebra."""

import numpy as np


def symm(alpha, beta, C, A, B):
    temp2 = np.empty((C.shape[1],), dtype=C.dtype)
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp2[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp2


def initialize(M, N):
    """A symmetric matrix of `M` by `M` times one of `M` by `N`."""
    rng = np.random.default_rng(42)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": rng.random((M, N)),
        "A": rng.random((M, M)),
        "B": rng.random((M, N)),
    }
