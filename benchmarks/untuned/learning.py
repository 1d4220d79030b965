"""Learning: activations, normalizations and small layers."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _softmax(scores):
    found = np.empty_like(scores)
    for i in range(scores.shape[0]):
        top = scores[i, 0]
        for j in range(1, scores.shape[1]):
            top = max(top, scores[i, j])
        total = 0.0
        for j in range(scores.shape[1]):
            found[i, j] = np.exp(scores[i, j] - top)
            total += found[i, j]
        for j in range(scores.shape[1]):
            found[i, j] /= total
    return found


@untuned(lambda n, rng: (rng.random((n, 64)),), 8, 300, 20_000, numba=_softmax, parallel="i", jax=True)
def softmax_of_rows(scores):
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def _log_sum(x):
    top = x[0]
    for i in range(x.shape[0]):
        top = max(top, x[i])
    total = 0.0
    for i in range(x.shape[0]):
        total += np.exp(x[i] - top)
    return top + np.log(total)


@untuned(lambda n, rng: (rng.random(n),), 100, 20_000, 1_000_000, numba=_log_sum, jax=True)
def log_of_sum_of_exponentials(x):
    top = x.max()
    return np.log(np.exp(x - top).sum()) + top


def _gelu(x):
    found = np.empty_like(x)
    half, one, a, b = np.float32(0.5), np.float32(1), np.float32(0.7978845608), np.float32(0.044715)
    for i in range(x.shape[0]):
        v = x[i]
        found[i] = half * v * (one + np.tanh(a * (v + b * v * v * v)))
    return found


@untuned(lambda n, rng: ((6 * rng.random(n) - 3).astype(np.float32),), 300, 20_000, 2_000_000, numba=_gelu,
         parallel="i", jax=True, tolerance=2e-3)  # fmt: skip
def gaussian_error_units(x):
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + np.tanh(inner))


def _layers(n, rng):
    shapes = (n, 32), (32, 64), (64,), (64, 10)
    return tuple(rng.random(shape).astype(np.float32) for shape in shapes)


@untuned(_layers, 8, 200, 20_000, jax=True, tolerance=2e-3)
def two_layers(x, weights, offsets, readout):
    hidden = np.maximum(x @ weights + offsets, 0)
    return hidden @ readout


def _standardized(x):
    n, m = x.shape
    means, scales = np.zeros(m), np.zeros(m)
    for i in range(n):
        for j in range(m):
            means[j] += x[i, j]
    means /= n
    for i in range(n):
        for j in range(m):
            scales[j] += (x[i, j] - means[j]) ** 2
    scales = 1 / np.sqrt(scales / n)
    found = np.empty_like(x)
    for i in range(n):
        for j in range(m):
            found[i, j] = (x[i, j] - means[j]) * scales[j]
    return found


@untuned(lambda n, rng: (rng.random((n, 10)),), 20, 1500, 200_000, numba=_standardized, jax=True)
def standardized_columns(x):
    centred = x - np.mean(x, axis=0)
    return centred / np.std(x, axis=0)
