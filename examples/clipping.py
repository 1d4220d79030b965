"""Clip one array, scale and add others: the ``compute`` example of Cython's NumPy tutorial."""

import numpy as np

import dcpy


@dcpy.program
def compute(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


def initialize(n, dtype=np.int64):
    """Arguments for arrays of `n` by ``n + 1``."""
    rng = np.random.default_rng(42)
    return {
        "array_1": rng.uniform(0, 1000, size=(n, n + 1)).astype(dtype),
        "array_2": rng.uniform(0, 1000, size=(n, n + 1)).astype(dtype),
        "a": 4,
        "b": 3,
        "c": 9,
    }
