"""Matrices by hand: iterations, rotations and many tridiagonal systems at once."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _dominant(n, rng):
    return rng.random((n, n)) + n * np.eye(n), rng.random(n)


@untuned(_dominant, 12, 100, 600)
def jacobi_iterations(matrix, right):
    diagonal = np.diag(matrix)
    rest = matrix - np.diag(diagonal)
    x = np.zeros_like(right)
    for _ in range(12):
        x = (right - rest @ x) / diagonal
    return x


@untuned(lambda n, rng: (rng.random((n, n)),), 8, 40, 200)
def triangle_by_rotations(matrix):
    upper = matrix.copy()
    rows, columns = upper.shape
    for j in range(columns):
        for i in range(rows - 1, j, -1):
            a, b = upper[i - 1, j], upper[i, j]
            long = np.sqrt(a * a + b * b)
            if long > 0:
                c, s = a / long, b / long
                top = c * upper[i - 1, j:] + s * upper[i, j:]
                upper[i, j:] = c * upper[i, j:] - s * upper[i - 1, j:]
                upper[i - 1, j:] = top
    return upper


def _solved_systems(below, middle, above, right):
    n, systems = right.shape
    ratios, found = np.empty_like(right), np.empty_like(right)
    for k in range(systems):
        ratios[0, k] = above[0, k] / middle[0, k]
        found[0, k] = right[0, k] / middle[0, k]
    for i in range(1, n):
        for k in range(systems):
            pivot = middle[i, k] - below[i, k] * ratios[i - 1, k]
            ratios[i, k] = above[i, k] / pivot
            found[i, k] = (right[i, k] - below[i, k] * found[i - 1, k]) / pivot
    for i in range(n - 2, -1, -1):
        for k in range(systems):
            found[i, k] -= ratios[i, k] * found[i + 1, k]
    return found


@untuned(lambda n, rng: tuple(rng.random((30, n)) + extra for extra in (0, 4, 0, 0)), 6, 200, 10_000,
         numba=_solved_systems)  # fmt: skip
def many_tridiagonal_systems(below, middle, above, right):
    n = right.shape[0]
    ratios = np.empty_like(right)
    solution = np.empty_like(right)
    ratios[0] = above[0] / middle[0]
    solution[0] = right[0] / middle[0]
    for i in range(1, n):
        pivot = middle[i] - below[i] * ratios[i - 1]
        ratios[i] = above[i] / pivot
        solution[i] = (right[i] - below[i] * solution[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        solution[i] -= ratios[i] * solution[i + 1]
    return solution


def _eigenvalues(matrices):
    found = np.empty((matrices.shape[0], 2))
    for i in range(matrices.shape[0]):
        middle = 0.5 * (matrices[i, 0, 0] + matrices[i, 1, 1])
        half = 0.5 * (matrices[i, 0, 0] - matrices[i, 1, 1])
        apart = np.sqrt(half * half + matrices[i, 0, 1] * matrices[i, 1, 0])
        found[i, 0], found[i, 1] = middle - apart, middle + apart
    return found


@untuned(lambda n, rng: (rng.random((n, 2, 2)),), 40, 4000, 300_000, numba=_eigenvalues, parallel="i", jax=True)
def eigenvalues_of_pairs(matrices):
    middle = 0.5 * np.trace(matrices, axis1=1, axis2=2)
    determinant = matrices[:, 0, 0] * matrices[:, 1, 1] - matrices[:, 0, 1] * matrices[:, 1, 0]
    apart = np.sqrt(middle**2 - determinant)
    return np.stack((middle - apart, middle + apart), axis=1)
