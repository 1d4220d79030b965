"""Toeplitz system solved by the Levinson-Durbin recursion. Domain: solvers."""

import numpy as np


def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def initialize(N):
    """The first row of a diagonally dominant Toeplitz matrix of order `N` (without its unit diagonal)."""
    return {"r": 0.3 / np.arange(1, N + 1) ** 2}
