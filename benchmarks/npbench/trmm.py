"""Transposed unit lower triangular matrix times matrix, in place. Domain: linear algebra."""

import numpy as np


def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


def initialize(M, N):
    """A triangular matrix of `M` by `M` times one of `M` by `N`."""
    rng = np.random.default_rng(42)
    return {"alpha": 1.5, "A": rng.random((M, M)), "B": rng.random((M, N))}
