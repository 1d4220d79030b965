"""Shallow water: waves of two drops in a basin without borders.

The height `h` moves the water, and the water moves the height; `np.roll` makes the basin periodic.
"""

import numpy as np

import dcpy

SMALL, LARGE = 16, 300


@dcpy.program(auto_optimize=True)
def shallow_water(h, u, v, steps, dt):
    for _ in range(steps):
        u -= dt * (np.roll(h, -1, axis=0) - np.roll(h, 1, axis=0)) / 2
        v -= dt * (np.roll(h, -1, axis=1) - np.roll(h, 1, axis=1)) / 2
        hu, hv = h * u, h * v
        h -= dt * (np.roll(hu, -1, axis=0) - np.roll(hu, 1, axis=0)) / 2
        h -= dt * (np.roll(hv, -1, axis=1) - np.roll(hv, 1, axis=1)) / 2
    return h


def initialize(n):
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    drops = np.exp(-500 * ((x - 0.35) ** 2 + (y - 0.4) ** 2)) + np.exp(-500 * ((x - 0.7) ** 2 + (y - 0.6) ** 2))
    return {"h": 1 + 0.1 * drops, "u": np.zeros((n, n)), "v": np.zeros((n, n)), "steps": n // 2, "dt": 0.4}


def draw(axes, result):
    axes.imshow(result, cmap="Blues_r")
