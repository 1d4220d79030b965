"""Lattice Boltzmann: flow around a cylinder, by the D2Q9 model.

Nine populations of particles collide in each cell and move on to its neighbours. The cylinder sends them back.
"""

import numpy as np

import dcpy

SMALL, LARGE = 12, 80
#: of each population: its direction, the population of the opposite direction, its weight
LATTICE = (
    (0, 0, 0, 4 / 9),
    (1, 0, 3, 1 / 9), (0, 1, 4, 1 / 9), (-1, 0, 1, 1 / 9), (0, -1, 2, 1 / 9),
    (1, 1, 7, 1 / 36), (-1, 1, 8, 1 / 36), (-1, -1, 5, 1 / 36), (1, -1, 6, 1 / 36),
)  # fmt: skip


@dcpy.program(auto_optimize=True)
def lattice_boltzmann(f, solid, inflow, steps, omega):
    for _ in range(steps):
        density = f.sum(axis=0)
        ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / density
        uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / density
        moved = np.empty_like(f)
        for k, (cx, cy, opposite, weight) in enumerate(LATTICE):
            along = 3 * (cx * ux + cy * uy)
            equilibrium = weight * density * (1 + along + along**2 / 2 - 1.5 * (ux**2 + uy**2))
            collided = np.where(solid, f[opposite], f[k] + omega * (equilibrium - f[k]))
            moved[k] = np.roll(np.roll(collided, cx, axis=0), cy, axis=1)
        f[:] = moved
        f[:, 0, :] = inflow
    return np.where(solid, 0, np.sqrt(ux**2 + uy**2))


def initialize(n):
    x, y = np.meshgrid(np.arange(3 * n), np.arange(n), indexing="ij")
    inflow = np.array([w * (1 + 0.3 * cx + 0.045 * cx**2 - 0.015) for cx, _, _, w in LATTICE])
    f = np.ones((9, 3 * n, n)) * inflow[:, None, None]
    solid = (x - n / 2) ** 2 + (y - n / 2 - 1) ** 2 < (n / 9) ** 2
    return {"f": f, "solid": solid, "inflow": inflow[:, None] * np.ones(n), "steps": 20 * (n - 11), "omega": 1.85}


def draw(axes, result):
    axes.imshow(result.T, cmap="magma")
