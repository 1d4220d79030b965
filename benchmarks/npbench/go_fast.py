"""Trace of tanh: the example of Numba's five-minute guide. Domain: others."""

import numpy as np


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def initialize(N):
    """A matrix of `N` by `N`."""
    return {"a": np.random.default_rng(42).random((N, N))}
