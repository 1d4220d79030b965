"""Covariance matrix of the columns of a table, row by row. Domain: learning."""

import numpy as np


def covariance(M, float_n, data):
    mean = np.mean(data, axis=0)
    data -= mean
    cov = np.zeros((M, M), dtype=data.dtype)
    for i in range(M):
        cov[i:M, i] = cov[i, i:M] = data[:, i] @ data[:, i:M] / (float_n - 1.0)
    return cov


def initialize(M, N):
    """`N` observations of `M` variables."""
    rng = np.random.default_rng(42)
    return {"M": M, "float_n": float(N), "data": rng.random((N, M)) + np.arange(M) / M}
