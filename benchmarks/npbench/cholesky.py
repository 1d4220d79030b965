"""Cholesky decomposition, by dot products of rows; the lower triangle is replaced. Domain: solvers."""

import numpy as np


def cholesky(A):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def initialize(N):
    """A symmetric positive definite matrix of `N` by `N`."""
    factor = np.tril(np.random.default_rng(42).random((N, N)) / N) + np.eye(N)
    return {"A": factor @ factor.T}
