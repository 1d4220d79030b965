"""Pi from random points in a square: NumPy's own random numbers, drawn one by one in a loop."""

import numpy as np

import dcpy


@dcpy.program
def monte_carlo_pi(seed, points):
    rng = np.random.default_rng(seed)
    inside = 0
    for _ in range(points):
        x, y = rng.random(), rng.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / points


def initialize(n, dtype=np.float64):
    """Arguments for `n` times 20 points; `dtype` is not used."""
    return {"seed": 42, "points": 20 * n}
