"""Two matrix products: ``D = alpha * A @ B @ C + beta * D``. Domain: linear algebra."""

import numpy as np


def k2mm(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D


def initialize(NI, NJ, NK, NL):
    """Matrices of `NI` by `NK`, `NK` by `NJ`, `NJ` by `NL`."""
    rng = np.random.default_rng(42)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": rng.random((NI, NK)),
        "B": rng.random((NK, NJ)),
        "C": rng.random((NJ, NL)),
        "D": rng.random((NI, NL)),
    }
