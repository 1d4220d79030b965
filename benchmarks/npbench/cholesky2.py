"""Cholesky decomposition by NumPy's own; the strict upper triangle is kept. Domain: solvers."""

import numpy as np


def cholesky2(A):
    A[:] = np.linalg.cholesky(A) + np.triu(A, k=1)


def initialize(N):
    """A symmetric positive definite matrix of `N` by `N`."""
    factor = np.tril(np.random.default_rng(42).random((N, N)) / N) + np.eye(N)
    return {"A": factor @ factor.T}
