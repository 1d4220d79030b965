"""Matrix-vector product and its transpose, accumulated."""

import numpy as np

import dcpy


@dcpy.program
def mvt(x1, x2, y_1, y_2, A):
    x1 += A @ y_1
    x2 += y_2 @ A


def initialize(n, dtype=np.float64):
    """Arguments for a matrix of `n` by `n`."""
    rng = np.random.default_rng(42)
    arguments = {name: rng.random(n).astype(dtype) for name in ("x1", "x2", "y_1", "y_2")}
    return arguments | {"A": rng.random((n, n)).astype(dtype)}
