"""Tables: groups, neighbours, similarities, colours, polygons."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _linear(image):
    h = image.shape[0]
    out = np.empty((h, 3), dtype=np.float32)
    for i in range(h):
        for c in range(3):
            v = image[i, c] / np.float32(255)
            if v <= np.float32(0.04045):
                out[i, c] = v / np.float32(12.92)
            else:
                out[i, c] = ((v + np.float32(0.055)) / np.float32(1.055)) ** np.float32(2.4)
    return out


@untuned(
    lambda n, rng: (rng.integers(0, 256, (n, 3)).astype(np.uint8),),
    100,
    3000,
    200_000,
    numba=_linear,
    parallel="i",
    tolerance=1e-5,
    seen=True,
)
def linear_colours(image):
    v = image.astype(np.float32) / np.float32(255)
    return np.where(
        v <= np.float32(0.04045),
        v / np.float32(12.92),
        ((v + np.float32(0.055)) / np.float32(1.055)) ** np.float32(2.4),
    )


def _bilateral(image, radius, s, r):
    h, w = image.shape
    out = np.zeros_like(image)
    for y in range(radius, h - radius):
        for x in range(radius, w - radius):
            total = weight = 0.0
            for dy in range(-radius, radius + 1):
                for dx in range(-radius, radius + 1):
                    v = image[y + dy, x + dx]
                    d = v - image[y, x]
                    k = np.exp(-(dy * dy + dx * dx) * s - d * d * r)
                    total += k * v
                    weight += k
            out[y, x] = total / weight
    return out


@untuned(
    lambda n, rng: (rng.random((n, n)), 2, 0.1, 5.0),
    16,
    64,
    400,
    numpy=False,
    numba=_bilateral,
    parallel="y",
    seen=True,
)
def bilateral_filter(image, radius, s, r):
    h, w = image.shape
    out = np.zeros_like(image)
    for y in range(radius, h - radius):
        for x in range(radius, w - radius):
            total = 0.0
            weight = 0.0
            for dy in range(-radius, radius + 1):
                for dx in range(-radius, radius + 1):
                    v = image[y + dy, x + dx]
                    d = v - image[y, x]
                    k = np.exp(-(dy * dy + dx * dx) * s - d * d * r)
                    total += k * v
                    weight += k
            out[y, x] = total / weight
    return out


def _areas(points):
    n, m, _ = points.shape
    out = np.empty((n, 3))
    for i in range(n):
        a = cx = cy = 0.0
        for k in range(m):
            q = k + 1 if k + 1 < m else 0
            c = points[i, k, 0] * points[i, q, 1] - points[i, q, 0] * points[i, k, 1]
            a += c
            cx += (points[i, k, 0] + points[i, q, 0]) * c
            cy += (points[i, k, 1] + points[i, q, 1]) * c
        out[i, 0] = a / 2
        out[i, 1] = cx / (3 * a)
        out[i, 2] = cy / (3 * a)
    return out


@untuned(
    lambda n, rng: (rng.random((n, 8, 2)),), 10, 300, 20_000, numba=_areas, parallel="i", tolerance=1e-5, seen=True
)
def centroids_of_polygons(points):
    x, y = points[..., 0], points[..., 1]
    xn, yn = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)
    c = x * yn - xn * y
    a = c.sum(axis=1)
    cx = ((x + xn) * c).sum(axis=1) / (3 * a)
    cy = ((y + yn) * c).sum(axis=1) / (3 * a)
    return np.stack([a / 2, cx, cy], axis=1)


def _cosine(a, b):
    n, m, k = a.shape[0], b.shape[0], a.shape[1]
    out = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            s = p = q = 0.0
            for t in range(k):
                s += a[i, t] * b[j, t]
                p += a[i, t] * a[i, t]
                q += b[j, t] * b[j, t]
            out[i, j] = s / np.sqrt(p * q)
    return out


@untuned(
    lambda n, rng: (rng.random((n, 16)), rng.random((n, 16))),
    12,
    100,
    800,
    numba=_cosine,
    parallel="i",
    jax=True,
    seen=True,
)
def cosine_similarities(a, b):
    a = a / np.linalg.norm(a, axis=1, keepdims=True)
    b = b / np.linalg.norm(b, axis=1, keepdims=True)
    return a @ b.T


def _softgrad(x, w, labels):
    n, f = x.shape
    c = w.shape[1]
    grad = np.zeros((f, c))
    z = np.empty(c)
    for i in range(n):
        top = -1e300
        for k in range(c):
            s = 0.0
            for j in range(f):
                s += x[i, j] * w[j, k]
            z[k] = s
            top = max(top, s)
        total = 0.0
        for k in range(c):
            z[k] = np.exp(z[k] - top)
            total += z[k]
        for k in range(c):
            d = z[k] / total - (1.0 if labels[i] == k else 0.0)
            for j in range(f):
                grad[j, k] += x[i, j] * d
    return grad / n


@untuned(
    lambda n, rng: (rng.random((n, 20)), rng.random((20, 5)), rng.integers(0, 5, n)),
    20,
    300,
    20_000,
    numba=_softgrad,
    seen=True,
)
def softmax_gradient(x, w, labels):
    z = x @ w
    z = z - z.max(axis=1, keepdims=True)
    p = np.exp(z)
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(x)), labels] -= 1
    return x.T @ p / len(x)


def _edges(src, dst, value, n):
    total = np.zeros(n)
    degree = np.zeros(n)
    for e in range(src.shape[0]):
        total[src[e]] += value[dst[e]]
        total[dst[e]] += value[src[e]]
        degree[src[e]] += 1
        degree[dst[e]] += 1
    return total / np.maximum(degree, 1)


@untuned(
    lambda n, rng: (rng.integers(0, n, 5 * n), rng.integers(0, n, 5 * n), rng.random(n), n),
    50,
    1000,
    50_000,
    numba=_edges,
    seen=True,
)
def means_of_neighbours(src, dst, value, n):
    total = np.zeros(n)
    np.add.at(total, src, value[dst])
    np.add.at(total, dst, value[src])
    degree = np.bincount(src, minlength=n) + np.bincount(dst, minlength=n)
    return total / np.maximum(degree, 1)


@untuned(
    lambda n, rng: (rng.integers(0, n, 5 * n), rng.integers(0, n, 5 * n), rng.random(n), n),
    50,
    1000,
    50_000,
    numba=_edges,
    seen=True,
)
def means_by_weights(src, dst, value, n):
    total = np.bincount(src, weights=value[dst], minlength=n) + np.bincount(dst, weights=value[src], minlength=n)
    degree = np.bincount(src, minlength=n) + np.bincount(dst, minlength=n)
    return total / np.maximum(degree, 1)


def _zscores(values, groups, count):
    n = values.shape[0]
    s, q, c = np.zeros(count), np.zeros(count), np.zeros(count)
    for i in range(n):
        s[groups[i]] += values[i]
        q[groups[i]] += values[i] * values[i]
        c[groups[i]] += 1
    out = np.empty(n)
    for i in range(n):
        g = groups[i]
        m = s[g] / c[g]
        out[i] = (values[i] - m) / np.sqrt(q[g] / c[g] - m * m)
    return out


@untuned(
    lambda n, rng: (rng.random(n), rng.integers(0, 20, n), 20),
    300,
    5000,
    300_000,
    numba=_zscores,
    tolerance=1e-6,
    seen=True,
)
def scores_within_groups(values, groups, count):
    c = np.bincount(groups, minlength=count)
    m = np.bincount(groups, weights=values, minlength=count) / c
    q = np.bincount(groups, weights=values * values, minlength=count) / c
    sd = np.sqrt(q - m * m)
    return (values - m[groups]) / sd[groups]
