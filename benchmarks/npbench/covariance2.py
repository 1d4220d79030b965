"""Covariance matrix of the columns of a table, by NumPy's own. Domain: learning."""

import numpy as np


def covariance2(M, float_n, data):
    return np.cov(np.transpose(data))


def initialize(M, N):
    """`N` observations of `M` variables."""
    rng = np.random.default_rng(42)
    return {"M": M, "float_n": float(N), "data": rng.random((N, M)) + np.arange(M) / M}
