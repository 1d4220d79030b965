"""Turbulence in the ocean's boundary layers: one implicit step of the k-epsilon model (Rodi, 1987; Burchard, 2002)."""

import numpy as np

C1, C2, C3_STABLE, C3_UNSTABLE = 1.44, 1.92, -0.4, 1.0
C_MU0, KARMAN = 0.5562, 0.4
SIGMA_K, SIGMA_E = 1.0, 1.3
K_MIN, E_MIN = 1e-7, 1e-12
GRAVITY, RHO_0 = 9.81, 1024.0


def stability(n2, shear2):
    """Stability functions for momentum and heat of the Richardson number (Munk and Anderson, 1948, in form)."""
    richardson = n2 / np.maximum(shear2, 1e-12)
    mixed = np.where(richardson > 0.0, 1.0 / np.sqrt(1.0 + 5.0 * np.minimum(richardson, 100.0)), 1.0)
    for_momentum = 0.09 * mixed
    for_heat = np.where(richardson > 0.0, 0.09 * mixed**3, 0.09 * 1.3)
    return for_momentum, for_heat


def solve_tridiagonal(a, b, c, d, water, edge):
    """Thomas' algorithm along the last axis; `edge` marks the lowest wet cell of each column."""
    lower = a * water * np.logical_not(edge)
    middle = np.where(water, b, 1.0)
    upper = c * water
    right = d * water
    levels = d.shape[-1]
    cp = np.zeros_like(d)
    dp = np.zeros_like(d)
    cp[:, :, 0] = upper[:, :, 0] / middle[:, :, 0]
    dp[:, :, 0] = right[:, :, 0] / middle[:, :, 0]
    for k in range(1, levels):
        scale = 1.0 / (middle[:, :, k] - lower[:, :, k] * cp[:, :, k - 1])
        cp[:, :, k] = upper[:, :, k] * scale
        dp[:, :, k] = (right[:, :, k] - lower[:, :, k] * dp[:, :, k - 1]) * scale
    x = np.zeros_like(d)
    x[:, :, -1] = dp[:, :, -1]
    for k in range(levels - 2, -1, -1):
        x[:, :, k] = dp[:, :, k] - cp[:, :, k] * x[:, :, k + 1]
    return x


def implicit(old, diffusivity, sink, source, surface_flux, dz, wet, bottom, dt):
    """One implicit step of vertical diffusion with a linear sink."""
    delta = np.zeros_like(old)
    delta[:, :, :-1] = dt / dz[None, None, 1:] * 0.5 * (diffusivity[:, :, :-1] + diffusivity[:, :, 1:])
    a = np.zeros_like(old)
    b = np.zeros_like(old)
    c = np.zeros_like(old)
    d = np.zeros_like(old)
    a[:, :, 1:-1] = -delta[:, :, :-2] / dz[None, None, 1:-1]
    a[:, :, -1] = -delta[:, :, -2] / (0.5 * dz[-1])
    b[:, :, 1:-1] = 1.0 + (delta[:, :, 1:-1] + delta[:, :, :-2]) / dz[None, None, 1:-1] + dt * sink[:, :, 1:-1]
    b[:, :, -1] = 1.0 + delta[:, :, -2] / (0.5 * dz[-1]) + dt * sink[:, :, -1]
    b[:, :, 0] = 1.0 + delta[:, :, 0] / dz[0] + dt * sink[:, :, 0]
    on_floor = 1.0 + delta / dz[None, None, :] + dt * sink
    b = np.where(bottom, on_floor, b)
    c[:, :, :-1] = -delta[:, :, :-1] / dz[None, None, :-1]
    d[:, :, :] = old + dt * source
    d[:, :, -1] += dt * surface_flux / (0.5 * dz[-1])
    return solve_tridiagonal(a, b, c, d, wet, bottom)


def advect(x, u, v, w, dx, dy, dz, wet):
    """Upwind advection in three directions."""
    east = np.zeros_like(x)
    north = np.zeros_like(x)
    up = np.zeros_like(x)
    east[:-1] = np.maximum(u[:-1], 0.0) * x[:-1] + np.minimum(u[:-1], 0.0) * x[1:]
    north[:, :-1] = np.maximum(v[:, :-1], 0.0) * x[:, :-1] + np.minimum(v[:, :-1], 0.0) * x[:, 1:]
    up[:, :, :-1] = np.maximum(w[:, :, :-1], 0.0) * x[:, :, :-1] + np.minimum(w[:, :, :-1], 0.0) * x[:, :, 1:]
    change = np.zeros_like(x)
    change[1:, 1:, :] = (
        -(east[1:, 1:, :] - east[:-1, 1:, :]) / dx[1:, None, None]
        - (north[1:, 1:, :] - north[1:, :-1, :]) / dy[None, 1:, None]
    )
    change[:, :, 0] -= up[:, :, 0] / dz[0]
    change[:, :, 1:] -= (up[:, :, 1:] - up[:, :, :-1]) / dz[None, None, 1:]
    return change * wet


