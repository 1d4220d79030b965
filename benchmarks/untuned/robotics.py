"""Robotics: arms, filters of states, rotations and maps."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _arm(angles, lengths):
    found = np.zeros((angles.shape[0], 2))
    for i in range(angles.shape[0]):
        angle = 0.0
        for j in range(angles.shape[1]):
            angle += angles[i, j]
            found[i, 0] += lengths[j] * np.cos(angle)
            found[i, 1] += lengths[j] * np.sin(angle)
    return found


@untuned(lambda n, rng: (rng.random((n, 6)), rng.random(6)), 20, 1000, 50_000, numba=_arm, parallel="i", jax=True)
def hands_of_arms(angles, lengths):
    headings = np.cumsum(angles, axis=1)
    x = np.sum(lengths * np.cos(headings), axis=1)
    y = np.sum(lengths * np.sin(headings), axis=1)
    return np.stack((x, y), axis=-1)


def _tracks(seen, step, noise):
    times, tracks = seen.shape
    found = np.empty((times, tracks))
    for j in range(tracks):
        x, v = seen[0, j], 0.0
        a, b, c = 1.0, 0.0, 1.0
        for t in range(times):
            x += step * v
            a, b, c = a + 2 * step * b + step * step * c + 0.01, b + step * c, c + 0.01
            gain, other = a / (a + noise), b / (a + noise)
            wrong = seen[t, j] - x
            x += gain * wrong
            v += other * wrong
            a, b, c = (1 - gain) * a, (1 - gain) * b, c - other * b
            found[t, j] = x
    return found


@untuned(lambda n, rng: (rng.random((50, n)), 0.1, 0.3), 5, 200, 10_000, numba=_tracks, parallel="j")
def kalman_tracks(seen, step, noise):
    place = seen[0].copy()
    speed = np.zeros_like(place)
    a, b, c = np.ones_like(place), np.zeros_like(place), np.ones_like(place)
    found = np.empty_like(seen)
    for t in range(seen.shape[0]):
        place += step * speed
        a = a + 2 * step * b + step**2 * c + 0.01
        b = b + step * c
        c = c + 0.01
        gain, other = a / (a + noise), b / (a + noise)
        wrong = seen[t] - place
        place += gain * wrong
        speed += other * wrong
        c = c - other * b
        a, b = (1 - gain) * a, (1 - gain) * b
        found[t] = place
    return found


def _rotations(angles):
    found = np.empty((angles.shape[0], 3, 3))
    for i in range(angles.shape[0]):
        a, b, c = np.cos(angles[i, 0]), np.cos(angles[i, 1]), np.cos(angles[i, 2])
        x, y, z = np.sin(angles[i, 0]), np.sin(angles[i, 1]), np.sin(angles[i, 2])
        found[i, 0, 0], found[i, 0, 1], found[i, 0, 2] = c * b, c * y * x - z * a, c * y * a + z * x
        found[i, 1, 0], found[i, 1, 1], found[i, 1, 2] = z * b, z * y * x + c * a, z * y * a - c * x
        found[i, 2, 0], found[i, 2, 1], found[i, 2, 2] = -y, b * x, b * a
    return found


@untuned(lambda n, rng: (rng.random((n, 3)),), 20, 1000, 50_000, numba=_rotations, parallel="i")
def rotations_of_angles(angles):
    cosines, sines = np.cos(angles), np.sin(angles)
    a, b, c = cosines.T
    x, y, z = sines.T
    matrices = np.empty((angles.shape[0], 3, 3))
    matrices[:, 0, 0] = c * b
    matrices[:, 0, 1] = c * y * x - z * a
    matrices[:, 0, 2] = c * y * a + z * x
    matrices[:, 1, 0] = z * b
    matrices[:, 1, 1] = z * y * x + c * a
    matrices[:, 1, 2] = z * y * a - c * x
    matrices[:, 2, 0] = -y
    matrices[:, 2, 1] = b * x
    matrices[:, 2, 2] = b * a
    return matrices


def _hits(n, rng):
    size = min(40 + n // 3, 200)
    return rng.integers(0, size, (n, 2)), size // 2, size // 2, size


@untuned(_hits, 20, 500, 10_000, numpy=False)
def occupied_cells(hits, start_row, start_column, size):
    seen = np.zeros((size, size), dtype=np.int32)
    for k in range(hits.shape[0]):
        row, column = start_row, start_column
        down, right = abs(hits[k, 0] - row), abs(hits[k, 1] - column)
        step_row = 1 if hits[k, 0] > row else -1
        step_column = 1 if hits[k, 1] > column else -1
        error = right - down
        while row != hits[k, 0] or column != hits[k, 1]:
            seen[row, column] -= 1
            twice = 2 * error
            if twice > -down:
                error -= down
                column += step_column
            if twice < right:
                error += right
                row += step_row
        seen[row, column] += 3
    return seen


def _poles(angles, speeds, gain, damping):
    found = np.empty_like(angles)
    for i in range(angles.shape[0]):
        angle, speed, total = angles[i], speeds[i], 0.0
        for _ in range(50):
            total += 0.02 * angle
            push = min(max(-gain * angle - damping * speed - 0.5 * total, -8.0), 8.0)
            speed += 0.02 * (9.81 * np.sin(angle) + push)
            angle += 0.02 * speed
        found[i] = angle
    return found


@untuned(lambda n, rng: (rng.random(n) - 0.5, rng.random(n) - 0.5, 30.0, 5.0), 30, 2000, 20_000, numba=_poles,
         parallel="i", jax=True)  # fmt: skip
def balanced_poles(angles, speeds, gain, damping):
    total = np.zeros_like(angles)
    for _ in range(50):
        total = total + 0.02 * angles
        push = np.clip(-gain * angles - damping * speeds - 0.5 * total, -8.0, 8.0)
        speeds = speeds + 0.02 * (9.81 * np.sin(angles) + push)
        angles = angles + 0.02 * speeds
    return angles
