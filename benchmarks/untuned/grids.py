"""Grids: stencils, limiters, fields on staggered grids and sweeps in place."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _life(cells):
    found = np.zeros_like(cells)
    for i in range(1, cells.shape[0] - 1):
        for j in range(1, cells.shape[1] - 1):
            alive = 0
            for a in range(-1, 2):
                for b in range(-1, 2):
                    alive += cells[i + a, j + b]
            alive -= cells[i, j]
            if alive == 3 or (alive == 2 and cells[i, j] == 1):
                found[i, j] = 1
    return found


@untuned(lambda n, rng: (rng.integers(0, 2, (n, n)).astype(np.uint8),), 32, 300, 2000, numba=_life, parallel="i")
def game_of_life(cells):
    rows = cells[:-2] + cells[1:-1] + cells[2:]
    alive = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:] - cells[1:-1, 1:-1]
    after = np.zeros_like(cells)
    after[1:-1, 1:-1] = (alive == 3) | ((alive == 2) & (cells[1:-1, 1:-1] == 1))
    return after


def _advected(density, courant, steps):
    found = density.copy()
    flux = np.zeros(density.shape[0])
    for _ in range(steps):
        for i in range(1, density.shape[0] - 1):
            left, right = found[i] - found[i - 1], found[i + 1] - found[i]
            slope = 0.0
            if left * right > 0:
                slope = left if abs(left) < abs(right) else right
            flux[i] = courant * (found[i] + 0.5 * (1 - courant) * slope)
        for i in range(2, density.shape[0] - 1):
            found[i] -= flux[i] - flux[i - 1]
    return found


@untuned(lambda n, rng: (rng.random(n), 0.3, 10), 100, 5000, 200_000, numba=_advected)
def limited_advection(density, courant, steps):
    density = density.copy()
    for _ in range(steps):
        jumps = density[1:] - density[:-1]
        left, right = jumps[:-1], jumps[1:]
        smaller = np.where(np.abs(left) < np.abs(right), left, right)
        slope = np.where(left * right > 0, smaller, 0.0)
        flux = courant * (density[1:-1] + 0.5 * (1 - courant) * slope)
        density[2:-1] -= np.diff(flux)
    return density


def _magnetic(ex, ey, ez, hx, hy, hz, c):
    hx, hy, hz = hx.copy(), hy.copy(), hz.copy()
    for i in range(ex.shape[0] - 1):
        for j in range(ex.shape[1] - 1):
            for k in range(ex.shape[2] - 1):
                hx[i, j, k] -= c * (ez[i, j + 1, k] - ez[i, j, k] - ey[i, j, k + 1] + ey[i, j, k])
                hy[i, j, k] -= c * (ex[i, j, k + 1] - ex[i, j, k] - ez[i + 1, j, k] + ez[i, j, k])
                hz[i, j, k] -= c * (ey[i + 1, j, k] - ey[i, j, k] - ex[i, j + 1, k] + ex[i, j, k])
    return hx, hy, hz


@untuned(lambda n, rng: (*(rng.random((n, n, n)) for _ in range(6)), 0.3), 6, 24, 130, numba=_magnetic, parallel="i")
def magnetic_update(ex, ey, ez, hx, hy, hz, c):
    hx, hy, hz = hx.copy(), hy.copy(), hz.copy()
    inner = np.s_[:-1, :-1, :-1]
    hx[inner] -= c * (ez[:-1, 1:, :-1] - ez[inner] - ey[:-1, :-1, 1:] + ey[inner])
    hy[inner] -= c * (ex[:-1, :-1, 1:] - ex[inner] - ez[1:, :-1, :-1] + ez[inner])
    hz[inner] -= c * (ey[1:, :-1, :-1] - ey[inner] - ex[:-1, 1:, :-1] + ex[inner])
    return hx, hy, hz


@untuned(lambda n, rng: (rng.random((n, n)), rng.random((n, n)), 5), 16, 100, 600, numpy=False)
def relaxed_in_place(potential, source, sweeps):
    potential = potential.copy()
    for _ in range(sweeps):
        for i in range(1, potential.shape[0] - 1):
            for j in range(1, potential.shape[1] - 1):
                around = potential[i - 1, j] + potential[i + 1, j] + potential[i, j - 1] + potential[i, j + 1]
                potential[i, j] = 0.25 * (around - source[i, j])
    return potential


@untuned(lambda n, rng: (rng.integers(0, 6, (n, n)),), 10, 40, 120, numpy=False)
def sandpile(grains):
    grains = grains.copy()
    rows, columns = grains.shape
    falling = True
    sweeps = 0
    while falling and sweeps < 200:
        falling = False
        sweeps += 1
        for i in range(rows):
            for j in range(columns):
                if grains[i, j] >= 4:
                    falling = True
                    grains[i, j] -= 4
                    if i > 0:
                        grains[i - 1, j] += 1
                    if i < rows - 1:
                        grains[i + 1, j] += 1
                    if j > 0:
                        grains[i, j - 1] += 1
                    if j < columns - 1:
                        grains[i, j + 1] += 1
    return grains


def _smoothed(levels):
    found = np.zeros_like(levels)
    for i in range(1, levels.shape[0] - 1):
        for j in range(1, levels.shape[1] - 1):
            found[i, j] = (levels[i - 1, j] + levels[i + 1, j] + levels[i, j - 1] + levels[i, j + 1] + 2) // 4
    return found


@untuned(lambda n, rng: (rng.integers(0, 1000, (n, n)).astype(np.int32),), 32, 200, 1500, numba=_smoothed,
         parallel="i")  # fmt: skip
def smoothed_integers(levels):
    smooth = np.zeros_like(levels)
    around = levels[:-2, 1:-1] + levels[2:, 1:-1] + levels[1:-1, :-2] + levels[1:-1, 2:]
    smooth[1:-1, 1:-1] = (around + 2) // 4
    return smooth
