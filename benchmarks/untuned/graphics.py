"""Graphics: rasterized triangles, rays and boxes, shading, projections and curves."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _covered(corners, depths, size):
    image = np.full((size, size), np.inf)
    (ax, ay), (bx, by), (cx, cy) = corners[0], corners[1], corners[2]
    whole = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    for i in range(size):
        y = (i + 0.5) / size
        for j in range(size):
            x = (j + 0.5) / size
            u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / whole
            v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / whole
            w = 1 - u - v
            if u >= 0 and v >= 0 and w >= 0:
                image[i, j] = u * depths[0] + v * depths[1] + w * depths[2]
    return image


_CORNERS = np.array([[0.1, 0.2], [0.9, 0.3], [0.4, 0.95]])


@untuned(lambda n, rng: (_CORNERS, rng.random(3), n), 12, 150, 1200, numba=_covered, parallel="i")
def rasterized_triangle(corners, depths, size):
    centres = (np.arange(size) + 0.5) / size
    x, y = centres[None, :], centres[:, None]
    (ax, ay), (bx, by), (cx, cy) = corners
    whole = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / whole
    v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / whole
    w = 1 - u - v
    inside = (u >= 0) & (v >= 0) & (w >= 0)
    return np.where(inside, u * depths[0] + v * depths[1] + w * depths[2], np.inf)


def _box_hits(origins, directions, low, high):
    found = np.empty(origins.shape[0])
    for i in range(origins.shape[0]):
        near, far = 0.0, np.inf
        for k in range(3):
            a = (low[k] - origins[i, k]) / directions[i, k]
            b = (high[k] - origins[i, k]) / directions[i, k]
            near = max(near, min(a, b))
            far = min(far, max(a, b))
        found[i] = near if near <= far else -1.0
    return found


@untuned(lambda n, rng: (3 * rng.random((n, 3)) - 3, rng.random((n, 3)) + 0.01, np.zeros(3), np.ones(3)), 30, 3000,
         200_000, numba=_box_hits, parallel="i", jax=True)  # fmt: skip
def rays_on_box(origins, directions, low, high):
    to_low = (low - origins) / directions
    to_high = (high - origins) / directions
    near = np.maximum(np.minimum(to_low, to_high).max(axis=1), 0)
    far = np.maximum(to_low, to_high).min(axis=1)
    return np.where(near <= far, near, -1.0)


def _shaded(heights, light):
    found = np.empty((heights.shape[0] - 1, heights.shape[1] - 1))
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            x, y = heights[i, j] - heights[i, j + 1], heights[i, j] - heights[i + 1, j]
            long = np.sqrt(x * x + y * y + 0.01)
            bright = max((x * light[0] + y * light[1] + 0.1 * light[2]) / long, 0.0)
            found[i, j] = 0.1 + 0.7 * bright + 0.2 * bright**16
    return found


@untuned(lambda n, rng: (rng.random((n, n)), np.array([0.48, 0.36, 0.8])), 12, 120, 1000, numba=_shaded, parallel="i",
         jax=True)  # fmt: skip
def shaded_relief(heights, light):
    x = heights[:-1, :-1] - heights[:-1, 1:]
    y = heights[:-1, :-1] - heights[1:, :-1]
    normals = np.stack((x, y, np.full_like(x, 0.1)), axis=-1)
    normals = normals / np.linalg.norm(normals, axis=-1, keepdims=True)
    bright = np.maximum(normals @ light, 0)
    return 0.1 + 0.7 * bright + 0.2 * bright**16


def _depths(places, values, size):
    found = np.full((size, size), np.inf)
    column = np.clip((places[:, 0] / places[:, 2] * size).astype(np.int64), 0, size - 1)
    row = np.clip((places[:, 1] / places[:, 2] * size).astype(np.int64), 0, size - 1)
    np.minimum.at(found, (row, column), places[:, 2] - values)
    return found


def _scene(n, rng):
    return rng.random((n, 3)) * [1, 1, 0.5] + [0, 0, 1], 0.1 * rng.random(n), min(16 + n // 50, 128)


@untuned(_scene, 100, 10_000, 500_000, numpy=_depths)
def depths_of_points(places, values, size):
    nearest = np.full((size, size), np.inf)
    for p in range(places.shape[0]):
        x, y, z = places[p, 0], places[p, 1], places[p, 2]
        column = min(max(int(x / z * size), 0), size - 1)
        row = min(max(int(y / z * size), 0), size - 1)
        depth = z - values[p]
        if depth < nearest[row, column]:
            nearest[row, column] = depth
    return nearest


def _curves(controls, count):
    found = np.empty((controls.shape[0], count, 2))
    for i in range(controls.shape[0]):
        for j in range(count):
            t = j / (count - 1)
            s = 1 - t
            for k in range(2):
                found[i, j, k] = (s * s * s * controls[i, 0, k] + 3 * s * s * t * controls[i, 1, k]
                                  + 3 * s * t * t * controls[i, 2, k] + t * t * t * controls[i, 3, k])
    return found


@untuned(lambda n, rng: (rng.random((n, 4, 2)), 16), 5, 300, 15_000, numba=_curves, parallel="i", seen=True)
def bezier_curves(controls, count):
    t = np.linspace(0, 1, count)
    weights = np.stack(((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3), axis=1)
    return np.einsum("tc,nck->ntk", weights, controls)
