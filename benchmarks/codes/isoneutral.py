"""Isoneutral mixing in an ocean model: the rotated diffusion tensor by triads (Griffies et al., 1998)."""

import numpy as np

SLOPE_MAX = 1e-3
SLOPE_WIDTH = 2e-4
K_ISO = 1000.0
K_STEEP = 200.0
EPSILON = 1e-20


def taper(slope):
    """Between 1, for flat slopes, and 0, for steep ones (Danabasoglu and McWilliams, 1995)."""
    return 0.5 * (1.0 + np.tanh((-np.abs(slope) + SLOPE_MAX) / SLOPE_WIDTH))


def expansion(temperature, salinity):
    """How density changes with temperature and salinity: a quadratic equation of state."""
    by_temperature = -0.1499 - 2.0 * 0.0052 * temperature - 2.0 * 0.0027 * salinity * 0.01
    by_salinity = 0.7718 - 0.0027 * temperature + 0.0 * salinity
    return by_temperature, by_salinity


def tensor(temperature, salinity, dx, dy, dz, wet, k11, k22, k33, ai_ez, ai_nz, ai_bx, ai_by):
    """The elements of the diffusion tensor, from slopes on the triads around each face."""
    nz = temperature.shape[2]
    d_t, d_s = expansion(temperature, salinity)
    dt_dz = np.zeros_like(temperature)
    ds_dz = np.zeros_like(temperature)
    dt_dx = np.zeros_like(temperature)
    ds_dx = np.zeros_like(temperature)
    dt_dy = np.zeros_like(temperature)
    ds_dy = np.zeros_like(temperature)
    dt_dz[:, :, :-1] = wet[:, :, 1:] * (temperature[:, :, 1:] - temperature[:, :, :-1]) / dz[None, None, :-1]
    ds_dz[:, :, :-1] = wet[:, :, 1:] * (salinity[:, :, 1:] - salinity[:, :, :-1]) / dz[None, None, :-1]
    dt_dx[:-1, :, :] = wet[1:, :, :] * (temperature[1:, :, :] - temperature[:-1, :, :]) / dx[:-1, None, None]
    ds_dx[:-1, :, :] = wet[1:, :, :] * (salinity[1:, :, :] - salinity[:-1, :, :]) / dx[:-1, None, None]
    dt_dy[:, :-1, :] = wet[:, 1:, :] * (temperature[:, 1:, :] - temperature[:, :-1, :]) / dy[None, :-1, None]
    ds_dy[:, :-1, :] = wet[:, 1:, :] * (salinity[:, 1:, :] - salinity[:, :-1, :]) / dy[None, :-1, None]

    # eastern faces
    total = np.zeros_like(k11)
    for kr in range(2):
        low = 1 if kr == 1 else 0
        for ip in range(2):
            across = (
                d_t[1 + ip : -2 + ip, 2:-2, 1:] * dt_dx[1:-2, 2:-2, 1:]
                + d_s[1 + ip : -2 + ip, 2:-2, 1:] * ds_dx[1:-2, 2:-2, 1:]
            )
            if low == 1:
                down = (
                    d_t[1 + ip : -2 + ip, 2:-2, 1:] * dt_dz[1 + ip : -2 + ip, 2:-2, 1:]
                    + d_s[1 + ip : -2 + ip, 2:-2, 1:] * ds_dz[1 + ip : -2 + ip, 2:-2, 1:]
                )
            else:
                down = (
                    d_t[1 + ip : -2 + ip, 2:-2, 1:] * dt_dz[1 + ip : -2 + ip, 2:-2, :-1]
                    + d_s[1 + ip : -2 + ip, 2:-2, 1:] * ds_dz[1 + ip : -2 + ip, 2:-2, :-1]
                )
            slope = -across / (np.minimum(0.0, down) - EPSILON)
            share = taper(slope)
            total[1:-2, 2:-2, 1:] += dz[None, None, 1:] * K_ISO * np.maximum(K_STEEP / K_ISO, share)
            ai_ez[1:-2, 2:-2, 1:, ip, kr] = share * slope * wet[1:-2, 2:-2, 1:]
    k11[1:-2, 2:-2, 1:] = total[1:-2, 2:-2, 1:] / (4.0 * dz[None, None, 1:])

    # northern faces
    total[:] = 0.0
    for kr in range(2):
        for jp in range(2):
            across = (
                d_t[2:-2, 1 + jp : -2 + jp, 1:] * dt_dy[2:-2, 1:-2, 1:]
                + d_s[2:-2, 1 + jp : -2 + jp, 1:] * ds_dy[2:-2, 1:-2, 1:]
            )
            if kr == 1:
                down = (
                    d_t[2:-2, 1 + jp : -2 + jp, 1:] * dt_dz[2:-2, 1 + jp : -2 + jp, 1:]
                    + d_s[2:-2, 1 + jp : -2 + jp, 1:] * ds_dz[2:-2, 1 + jp : -2 + jp, 1:]
                )
            else:
                down = (
                    d_t[2:-2, 1 + jp : -2 + jp, 1:] * dt_dz[2:-2, 1 + jp : -2 + jp, :-1]
                    + d_s[2:-2, 1 + jp : -2 + jp, 1:] * ds_dz[2:-2, 1 + jp : -2 + jp, :-1]
                )
            slope = -across / (np.minimum(0.0, down) - EPSILON)
            share = taper(slope)
            total[2:-2, 1:-2, 1:] += dz[None, None, 1:] * K_ISO * np.maximum(K_STEEP / K_ISO, share)
            ai_nz[2:-2, 1:-2, 1:, jp, kr] = share * slope * wet[2:-2, 1:-2, 1:]
    k22[2:-2, 1:-2, 1:] = total[2:-2, 1:-2, 1:] / (4.0 * dz[None, None, 1:])

    # lower faces
    k33[:] = 0.0
    for kr in range(2):
        density_z = (
            d_t[2:-2, 2:-2, kr : nz - 1 + kr] * dt_dz[2:-2, 2:-2, :-1]
            + d_s[2:-2, 2:-2, kr : nz - 1 + kr] * ds_dz[2:-2, 2:-2, :-1]
        )
        steep = np.minimum(0.0, density_z) - EPSILON
        for ip in range(2):
            along = (
                d_t[2:-2, 2:-2, kr : nz - 1 + kr] * dt_dx[1 + ip : -3 + ip, 2:-2, kr : nz - 1 + kr]
                + d_s[2:-2, 2:-2, kr : nz - 1 + kr] * ds_dx[1 + ip : -3 + ip, 2:-2, kr : nz - 1 + kr]
            )
            slope = -along / steep
            share = taper(slope)
            ai_bx[2:-2, 2:-2, :-1, ip, kr] = share * slope * wet[2:-2, 2:-2, :-1]
            k33[2:-2, 2:-2, :-1] += 0.25 * K_ISO * share * slope**2 * wet[2:-2, 2:-2, :-1]
        for jp in range(2):
            along = (
                d_t[2:-2, 2:-2, kr : nz - 1 + kr] * dt_dy[2:-2, 1 + jp : -3 + jp, kr : nz - 1 + kr]
                + d_s[2:-2, 2:-2, kr : nz - 1 + kr] * ds_dy[2:-2, 1 + jp : -3 + jp, kr : nz - 1 + kr]
            )
            slope = -along / steep
            share = taper(slope)
            ai_by[2:-2, 2:-2, :-1, jp, kr] = share * slope * wet[2:-2, 2:-2, :-1]
            k33[2:-2, 2:-2, :-1] += 0.25 * K_ISO * share * slope**2 * wet[2:-2, 2:-2, :-1]


