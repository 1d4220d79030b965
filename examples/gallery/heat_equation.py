"""Heat equation: a cold plate with a hot edge and two hot bars.

Explicit time steps with the five-point stencil. Each step reads the plate as it was before.
"""

import numpy as np

import dcpy

SMALL, LARGE = 24, 400


@dcpy.program(auto_optimize=True)
def heat_equation(u, steps):
    for _ in range(steps):
        neighbours = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] += 0.2 * (neighbours - 4 * u[1:-1, 1:-1])
    return u


def initialize(n):
    u = np.zeros((n, n))
    u[0] = 1
    u[n // 2 : n // 2 + n // 8, n // 8 : n // 3] = 2
    u[n // 2 : n // 2 + n // 8, -n // 3 : -n // 8] = 2
    return {"u": u, "steps": n}


def draw(axes, result):
    axes.imshow(result, cmap="inferno")
