"""Mandelbrot set: how long the numbers of a grid stay bounded.

All numbers take all steps in this array program. The compiled program computes number by number.
"""

import numpy as np

import dcpy

SMALL, LARGE = 16, 250


@dcpy.program(auto_optimize=True)
def mandelbrot(c, limit):
    z = np.zeros_like(c)
    steps = np.zeros(c.shape, dtype=np.int64)
    for _ in range(limit):
        inside = z.real**2 + z.imag**2 <= 4
        z = np.where(inside, z * z + c, z)
        steps += inside
    return steps


def initialize(n):
    x, y = np.meshgrid(np.linspace(-2, 0.6, 3 * n // 2), np.linspace(-1.2, 1.2, n))
    return {"c": x + 1j * y, "limit": 60}


def draw(axes, result):
    axes.imshow(np.log(1 + result), cmap="twilight_shifted")
