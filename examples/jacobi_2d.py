"""Jacobi relaxation in the plane: five-point average, back and forth between two arrays."""

import numpy as np

import dcpy

N = dcpy.symbol("N")


@dcpy.program
def jacobi_2d(TSTEPS: dcpy.int64, A: dcpy.float64[N, N], B: dcpy.float64[N, N]):
    for t in range(1, TSTEPS):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def initialize(n, dtype=np.float64):
    """Arguments for `n` by `n` points."""
    i, j = np.arange(n)[:, np.newaxis], np.arange(n)
    return {
        "TSTEPS": 5,
        "A": (i * (j + 2) / n).astype(dtype),
        "B": (i * (j + 3) / n).astype(dtype),
    }
