"""The two products of the biconjugate gradient method. Domain: solvers."""

import numpy as np


def bicg(A, p, r):
    return r @ A, A @ p


def initialize(M, N):
    """A matrix of `N` by `M`."""
    rng = np.random.default_rng(42)
    return {"A": rng.random((N, M)), "p": rng.random(M), "r": rng.random(N)}
