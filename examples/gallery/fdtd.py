"""FDTD: an electromagnetic wave that passes through two slits.

Maxwell's equations in two dimensions, by finite differences in the time domain on Yee's grid.
"""

import numpy as np

import dcpy

SMALL, LARGE = 24, 300


@dcpy.program(auto_optimize=True)
def fdtd(ez, hx, hy, open_cells, steps):
    for t in range(steps):
        ez[2, :] = np.sin(0.35 * t)
        hx[:, :] -= 0.5 * (ez[:, 1:] - ez[:, :-1])
        hy[:, :] += 0.5 * (ez[1:, :] - ez[:-1, :])
        ez[1:-1, 1:-1] += 0.5 * (hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1])
        ez *= open_cells
    return ez


def initialize(n):
    open_cells = np.ones((n, n))
    open_cells[n // 3 : n // 3 + 2] = 0
    for middle in (2 * n // 5, 3 * n // 5):
        open_cells[n // 3 : n // 3 + 2, middle - n // 30 : middle + n // 30 + 1] = 1
    fields = {"ez": np.zeros((n, n)), "hx": np.zeros((n, n - 1)), "hy": np.zeros((n - 1, n))}
    return {**fields, "open_cells": open_cells, "steps": 3 * n // 2}


def draw(axes, result):
    axes.imshow(result, cmap="RdBu", vmin=-1, vmax=1)
