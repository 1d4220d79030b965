"""A transpose times A times x."""

import numpy as np

import dcpy


@dcpy.program
def atax(A, x):
    return (A @ x) @ A


def initialize(n, dtype=np.float64):
    """Arguments for a matrix of `n` by ``n + 3``."""
    rng = np.random.default_rng(42)
    return {"A": rng.random((n, n + 3)).astype(dtype), "x": rng.random(n + 3).astype(dtype)}
