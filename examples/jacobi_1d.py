"""Jacobi relaxation on a line: three-point average, back and forth between two arrays."""

import numpy as np

import dcpy


@dcpy.program
def jacobi_1d(TSTEPS, A, B):
    for t in range(1, TSTEPS):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def initialize(n, dtype=np.float64):
    """Arguments for `n` points."""
    points = np.arange(n)
    return {"TSTEPS": 5, "A": ((points + 2) / n).astype(dtype), "B": ((points + 3) / n).astype(dtype)}
