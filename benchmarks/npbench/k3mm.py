"""Three matrix products. Domain: linear algebra."""

import numpy as np


def k3mm(A, B, C, D):
    return A @ B @ C @ D


def initialize(NI, NJ, NK, NL, NM):
    """Matrices of `NI` by `NK`, `NK` by `NJ`, `NJ` by `NM`, `NM` by `NL`."""
    rng = np.random.default_rng(42)
    return {
        "A": rng.random((NI, NK)),
        "B": rng.random((NK, NJ)),
        "C": rng.random((NJ, NM)),
        "D": rng.random((NM, NL)),
    }