def fluxes(tracer, dx, dy, dz, wet, k11, k22, k33, ai_ez, ai_nz, ai_bx, ai_by):
    """The tracer's flux through eastern, northern and upper faces."""
    nx, ny, nz = tracer.shape
    east = np.zeros_like(tracer)
    north = np.zeros_like(tracer)
    up = np.zeros_like(tracer)
    for kr in range(2):
        for ip in range(2):
            east[1:-2, 2:-2, 1:-1] += (
                0.25 * K_ISO * ai_ez[1:-2, 2:-2, 1:-1, ip, kr]
                * (tracer[1 + ip : -2 + ip, 2:-2, 1 + kr : nz - 1 + kr] - tracer[1 + ip : -2 + ip, 2:-2, kr : -2 + kr])
                / dz[None, None, 1:-1]
            )  # fmt: skip
    east[1:-2, 2:-2, 1:-1] += (
        (tracer[2:-1, 2:-2, 1:-1] - tracer[1:-2, 2:-2, 1:-1]) / dx[1:-2, None, None] * k11[1:-2, 2:-2, 1:-1]
    )
    for kr in range(2):
        for jp in range(2):
            north[2:-2, 1:-2, 1:-1] += (
                0.25 * K_ISO * ai_nz[2:-2, 1:-2, 1:-1, jp, kr]
                * (tracer[2:-2, 1 + jp : -2 + jp, 1 + kr : nz - 1 + kr] - tracer[2:-2, 1 + jp : -2 + jp, kr : -2 + kr])
                / dz[None, None, 1:-1]
            )  # fmt: skip
    north[2:-2, 1:-2, 1:-1] += (
        (tracer[2:-2, 2:-1, 1:-1] - tracer[2:-2, 1:-2, 1:-1]) / dy[None, 1:-2, None] * k22[2:-2, 1:-2, 1:-1]
    )
    for kr in range(2):
        for ip in range(2):
            up[2:-2, 2:-2, :-1] += (
                0.25 * K_ISO * ai_bx[2:-2, 2:-2, :-1, ip, kr]
                * (tracer[2 + ip : nx - 2 + ip, 2:-2, kr : nz - 1 + kr]
                   - tracer[1 + ip : -3 + ip, 2:-2, kr : nz - 1 + kr])
                / dx[1 + ip : -3 + ip, None, None]
            )  # fmt: skip
        for jp in range(2):
            up[2:-2, 2:-2, :-1] += (
                0.25 * K_ISO * ai_by[2:-2, 2:-2, :-1, jp, kr]
                * (tracer[2:-2, 2 + jp : ny - 2 + jp, kr : nz - 1 + kr]
                   - tracer[2:-2, 1 + jp : -3 + jp, kr : nz - 1 + kr])
                / dy[None, 1 + jp : -3 + jp, None]
            )  # fmt: skip
    east *= wet
    north *= wet
    up *= wet
    return east, north, up


