"""Smoke: a fluid solver that is stable at any step (Stam, "Stable fluids", 1999), with vorticity confinement."""

import numpy as np

SWEEPS = 20


def set_walls(kind, x):
    """Values at the walls: velocity through a wall changes its sign there, all else goes on."""
    across = -1.0 if kind == 1 else 1.0
    along = -1.0 if kind == 2 else 1.0
    x[0, 1:-1] = across * x[1, 1:-1]
    x[-1, 1:-1] = across * x[-2, 1:-1]
    x[1:-1, 0] = along * x[1:-1, 1]
    x[1:-1, -1] = along * x[1:-1, -2]
    x[0, 0] = 0.5 * (x[1, 0] + x[0, 1])
    x[0, -1] = 0.5 * (x[1, -1] + x[0, -2])
    x[-1, 0] = 0.5 * (x[-2, 0] + x[-1, 1])
    x[-1, -1] = 0.5 * (x[-2, -1] + x[-1, -2])


def solve(kind, x, right, a, c):
    """Jacobi's method for ``c x - a (sum of the neighbours) = right``."""
    for _ in range(SWEEPS):
        x[1:-1, 1:-1] = (right[1:-1, 1:-1] + a * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])) / c
        set_walls(kind, x)


def diffuse(kind, x, before, rate, dt):
    """An implicit step of diffusion."""
    n = x.shape[0] - 2
    a = dt * rate * n * n
    solve(kind, x, before, a, 1.0 + 4.0 * a)


def advect(kind, x, before, u, v, dt):
    """What arrives at each cell, followed back along the velocity, between four cells."""
    n = x.shape[0] - 2
    m = x.shape[1] - 2
    i, j = np.meshgrid(np.arange(1, n + 1), np.arange(1, m + 1), indexing="ij")
    back_x = np.clip(i - dt * n * u[1:-1, 1:-1], 0.5, n + 0.5)
    back_y = np.clip(j - dt * m * v[1:-1, 1:-1], 0.5, m + 0.5)
    i0 = np.floor(back_x).astype(np.int64)
    j0 = np.floor(back_y).astype(np.int64)
    i1 = i0 + 1
    j1 = j0 + 1
    s1 = back_x - i0
    s0 = 1.0 - s1
    t1 = back_y - j0
    t0 = 1.0 - t1
    x[1:-1, 1:-1] = s0 * (t0 * before[i0, j0] + t1 * before[i0, j1]) + s1 * (t0 * before[i1, j0] + t1 * before[i1, j1])
    set_walls(kind, x)


def project(u, v, p, div):
    """Makes the velocity free of divergence."""
    n = u.shape[0] - 2
    h = 1.0 / n
    div[1:-1, 1:-1] = -0.5 * h * (u[2:, 1:-1] - u[:-2, 1:-1] + v[1:-1, 2:] - v[1:-1, :-2])
    p[:] = 0.0
    set_walls(0, div)
    set_walls(0, p)
    solve(0, p, div, 1.0, 4.0)
    u[1:-1, 1:-1] -= 0.5 * (p[2:, 1:-1] - p[:-2, 1:-1]) / h
    v[1:-1, 1:-1] -= 0.5 * (p[1:-1, 2:] - p[1:-1, :-2]) / h
    set_walls(1, u)
    set_walls(2, v)


def confine(u, v, strength, dt):
    """Gives back the small eddies that the grid swallows."""
    curl = np.zeros_like(u)
    curl[1:-1, 1:-1] = 0.5 * (v[2:, 1:-1] - v[:-2, 1:-1]) - 0.5 * (u[1:-1, 2:] - u[1:-1, :-2])
    size = np.abs(curl)
    gx = 0.5 * (size[2:, 1:-1] - size[:-2, 1:-1])
    gy = 0.5 * (size[1:-1, 2:] - size[1:-1, :-2])
    length = np.sqrt(gx * gx + gy * gy) + 1e-5
    u[1:-1, 1:-1] += dt * strength * (gy / length) * curl[1:-1, 1:-1]
    v[1:-1, 1:-1] -= dt * strength * (gx / length) * curl[1:-1, 1:-1]


def velocity_step(u, v, u0, v0, viscosity, dt):
    """Forces, diffusion, projection, advection, projection."""
    u += dt * u0
    v += dt * v0
    diffuse(1, u0, u, viscosity, dt)
    diffuse(2, v0, v, viscosity, dt)
    project(u0, v0, u, v)
    advect(1, u, u0, u0, v0, dt)
    advect(2, v, v0, u0, v0, dt)
    project(u, v, u0, v0)


def density_step(x, x0, u, v, diffusion, dt):
    """Sources, diffusion, advection."""
    x += dt * x0
    diffuse(0, x0, x, diffusion, dt)
    advect(0, x, x0, u, v, dt)


def program(smoke, heat, u, v, steps, dt):
    """Smoke that rises over a fire for some steps."""
    source = np.zeros_like(smoke)
    burning = np.zeros_like(heat)
    fx = np.zeros_like(u)
    fy = np.zeros_like(v)
    for _ in range(steps):
        source[:] = 0.0
        burning[:] = 0.0
        source[source.shape[0] // 2, 1:4] = 10.0
        burning[source.shape[0] // 2, 1:4] = 5.0
        fx[:] = 0.0
        fy[:] = 0.3 * heat - 0.05 * smoke
        velocity_step(u, v, fx, fy, 1e-4, dt)
        confine(u, v, 0.2, dt)
        density_step(smoke, source, u, v, 1e-5, dt)
        density_step(heat, burning, u, v, 1e-4, dt)
        heat *= 0.99


def arguments(n):
    """A still room."""
    rng = np.random.default_rng(5)
    still = [0.01 * rng.random((n, n)) for _ in range(4)]
    return (*still, 2, 0.1)
