"""Azimuthal integration: mean of the data in rings of equal width, ring by ring. Domain: physics."""

import numpy as np


def azimint_naive(data, radius, npt):
    rmax = radius.max()
    res = np.zeros(npt, dtype=np.float64)
    for i in range(npt):
        inner = rmax * i / npt
        outer = rmax * (i + 1) / npt
        ring = np.logical_and((inner <= radius), (radius < outer))
        values = data[ring]
        res[i] = values.mean()
    return res


def initialize(N, npt):
    """`N` samples, `npt` rings."""
    rng = np.random.default_rng(42)
    return {"data": rng.random(N), "radius": rng.random(N), "npt": npt}
