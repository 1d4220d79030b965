"""Smoothed particles: a star that settles (Monaghan, 1992), all pairs at once."""

import numpy as np


def separations(r, other):
    """Differences of all pairs of positions, three matrices."""
    count, their_count = r.shape[0], other.shape[0]
    dx = r[:, 0].reshape((count, 1)) - other[:, 0].reshape((their_count, 1)).T
    dy = r[:, 1].reshape((count, 1)) - other[:, 1].reshape((their_count, 1)).T
    dz = r[:, 2].reshape((count, 1)) - other[:, 2].reshape((their_count, 1)).T
    return dx, dy, dz


def spline(distance, h):
    """The cubic spline of Monaghan and Lattanzio (1985)."""
    q = distance / h
    near = 1.0 - 1.5 * q**2 + 0.75 * q**3
    far = 0.25 * (2.0 - q) ** 3
    return np.where(q < 1.0, near, np.where(q < 2.0, far, 0.0)) / (np.pi * h**3)


def spline_gradient(dx, dy, dz, h):
    """Its gradient."""
    distance = np.sqrt(dx**2 + dy**2 + dz**2)
    q = distance / h
    safe = np.where(distance > 0.0, distance, 1.0)
    near = -3.0 * q + 2.25 * q**2
    far = -0.75 * (2.0 - q) ** 2
    slope = np.where(q < 1.0, near, np.where(q < 2.0, far, 0.0)) / (np.pi * h**4) / safe
    return slope * dx, slope * dy, slope * dz


def density_at(points, positions, mass, h):
    """Density at some points."""
    dx, dy, dz = separations(points, positions)
    return np.sum(mass * spline(np.sqrt(dx**2 + dy**2 + dz**2), h), axis=1).reshape((points.shape[0], 1))


def pressure_of(rho, k, index):
    """A polytrope."""
    return k * rho ** (1.0 + 1.0 / index)


def viscosity(dx, dy, dz, v, rho, h, sound):
    """The artificial viscosity of each pair."""
    dvx, dvy, dvz = separations(v, v)
    along = dvx * dx + dvy * dy + dvz * dz
    approach = h * np.minimum(along, 0.0) / (dx**2 + dy**2 + dz**2 + 0.01 * h**2)
    mean = 0.5 * (rho + rho.T)
    return (-1.0 * sound * approach + 2.0 * approach**2) / mean


def acceleration(position, velocity, mass, h, k, index, attraction, friction):
    """Pressure, viscosity, an outer field and friction."""
    count = position.shape[0]
    rho = density_at(position, position, mass, h)
    p = pressure_of(rho, k, index)
    dx, dy, dz = separations(position, position)
    gx, gy, gz = spline_gradient(dx, dy, dz, h)
    drag = viscosity(dx, dy, dz, velocity, rho, h, 1.0)
    both = p / rho**2 + (p / rho**2).T + drag
    ax = -np.sum(mass * both * gx, axis=1).reshape((count, 1))
    ay = -np.sum(mass * both * gy, axis=1).reshape((count, 1))
    az = -np.sum(mass * both * gz, axis=1).reshape((count, 1))
    a = np.hstack((ax, ay, az))
    a -= attraction * position
    a -= friction * velocity
    return a


def program(position, velocity, radii, mass, h, k, index, attraction, friction, dt, steps):
    """Some leap-frog steps; returns the density at the particles and along a ray."""
    a = acceleration(position, velocity, mass, h, k, index, attraction, friction)
    for _ in range(steps):
        velocity += a * dt / 2.0
        position += velocity * dt
        a = acceleration(position, velocity, mass, h, k, index, attraction, friction)
        velocity += a * dt / 2.0
    rho = density_at(position, position, mass, h)
    ray = np.zeros((radii.shape[0], 3))
    ray[:, 0] = radii
    along = density_at(ray, position, mass, h)
    energy = 0.5 * mass * np.sum(velocity**2) + mass * np.sum(pressure_of(rho, k, index) / rho)
    return rho, along, energy


def arguments(n):
    """A cloud of particles."""
    rng = np.random.default_rng(42)
    count = 4 * n
    return (
        rng.standard_normal((count, 3)), np.zeros((count, 3)), np.linspace(0.0, 1.0, 2 * n),
        2.0 / count, 0.3, 0.1, 1.0, 2.0, 1.0, 0.04, 2,
    )  # fmt: skip
