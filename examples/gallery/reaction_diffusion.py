"""Reaction and diffusion: patterns of the Gray-Scott model.

Two substances react and spread. A drop of the second one in the middle grows into a pattern.
"""

import numpy as np

import dcpy

SMALL, LARGE = 20, 160


def laplacian(a):
    return a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2] - 4 * a[1:-1, 1:-1]


@dcpy.program(auto_optimize=True)
def reaction_diffusion(a, b, steps, feed, kill):
    for _ in range(steps):
        inner_a, inner_b = a[1:-1, 1:-1], b[1:-1, 1:-1]
        reaction = inner_a * inner_b**2
        change_a = 0.16 * laplacian(a) - reaction + feed * (1 - inner_a)
        change_b = 0.08 * laplacian(b) + reaction - (feed + kill) * inner_b
        a[1:-1, 1:-1] += change_a
        b[1:-1, 1:-1] += change_b
    return b


def initialize(n):
    a, b = np.ones((n, n)), np.zeros((n, n))
    middle = slice(n // 2 - n // 10, n // 2 + n // 10)
    a[middle, middle], b[middle, middle] = 0.5, 0.25
    return {"a": a, "b": b, "steps": 25 * (n - 20) + 10, "feed": 0.035, "kill": 0.06}


def draw(axes, result):
    axes.imshow(result, cmap="viridis")
