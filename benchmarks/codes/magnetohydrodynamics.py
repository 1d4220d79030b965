"""Magnetohydrodynamics: a second-order finite-volume step, the field kept free of divergence by constrained transport.

Rusanov fluxes between states extrapolated in space and time (Toro, 2009), electric fields at the corners by averaging
(Balsara and Spicer, 1999).
"""

import numpy as np

GAMMA = 5.0 / 3.0


def curl(az, dx):
    """The magnetic field on faces, of a vector potential at the corners."""
    bx = (az - np.roll(az, 1, axis=1)) / dx
    by = -(az - np.roll(az, 1, axis=0)) / dx
    return bx, by


def averaged(bx, by):
    """The magnetic field in the cells."""
    return 0.5 * (bx + np.roll(bx, 1, axis=0)), 0.5 * (by + np.roll(by, 1, axis=1))


def conserved(rho, vx, vy, p, bx, by, volume):
    """Mass, momenta and energy of each cell; `p` is the total pressure."""
    mass = rho * volume
    momentum_x = rho * vx * volume
    momentum_y = rho * vy * volume
    square = bx**2 + by**2
    energy = ((p - 0.5 * square) / (GAMMA - 1.0) + 0.5 * rho * (vx**2 + vy**2) + 0.5 * square) * volume
    return mass, momentum_x, momentum_y, energy


def primitive(mass, momentum_x, momentum_y, energy, bx, by, volume):
    """Density, velocity and total pressure of each cell."""
    rho = mass / volume
    vx = momentum_x / rho / volume
    vy = momentum_y / rho / volume
    square = bx**2 + by**2
    p = (energy / volume - 0.5 * rho * (vx**2 + vy**2) - 0.5 * square) * (GAMMA - 1.0) + 0.5 * square
    return rho, vx, vy, p


def gradient(f, dx):
    """Central differences."""
    fx = (np.roll(f, -1, axis=0) - np.roll(f, 1, axis=0)) / (2.0 * dx)
    fy = (np.roll(f, -1, axis=1) - np.roll(f, 1, axis=1)) / (2.0 * dx)
    return fx, fy


def limited(f, dx, fx, fy):
    """Slopes that make no new extrema."""
    zero_x = 1.0 * (fx == 0.0)
    zero_y = 1.0 * (fy == 0.0)
    fx = np.maximum(0.0, np.minimum(1.0, ((f - np.roll(f, 1, axis=0)) / dx) / (fx + 1e-8 * zero_x))) * fx
    fx = np.maximum(0.0, np.minimum(1.0, (-(f - np.roll(f, -1, axis=0)) / dx) / (fx + 1e-8 * (fx == 0.0)))) * fx
    fy = np.maximum(0.0, np.minimum(1.0, ((f - np.roll(f, 1, axis=1)) / dx) / (fy + 1e-8 * zero_y))) * fy
    fy = np.maximum(0.0, np.minimum(1.0, (-(f - np.roll(f, -1, axis=1)) / dx) / (fy + 1e-8 * (fy == 0.0)))) * fy
    return fx, fy


def extrapolated(f, fx, fy, dx):
    """Values on both sides of the faces."""
    x_left = np.roll(f - fx * dx / 2.0, -1, axis=0)
    x_right = f + fx * dx / 2.0
    y_left = np.roll(f - fy * dx / 2.0, -1, axis=1)
    y_right = f + fy * dx / 2.0
    return x_left, x_right, y_left, y_right


