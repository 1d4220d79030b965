"""Trace of tanh: the example of Numba's five-minute guide."""

import numpy as np

import dcpy


@dcpy.program
def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def initialize(n, dtype=np.float64):
    """Arguments for a matrix of `n` by `n`."""
    return {"a": np.random.default_rng(42).random((n, n)).astype(dtype)}
