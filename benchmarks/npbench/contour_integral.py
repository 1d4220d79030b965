"""Contour integral of a resolvent, for the eigenvalues of open systems (quantum transport). Domain: physics."""

import numpy as np


def contour_integral(NR, NM, slab_per_bc, Ham, int_pts, Y):
    P0 = np.zeros((NR, NM), dtype=np.complex128)
    P1 = np.zeros((NR, NM), dtype=np.complex128)
    for z in int_pts:
        Tz = np.zeros((NR, NR), dtype=np.complex128)
        for n in range(slab_per_bc + 1):
            zz = np.power(z, slab_per_bc / 2 - n)
            Tz += zz * Ham[n]
        if NR == NM:
            X = np.linalg.inv(Tz)
        else:
            X = np.linalg.solve(Tz, Y)
        if abs(z) < 1.0:
            X = -X
        P0 += X
        P1 += z * X
    return P0, P1


def initialize(NR, NM, slab_per_bc, num_int_pts):
    """Blocks of `NR` by `NR`, `NM` right-hand sides, `num_int_pts` points on two circles."""
    rng = np.random.default_rng(42)

    def complex_random(*shape):
        return rng.random(shape) + rng.random(shape) * 1j

    angles = 2 * np.pi * np.arange(num_int_pts) / num_int_pts
    radii = np.where(np.arange(num_int_pts) % 2, 0.5, 2.0)
    return {
        "NR": NR,
        "NM": NM,
        "slab_per_bc": slab_per_bc,
        "Ham": complex_random(slab_per_bc + 1, NR, NR) / NR + np.eye(NR),
        "int_pts": radii * np.exp(1j * angles),
        "Y": complex_random(NR, NM),
    }