def flux(rho_l, rho_r, vx_l, vx_r, vy_l, vy_r, p_l, p_r, bx_l, bx_r, by_l, by_r):
    """Rusanov's flux of mass, momenta, energy and the field along a face."""
    energy_l = (p_l - 0.5 * (bx_l**2 + by_l**2)) / (GAMMA - 1.0) + 0.5 * rho_l * (vx_l**2 + vy_l**2)
    energy_l = energy_l + 0.5 * (bx_l**2 + by_l**2)
    energy_r = (p_r - 0.5 * (bx_r**2 + by_r**2)) / (GAMMA - 1.0) + 0.5 * rho_r * (vx_r**2 + vy_r**2)
    energy_r = energy_r + 0.5 * (bx_r**2 + by_r**2)

    rho = 0.5 * (rho_l + rho_r)
    momx = 0.5 * (rho_l * vx_l + rho_r * vx_r)
    momy = 0.5 * (rho_l * vy_l + rho_r * vy_r)
    energy = 0.5 * (energy_l + energy_r)
    bx = 0.5 * (bx_l + bx_r)
    by = 0.5 * (by_l + by_r)
    p = (GAMMA - 1.0) * (energy - 0.5 * (momx**2 + momy**2) / rho - 0.5 * (bx**2 + by**2)) + 0.5 * (bx**2 + by**2)

    flux_mass = momx
    flux_momx = momx**2 / rho + p - bx * bx
    flux_momy = momx * momy / rho - bx * by
    flux_energy = (energy + p) * momx / rho - bx * (bx * momx + by * momy) / rho
    flux_by = (by * momx - bx * momy) / rho

    sound_l = np.sqrt(GAMMA * (p_l - 0.5 * (bx_l**2 + by_l**2)) / rho_l)
    sound_r = np.sqrt(GAMMA * (p_r - 0.5 * (bx_r**2 + by_r**2)) / rho_r)
    alfven_l = np.sqrt((bx_l**2 + by_l**2) / rho_l)
    alfven_r = np.sqrt((bx_r**2 + by_r**2) / rho_r)
    fast_l = np.sqrt(sound_l**2 + alfven_l**2) + np.abs(vx_l)
    fast_r = np.sqrt(sound_r**2 + alfven_r**2) + np.abs(vx_r)
    speed = np.maximum(fast_l, fast_r)

    flux_mass = flux_mass - speed * 0.5 * (rho_l - rho_r)
    flux_momx = flux_momx - speed * 0.5 * (rho_l * vx_l - rho_r * vx_r)
    flux_momy = flux_momy - speed * 0.5 * (rho_l * vy_l - rho_r * vy_r)
    flux_energy = flux_energy - speed * 0.5 * (energy_l - energy_r)
    flux_by = flux_by - speed * 0.5 * (by_l - by_r)
    return flux_mass, flux_momx, flux_momy, flux_energy, flux_by


def applied(f, flux_x, flux_y, dx, dt):
    """A conserved quantity after a step."""
    f = f - dt * dx * flux_x
    f = f + dt * dx * np.roll(flux_x, 1, axis=0)
    f = f - dt * dx * flux_y
    return f + dt * dx * np.roll(flux_y, 1, axis=1)


def transported(bx, by, flux_by_x, flux_bx_y, dx, dt):
    """The field on faces after a step, from the electric field at the corners."""
    ez = 0.25 * (-flux_by_x - np.roll(flux_by_x, -1, axis=1) + flux_bx_y + np.roll(flux_bx_y, -1, axis=0))
    d_bx, d_by = curl(-ez, dx)
    return bx + dt * d_bx, by + dt * d_by


