"""Machine learning: steps of clustering and of descent, layers with batches, and stumps."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _clustered(points, centres):
    sums = np.zeros(centres.shape)
    counts = np.zeros(centres.shape[0])
    for i in range(points.shape[0]):
        best, nearest = np.inf, 0
        for c in range(centres.shape[0]):
            square = 0.0
            for k in range(points.shape[1]):
                square += (points[i, k] - centres[c, k]) ** 2
            if square < best:
                best = square
                nearest = c
        counts[nearest] += 1
        for k in range(points.shape[1]):
            sums[nearest, k] += points[i, k]
    for c in range(centres.shape[0]):
        sums[c] /= max(counts[c], 1.0)
    return sums


@untuned(lambda n, rng: (rng.random((n, 4)), rng.random((8, 4))), 20, 1500, 60_000, numba=_clustered)
def clustering_step(points, centres):
    square = ((points[:, None, :] - centres) ** 2).sum(axis=2)
    nearest = square.argmin(axis=1)
    updated = np.zeros_like(centres)
    for c in range(centres.shape[0]):
        mine = nearest == c
        updated[c] = np.sum(points * mine[:, None], axis=0) / max(np.sum(mine), 1)
    return updated


def _heads(n, rng):
    return tuple(rng.random((2, n, 16)).astype(np.float32) for _ in range(3))


@untuned(_heads, 8, 100, 400, jax=True, numba=False, tolerance=2e-3)
def attention(queries, keys, values):
    scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(np.float32(16))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ values


def _normalized(images, scale, offset):
    count = images.shape[0] * images.shape[2] * images.shape[3]
    found = np.empty_like(images)
    for c in range(images.shape[1]):
        total, squares = 0.0, 0.0
        for i in range(images.shape[0]):
            for j in range(images.shape[2]):
                for k in range(images.shape[3]):
                    total += images[i, c, j, k]
                    squares += images[i, c, j, k] * images[i, c, j, k]
        mean = total / count
        factor = scale[c] / np.sqrt(squares / count - mean * mean + 1e-5)
        for i in range(images.shape[0]):
            for j in range(images.shape[2]):
                for k in range(images.shape[3]):
                    found[i, c, j, k] = (images[i, c, j, k] - mean) * factor + offset[c]
    return found


@untuned(lambda n, rng: tuple(rng.random(s).astype(np.float32) for s in ((n, 6, 8, 8), 6, 6)), 2, 30, 1500,
         numba=_normalized, parallel="c", jax=True, tolerance=2e-3)  # fmt: skip
def normalized_batch(images, scale, offset):
    mean = images.mean(axis=(0, 2, 3), keepdims=True)
    variance = images.var(axis=(0, 2, 3), keepdims=True)
    factor = scale[None, :, None, None] / np.sqrt(variance + 1e-5)
    return (images - mean) * factor + offset[None, :, None, None]


def _channels(signals, filters):
    windows = np.lib.stride_tricks.sliding_window_view(signals, filters.shape[2], axis=2)
    return np.maximum(np.einsum("bctk,ock->bot", windows, filters), 0)


@untuned(lambda n, rng: (rng.random((n, 4, 32)) - 0.5, rng.random((8, 4, 5)) - 0.5), 1, 20, 800, numpy=_channels,
         parallel="b")  # fmt: skip
def convolved_channels(signals, filters):
    batch, inputs, times = signals.shape
    outputs, _, width = filters.shape
    found = np.zeros((batch, outputs, times - width + 1))
    for b in range(batch):
        for o in range(outputs):
            for t in range(found.shape[2]):
                total = 0.0
                for c in range(inputs):
                    for k in range(width):
                        total += signals[b, c, t + k] * filters[o, c, k]
                found[b, o, t] = max(total, 0.0)
    return found


def _stump(feature, labels):
    order = np.argsort(feature)
    total = labels.sum()
    left, best, cut = 0.0, np.inf, 0.0
    n = feature.shape[0]
    for i in range(n - 1):
        left += labels[order[i]]
        p, q = left / (i + 1), (total - left) / (n - i - 1)
        impurity = (i + 1) * p * (1 - p) + (n - i - 1) * q * (1 - q)
        if impurity < best:
            best = impurity
            cut = 0.5 * (feature[order[i]] + feature[order[i + 1]])
    return cut, best


@untuned(lambda n, rng: (x := rng.random(n), (x + 0.2 * rng.random(n) > 0.6).astype(np.float64)), 100, 10_000, 200_000,
         numba=_stump)  # fmt: skip
def best_stump(feature, labels):
    order = np.argsort(feature)
    values, hits = feature[order], np.cumsum(labels[order])
    left = np.arange(1, feature.shape[0])
    right = feature.shape[0] - left
    p = hits[:-1] / left
    q = (hits[-1] - hits[:-1]) / right
    impurity = left * p * (1 - p) + right * q * (1 - q)
    best = np.argmin(impurity)
    return 0.5 * (values[best] + values[best + 1]), impurity[best]


def _descended(features, labels, weights, rate):
    slope = np.zeros_like(weights)
    for i in range(features.shape[0]):
        score = 0.0
        for k in range(features.shape[1]):
            score += features[i, k] * weights[k]
        wrong = 1 / (1 + np.exp(-score)) - labels[i]
        for k in range(features.shape[1]):
            slope[k] += wrong * features[i, k]
    return weights - rate * (slope / features.shape[0] + 0.01 * weights)


@untuned(lambda n, rng: (rng.random((n, 10)), (rng.random(n) > 0.5).astype(np.float64), rng.random(10), 0.1), 20, 1500,
         100_000, numba=_descended, jax=True)  # fmt: skip
def logistic_step(features, labels, weights, rate):
    chances = 1 / (1 + np.exp(-(features @ weights)))
    slope = features.T @ (chances - labels) / labels.shape[0]
    return weights - rate * (slope + 0.01 * weights)
