"""Finite-difference time domain in the plane: two electric components and a magnetic one. Domain: physics."""

import numpy as np


def fdtd_2d(TMAX, ex, ey, hz, _fict_):
    for t in range(TMAX):
        ey[0, :] = _fict_[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def initialize(TMAX, NX, NY):
    """`TMAX` steps on a field of `NX` by `NY` points."""
    i, j = np.ogrid[:NX, :NY]
    return {
        "TMAX": TMAX,
        "ex": i * (j + 1) / NX,
        "ey": i * (j + 2) / NY,
        "hz": i * (j + 3) / NX,
        "_fict_": np.arange(TMAX, dtype=np.float64),
    }
