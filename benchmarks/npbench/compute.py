"""Clip one array, scale and add others: an example of Cython's NumPy tutorial. Domain: signals."""

import numpy as np


def compute(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


def initialize(M, N):
    """Arrays of int64 of `M` by `N`."""
    rng = np.random.default_rng(42)
    return {
        "array_1": rng.integers(0, 1000, size=(M, N), dtype=np.int64),
        "array_2": rng.integers(0, 1000, size=(M, N), dtype=np.int64),
        "a": 4,
        "b": 3,
        "c": 9,
    }