def program(tke, eps, u, v, w, rho, floor, stress_x, stress_y, dx, dy, dz, mixing, heat_mixing, dt):
    """One step of k and epsilon; the eddy viscosity and diffusivity follow from them."""
    levels = tke.shape[2]
    level = np.arange(levels)[None, None, :]
    wet = (floor[:, :, None] >= 0) & (level >= floor[:, :, None])
    bottom = (floor[:, :, None] >= 0) & (level == floor[:, :, None])

    shear2 = np.zeros_like(tke)
    n2 = np.zeros_like(tke)
    shear2[:, :, :-1] = ((u[:, :, 1:] - u[:, :, :-1]) / dz[None, None, :-1]) ** 2
    shear2[:, :, :-1] += ((v[:, :, 1:] - v[:, :, :-1]) / dz[None, None, :-1]) ** 2
    n2[:, :, :-1] = -GRAVITY / RHO_0 * (rho[:, :, 1:] - rho[:, :, :-1]) / dz[None, None, :-1]
    n2[:, :, -1] = n2[:, :, -2]
    shear2[:, :, -1] = shear2[:, :, -2]

    production = mixing * shear2
    buoyancy = -heat_mixing * n2
    c3 = np.where(buoyancy > 0.0, C3_UNSTABLE, C3_STABLE)
    positive = np.maximum(tke, K_MIN)
    ratio = eps / positive

    friction = np.sqrt(np.sqrt((0.5 * (stress_x[1:, 1:] + stress_x[:-1, 1:])) ** 2
                               + (0.5 * (stress_y[1:, 1:] + stress_y[1:, :-1])) ** 2) / RHO_0)  # fmt: skip
    surface = np.zeros_like(stress_x)
    surface[1:, 1:] = friction**3

    source_k = np.where(production + buoyancy > 0.0, production + buoyancy, production)
    sink_k = np.where(production + buoyancy > 0.0, ratio, ratio - buoyancy / positive)
    new_k = implicit(tke, mixing / SIGMA_K, sink_k, source_k, surface, dz, wet, bottom, dt)
    new_k = np.where(wet, np.maximum(new_k, K_MIN), 0.0)

    source_e = ratio * np.maximum(C1 * production + c3 * buoyancy, 0.0)
    sink_e = C2 * ratio + ratio * np.maximum(-(C1 * production + c3 * buoyancy), 0.0) / np.maximum(eps, E_MIN)
    wall = C_MU0**3 * np.maximum(new_k[:, :, -1], K_MIN) ** 1.5 / (KARMAN * (0.5 * dz[-1]) ** 2)
    new_e = implicit(eps, mixing / SIGMA_E, sink_e, source_e, wall * mixing[:, :, -1], dz, wet, bottom, dt)
    longest = np.sqrt(0.56 * new_k) / np.sqrt(np.maximum(n2, 1e-12))
    least = C_MU0**3 * new_k**1.5 / np.maximum(longest, 1e-6)
    new_e = np.where(wet, np.maximum(np.where(n2 > 0.0, np.maximum(new_e, least), new_e), E_MIN), 0.0)

    new_k += dt * advect(tke, u, v, w, dx, dy, dz, wet)
    new_e += dt * advect(eps, u, v, w, dx, dy, dz, wet)
    tke[:] = np.where(wet, np.maximum(new_k, K_MIN), 0.0)
    eps[:] = np.where(wet, np.maximum(new_e, E_MIN), 0.0)

    for_momentum, for_heat = stability(n2, shear2)
    quotient = np.where(wet, tke**2 / np.maximum(eps, E_MIN), 0.0)
    mixing[:] = np.minimum(for_momentum * quotient + 1e-6, 1.0)
    heat_mixing[:] = np.minimum(for_heat * quotient + 1e-7, 1.0)
    return new_k, new_e


def arguments(n):
    """A stratified ocean under wind."""
    rng = np.random.default_rng(3)
    shape = (n, n, n // 2)
    fields = [rng.uniform(1e-5, 1e-3, shape), rng.uniform(1e-8, 1e-6, shape)]
    fields += [0.1 * rng.standard_normal(shape) for _ in range(3)]
    fields.append(1024.0 + np.linspace(3.0, 0.0, n // 2) + 0.1 * rng.random(shape))
    wind = [0.1 * rng.standard_normal((n, n)) for _ in range(2)]
    floor = rng.integers(-1, n // 4, (n, n))
    spacing = [np.full(n, 1e4), np.full(n, 1e4), np.full(n // 2, 10.0)]
    return (*fields, floor, *wind, *spacing, rng.uniform(1e-5, 1e-3, shape), rng.uniform(1e-5, 1e-3, shape), 60.0)
