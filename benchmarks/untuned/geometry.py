"""Geometry: points, rays, triangles, rotations; arrays of many rows with two to four columns."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _distances(x, y):
    found = np.empty((x.shape[0], y.shape[0]))
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            total = 0.0
            for k in range(x.shape[1]):
                total += (x[i, k] - y[j, k]) ** 2
            found[i, j] = np.sqrt(total)
    return found


def _two_clouds(n, rng):
    return rng.random((n, 3)), rng.random((n, 3))


@untuned(_two_clouds, 10, 100, 1200, numba=_distances, parallel="i", jax=True)
def distances(x, y):
    return np.sqrt(np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1))


def _nearest(queries, points):
    found = np.empty(queries.shape[0], dtype=np.int64)
    for i in range(queries.shape[0]):
        best = np.inf
        for j in range(points.shape[0]):
            total = 0.0
            for k in range(queries.shape[1]):
                total += (queries[i, k] - points[j, k]) ** 2
            if total < best:
                best = total
                found[i] = j
    return found


@untuned(_two_clouds, 10, 100, 1000, numba=_nearest, parallel="i", jax=True)
def nearest_points(queries, points):
    return np.argmin(((queries[:, None, :] - points[None, :, :]) ** 2).sum(axis=2), axis=1)


def _mesh(n, rng):
    return rng.random((n, 3)), rng.integers(0, n, (2 * n, 3))


def _areas(vertices, faces):
    found = np.empty(faces.shape[0])
    for t in range(faces.shape[0]):
        a, b, c = faces[t, 0], faces[t, 1], faces[t, 2]
        ux, uy, uz = (
            vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2])
        wx, wy, wz = (
            vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2])
        x, y, z = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        found[t] = 0.5 * np.sqrt(x * x + y * y + z * z)
    return found


@untuned(_mesh, 50, 4000, 200_000, numba=_areas, parallel="t")
def areas_of_triangles(vertices, faces):
    corner = vertices[faces[:, 0]]
    normals = np.cross(vertices[faces[:, 1]] - corner, vertices[faces[:, 2]] - corner)
    return 0.5 * np.sqrt(np.sum(normals * normals, axis=1))


def _spheres(origins, directions, centre, radius):
    found = np.empty(origins.shape[0])
    for i in range(origins.shape[0]):
        b = 0.0
        c = -radius * radius
        for k in range(3):
            apart = origins[i, k] - centre[k]
            b += apart * directions[i, k]
            c += apart * apart
        q = b * b - c
        found[i] = -b - np.sqrt(q) if q > 0 else np.inf
    return found


@untuned(lambda n, rng: (rng.random((n, 3)), rng.random((n, 3)), rng.random(3), 0.5), 30, 3000, 200_000,
         numba=_spheres, parallel="i")  # fmt: skip
def rays_on_sphere(origins, directions, centre, radius):
    apart = origins - centre
    b = np.sum(apart * directions, axis=1)
    c = np.sum(apart * apart, axis=1) - radius * radius
    q = b * b - c
    return np.where(q > 0, -b - np.sqrt(np.maximum(q, 0)), np.inf)


def _rotated(points, axis, angle):
    found = np.empty_like(points)
    c, s = np.cos(angle), np.sin(angle)
    kx, ky, kz = axis[0], axis[1], axis[2]
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        along = (kx * x + ky * y + kz * z) * (1 - c)
        found[i, 0] = x * c + (ky * z - kz * y) * s + kx * along
        found[i, 1] = y * c + (kz * x - kx * z) * s + ky * along
        found[i, 2] = z * c + (kx * y - ky * x) * s + kz * along
    return found


@untuned(lambda n, rng: (rng.random((n, 3)), np.array([0.6, 0.0, 0.8]), 0.7), 40, 4000, 300_000, numba=_rotated,
         parallel="i", jax=True)  # fmt: skip
def rotated_about_axis(points, axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    along = points @ axis
    return points * c + np.cross(axis, points) * s + along[:, None] * axis * (1 - c)


def _transformed(points, matrix):
    found = np.empty((points.shape[0], 3))
    for i in range(points.shape[0]):
        for r in range(3):
            total = matrix[r, 3]
            for k in range(3):
                total += matrix[r, k] * points[i, k]
            found[i, r] = total
    return found


@untuned(lambda n, rng: (rng.random((n, 3)), rng.random((4, 4))), 40, 4000, 300_000, numba=_transformed, parallel="i",
         jax=True)  # fmt: skip
def transformed_points(points, matrix):
    padded = np.concatenate((points, np.ones((points.shape[0], 1))), axis=1)
    return (padded @ matrix.T)[:, :3]


def _hull_side(points, a, b):
    best, found = -1.0, -1
    for i in range(points.shape[0]):
        side = (b[0] - a[0]) * (points[i, 1] - a[1]) - (b[1] - a[1]) * (points[i, 0] - a[0])
        if side > best:
            best = side
            found = i
    return found


@untuned(lambda n, rng: (rng.random((n, 2)), np.array([0.0, 0.1]), np.array([1.0, 0.2])), 100, 10_000, 1_000_000,
         numba=_hull_side)  # fmt: skip
def farthest_from_line(points, a, b):
    side = (b[0] - a[0]) * (points[:, 1] - a[1]) - (b[1] - a[1]) * (points[:, 0] - a[0])
    return np.argmax(side)


def _inside_polygon_np(points, corners):
    x, y = points[:, 0], points[:, 1]
    found = np.zeros(points.shape[0], dtype=np.bool_)
    k = corners.shape[0] - 1
    for j in range(corners.shape[0]):
        crosses = (corners[j, 1] > y) != (corners[k, 1] > y)
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = corners[j, 0] + (y - corners[j, 1]) * (corners[k, 0] - corners[j, 0]) / (
                corners[k, 1] - corners[j, 1])
        found ^= crosses & (x < cut)
        k = j
    return found


def _polygon(n, rng):
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    radii = 0.3 + 0.2 * rng.random(12)
    return rng.random((n, 2)), 0.5 + radii[:, None] * np.stack((np.cos(angles), np.sin(angles)), axis=1)


@untuned(_polygon, 30, 3000, 200_000, numpy=_inside_polygon_np, parallel="i")
def inside_polygon(points, corners):
    found = np.zeros(points.shape[0], dtype=np.bool_)
    count = corners.shape[0]
    for i in range(points.shape[0]):
        x, y = points[i, 0], points[i, 1]
        inside = False
        k = count - 1
        for j in range(count):
            if (corners[j, 1] > y) != (corners[k, 1] > y):
                cut = corners[j, 0] + (y - corners[j, 1]) * (corners[k, 0] - corners[j, 0]) / (
                    corners[k, 1] - corners[j, 1])
                if x < cut:
                    inside = not inside
            k = j
        found[i] = inside
    return found


def _quaternions(p, q):
    found = np.empty_like(p)
    for i in range(p.shape[0]):
        a, b, c, d = p[i, 0], p[i, 1], p[i, 2], p[i, 3]
        e, f, g, h = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        found[i, 0] = a * e - b * f - c * g - d * h
        found[i, 1] = a * f + b * e + c * h - d * g
        found[i, 2] = a * g - b * h + c * e + d * f
        found[i, 3] = a * h + b * g - c * f + d * e
    return found


@untuned(lambda n, rng: (rng.random((n, 4)), rng.random((n, 4))), 40, 4000, 300_000, numba=_quaternions, parallel="i",
         jax=True)  # fmt: skip
def products_of_quaternions(p, q):
    real = p[:, 0] * q[:, 0] - np.sum(p[:, 1:] * q[:, 1:], axis=1)
    vector = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    return np.concatenate((real[:, None], vector), axis=1)
