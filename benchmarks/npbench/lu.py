"""LU decomposition without pivoting, in place. Domain: solvers."""

import numpy as np


def lu(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


def initialize(N):
    """A diagonally dominant matrix of `N` by `N`."""
    return {"A": np.random.default_rng(42).random((N, N)) / N + np.eye(N)}
