"""The two products of the biconjugate gradient method: ``r @ A`` and ``A @ p``."""

import numpy as np

import dcpy


@dcpy.program
def bicg(A, p, r):
    return r @ A, A @ p


def initialize(n, dtype=np.float64):
    """Arguments for a matrix of `n` by ``n + 3``."""
    rng = np.random.default_rng(42)
    return {
        "A": rng.random((n, n + 3)).astype(dtype),
        "p": rng.random(n + 3).astype(dtype),
        "r": rng.random(n).astype(dtype),
    }
