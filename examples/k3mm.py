"""Three matrix products: ``(A @ B) @ (C @ D)``."""

import numpy as np

import dcpy


@dcpy.program
def k3mm(A, B, C, D):
    return A @ B @ C @ D


def initialize(n, dtype=np.float64):
    """Arguments for matrices of about `n` rows."""
    rng = np.random.default_rng(42)
    sizes = [n, n + 1, n + 2, n + 3, n + 4]
    return {
        name: rng.random((rows, columns)).astype(dtype)
        for name, rows, columns in zip("ABCD", sizes, sizes[1:], strict=False)
    }
