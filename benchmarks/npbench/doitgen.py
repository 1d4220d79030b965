"""Multiresolution analysis: each row of a three-dimensional array times a matrix. Domain: chemistry."""

import numpy as np


def doitgen(NR, NQ, NP, A, C4):
    A[:] = np.reshape(np.reshape(A, (NR, NQ, 1, NP)) @ C4, (NR, NQ, NP))


def initialize(NR, NQ, NP):
    """An array of `NR` by `NQ` by `NP`, a matrix of `NP` by `NP`."""
    r, q, p = np.ogrid[:NR, :NQ, :NP]
    row, column = np.ogrid[:NP, :NP]
    return {
        "NR": NR,
        "NQ": NQ,
        "NP": NP,
        "A": ((r * q + p) % NP) / NP,
        "C4": (row * column % NP) / NP,
    }
