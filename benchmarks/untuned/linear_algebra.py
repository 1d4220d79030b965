"""Linear algebra: factorizations and products by hand, and products of many small matrices."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _definite(n, rng):
    a = rng.random((n, n))
    return a @ a.T + n * np.eye(n)


def _factors(matrix):
    found = matrix.copy()
    for k in range(found.shape[0] - 1):
        found[k + 1 :, k] /= found[k, k]
        found[k + 1 :, k + 1 :] -= np.outer(found[k + 1 :, k], found[k, k + 1 :])
    return found


@untuned(lambda n, rng: (_definite(n, rng),), 12, 60, 400, numpy=_factors)
def triangular_factors(matrix):
    factors = matrix.copy()
    n = factors.shape[0]
    for k in range(n - 1):
        for i in range(k + 1, n):
            factors[i, k] /= factors[k, k]
            for j in range(k + 1, n):
                factors[i, j] -= factors[i, k] * factors[k, j]
    return factors


@untuned(lambda n, rng: (rng.random(n), 4 + rng.random(n), rng.random(n), rng.random(n)), 100, 10_000, 500_000,
         numpy=False)  # fmt: skip
def tridiagonal_solution(below, middle, above, right):
    n = right.shape[0]
    ratios = np.zeros(n)
    solution = np.zeros(n)
    ratios[0] = above[0] / middle[0]
    solution[0] = right[0] / middle[0]
    for i in range(1, n):
        pivot = middle[i] - below[i] * ratios[i - 1]
        ratios[i] = above[i] / pivot
        solution[i] = (right[i] - below[i] * solution[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        solution[i] -= ratios[i] * solution[i + 1]
    return solution


def _products_of_small(a, b):
    found = np.zeros_like(a)
    for t in range(a.shape[0]):
        for i in range(4):
            for k in range(4):
                for j in range(4):
                    found[t, i, j] += a[t, i, k] * b[t, k, j]
    return found


@untuned(lambda n, rng: (rng.random((n, 4, 4)), rng.random((n, 4, 4))), 20, 2000, 100_000, numba=_products_of_small,
         parallel="t", jax=True)  # fmt: skip
def products_of_small_matrices(a, b):
    return np.matmul(a, b)


def _solved_small(matrices, rights):
    found = np.empty_like(rights)
    for t in range(matrices.shape[0]):
        a, b, c = matrices[t, 0, 0], matrices[t, 0, 1], matrices[t, 0, 2]
        d, e, f = matrices[t, 1, 0], matrices[t, 1, 1], matrices[t, 1, 2]
        g, h, i = matrices[t, 2, 0], matrices[t, 2, 1], matrices[t, 2, 2]
        x, y, z = rights[t, 0], rights[t, 1], rights[t, 2]
        p, q, r = e * i - f * h, f * g - d * i, d * h - e * g
        whole = a * p + b * q + c * r
        found[t, 0] = (p * x + (c * h - b * i) * y + (b * f - c * e) * z) / whole
        found[t, 1] = (q * x + (a * i - c * g) * y + (c * d - a * f) * z) / whole
        found[t, 2] = (r * x + (b * g - a * h) * y + (a * e - b * d) * z) / whole
    return found


@untuned(lambda n, rng: (rng.random((n, 3, 3)) + 2 * np.eye(3), rng.random((n, 3))), 10, 1000, 50_000,
         numba=_solved_small, parallel="t", jax=True, seen=True)  # fmt: skip
def solutions_of_small_systems(matrices, rights):
    return np.linalg.solve(matrices, rights[..., None])[..., 0]


def _chained(a, b, c):
    return a @ b @ c


@untuned(lambda n, rng: tuple(rng.random((n, n)) for _ in range(3)), 8, 60, 300, numpy=_chained, numba=_chained,
         jax=True)  # fmt: skip
def chained_products(a, b, c):
    return np.einsum("ab,bc,cd->ad", a, b, c)


def _bilinear(left, right, weights):
    found = np.zeros((left.shape[0], weights.shape[0]))
    for p in range(left.shape[0]):
        for o in range(weights.shape[0]):
            total = 0.0
            for i in range(left.shape[1]):
                for j in range(right.shape[1]):
                    total += left[p, i] * weights[o, i, j] * right[p, j]
            found[p, o] = total
    return found


@untuned(lambda n, rng: (rng.random((n, 8)), rng.random((n, 8)), rng.random((6, 8, 8))), 4, 200, 20_000,
         numba=_bilinear, parallel="p", jax=True)  # fmt: skip
def bilinear_layer(left, right, weights):
    return np.einsum("pi,oij,pj->po", left, weights, right)


@untuned(lambda n, rng: (_definite(n, rng), rng.random(n)), 10, 60, 600, jax=True)
def leading_vector(matrix, start):
    vector = start / np.sqrt(start @ start)
    for _ in range(10):
        image = matrix @ vector
        vector = image / np.sqrt(image @ image)
    return vector


@untuned(lambda n, rng: (rng.random((n, n)), rng.random((n, n))), 10, 60, 400, numpy=np.matmul, parallel="i")
def product_by_loops(a, b):
    product = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                product[i, j] += a[i, k] * b[k, j]
    return product
