"""Finite-difference time domain in the plane: two electric components and a magnetic one."""

import numpy as np

import dcpy


@dcpy.program
def fdtd_2d(TMAX, ex, ey, hz, _fict_):
    for t in range(TMAX):
        ey[0, :] = _fict_[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def initialize(n, dtype=np.float64):
    """Arguments for a field of `n` by ``n + 1`` points."""
    i, j = np.arange(n)[:, np.newaxis], np.arange(n + 1)
    steps = 4
    return {
        "TMAX": steps,
        "ex": (i * (j + 1) / n).astype(dtype),
        "ey": (i * (j + 2) / (n + 1)).astype(dtype),
        "hz": (i * (j + 3) / n).astype(dtype),
        "_fict_": np.arange(steps).astype(dtype),
    }
