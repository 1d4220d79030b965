"""Gauss-Seidel relaxation: each point uses the neighbours that are already new. Domain: solvers."""

import numpy as np


def seidel_2d(TSTEPS, N, A):
    for t in range(0, TSTEPS - 1):
        for i in range(1, N - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            )
            for j in range(1, N - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0


def initialize(TSTEPS, N):
    """`TSTEPS` - 1 sweeps over `N` by `N` points."""
    i, j = np.ogrid[:N, :N]
    return {"TSTEPS": TSTEPS, "N": N, "A": (i * (j + 2) + 2) / N}
