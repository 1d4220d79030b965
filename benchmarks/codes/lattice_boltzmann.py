"""Lattice Boltzmann: flow past a cylinder on the D2Q9 lattice (Qian, d'Humieres and Lallemand, 1992)."""

import numpy as np

TAU = 0.6


def equilibrium(rho, ux, uy, cx, cy, weights):
    """Maxwell's distribution, expanded to second order, for each of nine velocities."""
    result = []
    square = ux**2 + uy**2
    for ex, ey, weight in zip(cx, cy, weights):
        along = ex * ux + ey * uy
        result.append(weight * rho * (1.0 + 3.0 * along + 4.5 * along**2 - 1.5 * square))
    return result


def moments(f, cx, cy):
    """Density and velocity."""
    rho = f[0].copy()
    for part in f[1:]:
        rho = rho + part
    momentum_x = np.zeros_like(rho)
    momentum_y = np.zeros_like(rho)
    for part, ex, ey in zip(f, cx, cy):
        momentum_x = momentum_x + ex * part
        momentum_y = momentum_y + ey * part
    return rho, momentum_x / rho, momentum_y / rho


def program(start, obstacle, steps):
    """Distributions after some steps: stream, bounce back, collide. Returns density and vorticity."""
    cx = (0, 0, 1, 1, 1, 0, -1, -1, -1)
    cy = (0, 1, 1, 0, -1, -1, -1, 0, 1)
    opposite = (0, 5, 6, 7, 8, 1, 2, 3, 4)
    weights = (4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36)
    f = start.copy()
    for _ in range(steps):
        f[6:9, -1, :] = f[6:9, -2, :]
        f[2:5, 0, :] = f[2:5, 1, :]
        moved = []
        for i, (ex, ey) in enumerate(zip(cx, cy)):
            moved.append(np.roll(np.roll(f[i], ex, axis=0), ey, axis=1))
        bounced = [moved[i] for i in opposite]
        rho, ux, uy = moments(moved, cx, cy)
        ux[obstacle] = 0.0
        uy[obstacle] = 0.0
        feq = equilibrium(rho, ux, uy, cx, cy, weights)
        for i, (here, target, back) in enumerate(zip(moved, feq, bounced)):
            f[i] = np.where(obstacle, back, here - (here - target) / TAU)
    parts = [f[i] for i in range(9)]
    rho, ux, uy = moments(parts, cx, cy)
    vorticity = (np.roll(ux, -1, axis=1) - np.roll(ux, 1, axis=1)) - (np.roll(uy, -1, axis=0) - np.roll(uy, 1, axis=0))
    vorticity[obstacle] = 0.0
    return rho, vorticity


def arguments(n):
    """A cylinder in a stream."""
    rng = np.random.default_rng(42)
    start = np.ones((9, n, 2 * n)) + 0.01 * rng.standard_normal((9, n, 2 * n))
    start[3] += 0.3
    x, y = np.meshgrid(np.arange(n), np.arange(2 * n), indexing="ij")
    return start, (x - n // 2) ** 2 + (y - n // 2) ** 2 < (n // 4) ** 2, 3
