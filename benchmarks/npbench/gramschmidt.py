"""Gram-Schmidt orthonormalization of the columns of a matrix (modified). Domain: solvers."""

import numpy as np


def gramschmidt(A):
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)
    for k in range(A.shape[1]):
        nrm = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


def initialize(M, N):
    """A matrix of `M` by `N` of full rank."""
    return {"A": np.random.default_rng(42).random((M, N)) + np.eye(M, N)}