def spread(tracer, east, north, up, dx, dy, dz, wet, dt):
    """Adds the divergence of the fluxes to the tracer."""
    change = np.zeros_like(tracer)
    change[2:-2, 2:-2, :] = wet[2:-2, 2:-2, :] * (
        (east[2:-2, 2:-2, :] - east[1:-3, 2:-2, :]) / dx[2:-2, None, None]
        + (north[2:-2, 2:-2, :] - north[2:-2, 1:-3, :]) / dy[None, 2:-2, None]
    )
    change[2:-2, 2:-2, 0] += wet[2:-2, 2:-2, 0] * up[2:-2, 2:-2, 0] / dz[0]
    change[2:-2, 2:-2, 1:] += wet[2:-2, 2:-2, 1:] * (up[2:-2, 2:-2, 1:] - up[2:-2, 2:-2, :-1]) / dz[None, None, 1:]
    tracer += dt * change


def program(temperature, salinity, dx, dy, dz, wet, k11, k22, k33, ai_ez, ai_nz, ai_bx, ai_by, dt):
    """One step of mixing along neutral surfaces, for temperature and salinity."""
    tensor(temperature, salinity, dx, dy, dz, wet, k11, k22, k33, ai_ez, ai_nz, ai_bx, ai_by)
    for tracer in (temperature, salinity):
        east, north, up = fluxes(tracer, dx, dy, dz, wet, k11, k22, k33, ai_ez, ai_nz, ai_bx, ai_by)
        spread(tracer, east, north, up, dx, dy, dz, wet, dt)


def arguments(n):
    """An ocean with land in it."""
    rng = np.random.default_rng(11)
    shape = (n, n, n // 2)
    depth = np.linspace(0.0, 10.0, n // 2)
    temperature, salinity = 4.0 + depth + rng.random(shape), 35.0 - 0.01 * depth + 0.1 * rng.random(shape)
    wet = (rng.random(shape) > 0.1).astype(float)
    spacing = (np.full(n, 1e5), np.full(n, 1e5), np.full(n // 2, 100.0))
    return (
        temperature, salinity, *spacing, wet, *(np.zeros(shape) for _ in range(3)),
        *(np.zeros((*shape, 2, 2)) for _ in range(4)), 3600.0,
    )  # fmt: skip
