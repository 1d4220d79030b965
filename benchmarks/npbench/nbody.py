"""Stars under their own gravity, by leapfrog steps; returns kinetic and potential energy. Domain: physics."""

import numpy as np


def acceleration(pos, mass, G, softening):
    """The acceleration of each body, of shape (N, 3)."""
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


def energy(pos, vel, mass, G):
    """Kinetic and potential energy of all bodies."""
    kinetic = 0.5 * np.sum(np.sum(mass * vel**2))
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r = np.sqrt(dx**2 + dy**2 + dz**2)
    inv_r[inv_r > 0] = 1.0 / inv_r[inv_r > 0]
    potential = G * np.sum(np.sum(np.triu(-(mass * mass.T) * inv_r, 1)))
    return kinetic, potential


def nbody(mass, pos, vel, N, Nt, dt, G, softening):
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = acceleration(pos, mass, G, softening)
    KE = np.ndarray(Nt + 1, dtype=np.float64)
    PE = np.ndarray(Nt + 1, dtype=np.float64)
    KE[0], PE[0] = energy(pos, vel, mass, G)

    t = 0.0
    for i in range(Nt):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = acceleration(pos, mass, G, softening)
        vel += acc * dt / 2.0
        t += dt
        KE[i + 1], PE[i + 1] = energy(pos, vel, mass, G)
    return KE, PE


def initialize(N, tEnd, dt, softening, G):
    """`N` bodies until the time `tEnd`, in steps of `dt`."""
    rng = np.random.default_rng(42)
    return {
        "mass": 20.0 * np.ones((N, 1)) / N,
        "pos": rng.random((N, 3)),
        "vel": rng.random((N, 3)),
        "N": N,
        "Nt": int(np.ceil(tEnd / dt)),
        "dt": dt,
        "G": G,
        "softening": softening,
    }
