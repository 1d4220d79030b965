"""A transpose times A times x. Domain: linear algebra."""

import numpy as np


def atax(A, x):
    return (A @ x) @ A


def initialize(M, N):
    """A matrix of `M` by `N`."""
    rng = np.random.default_rng(42)
    return {"A": rng.random((M, N)) / N, "x": rng.random(N)}