def program(mass, momentum_x, momentum_y, energy, bx_face, by_face, dx, steps):
    """Some steps; returns density, pressure and the largest divergence of the field."""
    volume = dx * dx
    t = 0.0
    for _ in range(steps):
        bx, by = averaged(bx_face, by_face)
        rho, vx, vy, p = primitive(mass, momentum_x, momentum_y, energy, bx, by, volume)
        square = bx**2 + by**2
        sound = np.sqrt(GAMMA * (p - 0.5 * square) / rho)
        alfven = np.sqrt(square / rho)
        dt = 0.4 * np.min(dx / (np.sqrt(sound**2 + alfven**2) + np.sqrt(vx**2 + vy**2)))
        rho_x, rho_y = gradient(rho, dx)
        vx_x, vx_y = gradient(vx, dx)
        vy_x, vy_y = gradient(vy, dx)
        p_x, p_y = gradient(p, dx)
        bx_x, bx_y = gradient(bx, dx)
        by_x, by_y = gradient(by, dx)
        rho_x, rho_y = limited(rho, dx, rho_x, rho_y)
        vx_x, vx_y = limited(vx, dx, vx_x, vx_y)
        vy_x, vy_y = limited(vy, dx, vy_x, vy_y)
        p_x, p_y = limited(p, dx, p_x, p_y)
        bx_x, bx_y = limited(bx, dx, bx_x, bx_y)
        by_x, by_y = limited(by, dx, by_x, by_y)
        half = 0.5 * dt
        rho_h = rho - half * (vx * rho_x + rho * vx_x + vy * rho_y + rho * vy_y)
        vx_h = vx - half * (vx * vx_x + vy * vx_y + (p_x - 2.0 * bx * bx_x - by * bx_y - bx * by_y) / rho)
        vy_h = vy - half * (vx * vy_x + vy * vy_y + (p_y - 2.0 * by * by_y - bx * by_x - by * bx_x) / rho)
        gas = p - 0.5 * (bx**2 + by**2)
        p_h = p - half * (
            (GAMMA * gas + by**2) * vx_x - bx * by * vy_x + vx * p_x + (GAMMA - 2.0) * (bx * vx + by * vy) * bx_x
            + (GAMMA * gas + bx**2) * vy_y - bx * by * vx_y + vy * p_y + (GAMMA - 2.0) * (bx * vx + by * vy) * by_y
        )  # fmt: skip
        bx_h = bx - half * (-by * vx_y + bx * vy_y + vy * bx_y - vx * by_y)
        by_h = by - half * (by * vx_x - bx * vy_x - vy * bx_x + vx * by_x)
        rho_xl, rho_xr, rho_yl, rho_yr = extrapolated(rho_h, rho_x, rho_y, dx)
        vx_xl, vx_xr, vx_yl, vx_yr = extrapolated(vx_h, vx_x, vx_y, dx)
        vy_xl, vy_xr, vy_yl, vy_yr = extrapolated(vy_h, vy_x, vy_y, dx)
        p_xl, p_xr, p_yl, p_yr = extrapolated(p_h, p_x, p_y, dx)
        bx_xl, bx_xr, bx_yl, bx_yr = extrapolated(bx_h, bx_x, bx_y, dx)
        by_xl, by_xr, by_yl, by_yr = extrapolated(by_h, by_x, by_y, dx)
        mass_fx, momx_fx, momy_fx, energy_fx, by_fx = flux(
            rho_xl, rho_xr, vx_xl, vx_xr, vy_xl, vy_xr, p_xl, p_xr, bx_xl, bx_xr, by_xl, by_xr
        )
        mass_fy, momy_fy, momx_fy, energy_fy, bx_fy = flux(
            rho_yl, rho_yr, vy_yl, vy_yr, vx_yl, vx_yr, p_yl, p_yr, by_yl, by_yr, bx_yl, bx_yr
        )
        mass = applied(mass, mass_fx, mass_fy, dx, dt)
        momentum_x = applied(momentum_x, momx_fx, momx_fy, dx, dt)
        momentum_y = applied(momentum_y, momy_fx, momy_fy, dx, dt)
        energy = applied(energy, energy_fx, energy_fy, dx, dt)
        bx_face, by_face = transported(bx_face, by_face, by_fx, bx_fy, dx, dt)
        t += dt
    bx, by = averaged(bx_face, by_face)
    rho, vx, vy, p = primitive(mass, momentum_x, momentum_y, energy, bx, by, volume)
    divergence = (bx_face - np.roll(bx_face, 1, axis=0) + by_face - np.roll(by_face, 1, axis=1)) / dx
    return rho, p, np.max(np.abs(divergence)), t


def arguments(n):
    """The vortex of Orszag and Tang (1979)."""
    dx = 1.0 / n
    centres = np.linspace(0.5 * dx, 1.0 - 0.5 * dx, n)
    x, y = np.meshgrid(centres, centres, indexing="ij")
    rho = GAMMA**2 / (4.0 * np.pi) * np.ones_like(x)
    az = np.cos(4.0 * np.pi * (x + dx / 2)) / (4.0 * np.pi * np.sqrt(4.0 * np.pi))
    az += np.cos(2.0 * np.pi * (y + dx / 2)) / (2.0 * np.pi * np.sqrt(4.0 * np.pi))
    bx, by = curl(az, dx)
    in_cells = averaged(bx, by)
    pressure = GAMMA / (4.0 * np.pi) * np.ones_like(x) + 0.5 * (in_cells[0] ** 2 + in_cells[1] ** 2)
    state = conserved(rho, -np.sin(2.0 * np.pi * y), np.sin(2.0 * np.pi * x), pressure, *in_cells, dx * dx)
    return (*state, bx, by, dx, 3)
