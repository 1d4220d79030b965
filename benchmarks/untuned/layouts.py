"""Layouts: transposed, reversed, padded and Fortran-ordered operands."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


@untuned(lambda n, rng: (rng.random((n, n)), rng.random((n, n))), 12, 120, 1500, jax=True)
def sum_with_transposed(a, b):
    return a + b.T


@untuned(lambda n, rng: (rng.random(n),), 200, 20_000, 2_000_000, jax=True)
def product_with_reversed(x):
    return x[::-1] * x


def _padded_laplacian(field):
    rows, columns = field.shape
    found = np.empty_like(field)
    for i in range(rows):
        above, below = max(i - 1, 0), min(i + 1, rows - 1)
        for j in range(columns):
            left, right = max(j - 1, 0), min(j + 1, columns - 1)
            found[i, j] = field[above, j] + field[below, j] + field[i, left] + field[i, right] - 4 * field[i, j]
    return found


@untuned(lambda n, rng: (rng.random((n, n)),), 12, 120, 1200, numba=_padded_laplacian, parallel="i", jax=True)
def laplacian_of_padded(field):
    padded = np.pad(field, 1, mode="edge")
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return around - 4 * field


@untuned(lambda n, rng: (np.asfortranarray(rng.random((n, n))), rng.random((n, n))), 12, 120, 1200, jax=True)
def sum_of_two_orders(a, b):
    return b + 2.0 * a
