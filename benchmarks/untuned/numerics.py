"""Numerical methods: ensembles of equations, quadrature, splines and series."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _slopes(x, v, stiffness):
    return v, stiffness * (1 - x * x) * v - x


def _oscillators(x, v, stiffness, step):
    found = np.empty((2, x.shape[0]))
    for i in range(x.shape[0]):
        a, b = x[i], v[i]
        for _ in range(20):
            a1, b1 = _slopes(a, b, stiffness[i])
            a2, b2 = _slopes(a + step / 2 * a1, b + step / 2 * b1, stiffness[i])
            a3, b3 = _slopes(a + step / 2 * a2, b + step / 2 * b2, stiffness[i])
            a4, b4 = _slopes(a + step * a3, b + step * b3, stiffness[i])
            a += step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            b += step / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        found[0, i], found[1, i] = a, b
    return found[0], found[1]


@untuned(lambda n, rng: (rng.random(n), rng.random(n), 2 * rng.random(n), 0.02), 30, 2000, 50_000, numba=_oscillators,
         parallel="i", jax=True)  # fmt: skip
def van_der_pol_oscillators(x, v, stiffness, step):
    for _ in range(20):
        x1, v1 = _slopes(x, v, stiffness)
        x2, v2 = _slopes(x + step / 2 * x1, v + step / 2 * v1, stiffness)
        x3, v3 = _slopes(x + step / 2 * x2, v + step / 2 * v2, stiffness)
        x4, v4 = _slopes(x + step * x3, v + step * v3, stiffness)
        x = x + step / 6 * (x1 + 2 * x2 + 2 * x3 + x4)
        v = v + step / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
    return x, v


def _simpson(rates, end, pieces):
    found = np.zeros(rates.shape[0])
    width = end / pieces
    for i in range(rates.shape[0]):
        for j in range(pieces + 1):
            x = j * width
            weight = 1.0 if j == 0 or j == pieces else 2.0 + 2.0 * (j % 2)
            found[i] += weight * np.exp(-rates[i] * x) * np.cos(x)
        found[i] *= width / 3
    return found


@untuned(lambda n, rng: (rng.random(n), 4.0, 64), 5, 200, 10_000, numba=_simpson, parallel="i")
def simpson_integrals(rates, end, pieces):
    x = np.linspace(0.0, end, pieces + 1)
    weights = np.ones(pieces + 1)
    weights[1:-1:2] = 4
    weights[2:-1:2] = 2
    values = np.exp(-rates[:, None] * x) * np.cos(x)
    return values @ weights * (end / pieces / 3)


def _spline(x, knots, coefficients):
    found = np.empty_like(x)
    last = knots.shape[0] - 2
    for i in range(x.shape[0]):
        low, high = 0, last
        while low < high:
            middle = (low + high + 1) // 2
            if knots[middle] <= x[i]:
                low = middle
            else:
                high = middle - 1
        t = x[i] - knots[low]
        found[i] = coefficients[0, low] + t * (
            coefficients[1, low] + t * (coefficients[2, low] + t * coefficients[3, low]))
    return found


@untuned(lambda n, rng: (rng.random(n), np.linspace(0, 1, 41), rng.random((4, 40))), 100, 10_000, 500_000,
         numba=_spline, parallel="i", jax=True)  # fmt: skip
def values_of_spline(x, knots, coefficients):
    piece = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, knots.shape[0] - 2)
    t = x - knots[piece]
    a, b, c, d = (coefficients[k][piece] for k in range(4))
    return a + t * (b + t * (c + t * d))


def _chebyshev(x, coefficients):
    found = np.empty_like(x)
    for i in range(x.shape[0]):
        now, before = 0.0, 0.0
        for k in range(coefficients.shape[0] - 1, 0, -1):
            now, before = 2 * x[i] * now - before + coefficients[k], now
        found[i] = x[i] * now - before + coefficients[0]
    return found


@untuned(lambda n, rng: (2 * rng.random(n) - 1, rng.random(12)), 200, 10_000, 500_000, numba=_chebyshev, parallel="i",
         jax=True)  # fmt: skip
def values_of_chebyshev_series(x, coefficients):
    now, before = np.zeros_like(x), np.zeros_like(x)
    for coefficient in coefficients[:0:-1]:
        now, before = 2 * x * now - before + coefficient, now
    return x * now - before + coefficients[0]


def _orbits_of_map(rates, steps):
    found = np.empty((rates.shape[0], 8))
    for i in range(rates.shape[0]):
        x = 0.3
        for _ in range(steps):
            x = rates[i] * x * (1 - x)
        for k in range(8):
            x = rates[i] * x * (1 - x)
            found[i, k] = x
    return found


@untuned(lambda n, rng: (np.linspace(2.5, 3.5, n), 40), 30, 2000, 100_000, numba=_orbits_of_map, parallel="i")
def bifurcation_diagram(rates, steps):
    x = np.full_like(rates, 0.3)
    for _ in range(steps):
        x = rates * x * (1 - x)
    found = np.empty((rates.shape[0], 8))
    for k in range(8):
        x = rates * x * (1 - x)
        found[:, k] = x
    return found
