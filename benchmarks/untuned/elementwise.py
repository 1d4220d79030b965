"""Elementwise: arithmetic on vectors, complex numbers, fractals, ensembles of equations and forces of all pairs."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _plane(n, rng):
    axis = np.linspace(-1.5, 1.5, n)
    return axis[None, :] + 1j * axis[:, None], -0.745 + 0.113j, 20


def _escapes(z, c, most):
    counts = np.zeros(z.shape, dtype=np.int64)
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            value = z[i, j]
            for _ in range(most):
                if abs(value) > 2:
                    break
                value = value * value + c
                counts[i, j] += 1
    return counts


@untuned(_plane, 12, 60, 400, numba=_escapes, parallel="i")
def julia_escapes(z, c, most):
    counts = np.zeros(z.shape, dtype=np.int64)
    for _ in range(most):
        inside = np.abs(z) <= 2
        counts[inside] += 1
        z = np.where(inside, z * z + c, z)
    return counts


def _lorenz(x, y, z, step):
    found = np.empty((3, x.shape[0]))
    for i in range(x.shape[0]):
        a, b, c = x[i], y[i], z[i]
        for _ in range(10):
            da, db, dc = 10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c
            p, q, r = a + 0.5 * step * da, b + 0.5 * step * db, c + 0.5 * step * dc
            a += step * 10 * (q - p)
            b += step * (p * (28 - r) - q)
            c += step * (p * q - 8 / 3 * r)
        found[0, i], found[1, i], found[2, i] = a, b, c
    return found[0], found[1], found[2]


@untuned(lambda n, rng: (rng.random(n), rng.random(n), rng.random(n), 0.001), 50, 5000, 200_000, numba=_lorenz,
         parallel="i", jax=True)  # fmt: skip
def lorenz_midpoints(x, y, z, step):
    for _ in range(10):
        dx, dy, dz = 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z
        p, q, r = x + 0.5 * step * dx, y + 0.5 * step * dy, z + 0.5 * step * dz
        x = x + step * 10 * (q - p)
        y = y + step * (p * (28 - r) - q)
        z = z + step * (p * q - 8 / 3 * r)
    return x, y, z


def _polynomial(coefficients, x):
    found = np.empty_like(x)
    for i in range(x.shape[0]):
        value = 0.0
        for k in range(coefficients.shape[0]):
            value = value * x[i] + coefficients[k]
        found[i] = value
    return found


@untuned(lambda n, rng: (rng.random(9), rng.random(n)), 200, 20_000, 2_000_000, numba=_polynomial, parallel="i")
def values_of_polynomial(coefficients, x):
    return np.polyval(coefficients, x)


def _scaled_sum(a, b, c):
    found = np.empty_like(a)
    for i in range(a.shape[0]):
        found[i] = a[i] + b[i] * c[i]
    return found


@untuned(lambda n, rng: (rng.random(n), rng.random(n), rng.random(n)), 50, 5000, 2_000_000, numba=_scaled_sum,
         parallel="i", jax=True)  # fmt: skip
def sum_and_product(a, b, c):
    return b * c + a


def _two_complex(n, rng):
    return rng.random(n) + 1j * rng.random(n), rng.random(n) + 1j * rng.random(n)


def _cross_power(z, w):
    total = 0.0
    for i in range(z.shape[0]):
        product = z[i] * w[i].conjugate()
        total += product.real * product.real + product.imag * product.imag
    return total


@untuned(_two_complex, 100, 10_000, 1_000_000, numba=_cross_power, parallel="i", jax=True)
def cross_power(z, w):
    product = z * np.conj(w)
    return np.sum(product.real**2 + product.imag**2)


def _rotated_phases(z, w):
    return z * w + 0.5 * np.conj(z)


@untuned(_two_complex, 100, 10_000, 1_000_000, numpy=_rotated_phases, parallel="i")
def rotated_phases(z, w):
    found = np.empty_like(z)
    for i in range(z.shape[0]):
        found[i] = z[i] * w[i] + 0.5 * z[i].conjugate()
    return found


def _gravity(places, masses):
    n = places.shape[0]
    found = np.zeros((n, 3))
    for i in range(n):
        x, y, z = 0.0, 0.0, 0.0
        for j in range(n):
            dx, dy, dz = places[j, 0] - places[i, 0], places[j, 1] - places[i, 1], places[j, 2] - places[i, 2]
            square = dx * dx + dy * dy + dz * dz + 0.01
            pull = masses[j] / (square * np.sqrt(square))
            x += pull * dx
            y += pull * dy
            z += pull * dz
        found[i, 0], found[i, 1], found[i, 2] = x, y, z
    return found


@untuned(lambda n, rng: (rng.random((n, 3)), rng.random(n)), 10, 100, 1000, numba=_gravity, parallel="i", jax=True)
def gravity_of_all_pairs(places, masses):
    apart = places[None, :, :] - places[:, None, :]
    square = np.sum(apart**2, axis=-1) + 0.01
    pull = masses / (square * np.sqrt(square))
    return np.sum(pull[:, :, None] * apart, axis=1)


@untuned(lambda n, rng: (rng.random(n), 0.01, 0.1), 100, 10_000, 500_000, numpy=False)
def tracked_value(seen, drift, noise):
    found = np.empty(seen.shape[0])
    value, variance = seen[0], 1.0
    for i in range(seen.shape[0]):
        variance += drift
        gain = variance / (variance + noise)
        value += gain * (seen[i] - value)
        variance *= 1 - gain
        found[i] = value
    return found
