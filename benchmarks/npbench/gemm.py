"""Matrix product with scaling, ``C = alpha * A @ B + beta * C``. Domain: linear algebra."""

import numpy as np


def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C


def initialize(NI, NJ, NK):
    """Matrices of `NI` by `NK` and `NK` by `NJ`."""
    rng = np.random.default_rng(42)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": rng.random((NI, NJ)),
        "A": rng.random((NI, NK)),
        "B": rng.random((NK, NJ)),
    }
