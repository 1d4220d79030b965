"""Astronomy: orbits, coordinates and periods."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _anomalies(means, eccentricities):
    found = np.empty_like(means)
    for i in range(means.shape[0]):
        angle = means[i]
        for _ in range(8):
            wrong = angle - eccentricities[i] * np.sin(angle) - means[i]
            change = wrong / (1 - eccentricities[i] * np.cos(angle))
            angle -= change
            if abs(change) < 1e-13:
                break
        found[i] = angle
    return found


@untuned(lambda n, rng: (2 * np.pi * rng.random(n), 0.6 * rng.random(n)), 50, 4000, 200_000, numba=_anomalies,
         parallel="i", jax=True)  # fmt: skip
def eccentric_anomalies(means, eccentricities):
    angle = means
    for _ in range(8):
        wrong = angle - eccentricities * np.sin(angle) - means
        angle = angle - wrong / (1 - eccentricities * np.cos(angle))
    return angle


def _folded(times, brightness, period, bins):
    sums, counts = np.zeros(bins), np.zeros(bins)
    for i in range(times.shape[0]):
        phase = times[i] / period
        place = int((phase - np.floor(phase)) * bins)
        sums[place] += brightness[i]
        counts[place] += 1
    return sums / np.maximum(counts, 1)


@untuned(lambda n, rng: (100 * rng.random(n), rng.random(n), 3.7, 20), 200, 20_000, 1_000_000, numba=_folded, seen=True)
def folded_light_curve(times, brightness, period, bins):
    phase = (times / period) % 1.0
    place = (phase * bins).astype(np.int64)
    sums = np.bincount(place, weights=brightness, minlength=bins)
    counts = np.bincount(place, minlength=bins)
    return sums / np.maximum(counts, 1)


def _horizontal(ascensions, declinations, latitude, sidereal):
    found = np.empty((2, ascensions.shape[0]))
    for i in range(ascensions.shape[0]):
        hour = sidereal - ascensions[i]
        sine = (np.sin(declinations[i]) * np.sin(latitude)
                + np.cos(declinations[i]) * np.cos(latitude) * np.cos(hour))
        found[0, i] = np.arcsin(sine)
        east = -np.cos(declinations[i]) * np.sin(hour)
        north = np.sin(declinations[i]) * np.cos(latitude) - np.cos(declinations[i]) * np.cos(hour) * np.sin(latitude)
        found[1, i] = np.arctan2(east, north)
    return found[0], found[1]


@untuned(lambda n, rng: (6 * rng.random(n), rng.random(n) - 0.5, 0.83, 1.2), 50, 4000, 200_000, numba=_horizontal,
         parallel="i", jax=True)  # fmt: skip
def horizontal_coordinates(ascensions, declinations, latitude, sidereal):
    hour = sidereal - ascensions
    north = np.sin(declinations) * np.cos(latitude) - np.cos(declinations) * np.cos(hour) * np.sin(latitude)
    east = -np.cos(declinations) * np.sin(hour)
    sine = np.sin(declinations) * np.sin(latitude) + np.cos(declinations) * np.cos(latitude) * np.cos(hour)
    return np.arcsin(sine), np.arctan2(east, north)


def _orbits(places, speeds, step, steps):
    places, speeds = places.copy(), speeds.copy()
    for i in range(places.shape[0]):
        x, y, z = places[i, 0], places[i, 1], places[i, 2]
        u, v, w = speeds[i, 0], speeds[i, 1], speeds[i, 2]
        for _ in range(steps):
            x, y, z = x + 0.5 * step * u, y + 0.5 * step * v, z + 0.5 * step * w
            square = x * x + y * y + z * z
            pull = -step / (square * np.sqrt(square))
            u, v, w = u + pull * x, v + pull * y, w + pull * z
            x, y, z = x + 0.5 * step * u, y + 0.5 * step * v, z + 0.5 * step * w
        places[i, 0], places[i, 1], places[i, 2] = x, y, z
        speeds[i, 0], speeds[i, 1], speeds[i, 2] = u, v, w
    return places, speeds


@untuned(lambda n, rng: (rng.random((n, 3)) + 0.5, rng.random((n, 3)) - 0.5, 0.01, 20), 30, 2000, 100_000,
         numba=_orbits, parallel="i")  # fmt: skip
def leapfrog_orbits(places, speeds, step, steps):
    places, speeds = places.copy(), speeds.copy()
    for _ in range(steps):
        places += 0.5 * step * speeds
        distance = np.sqrt(np.sum(places**2, axis=1, keepdims=True))
        speeds -= step * places / distance**3
        places += 0.5 * step * speeds
    return places, speeds


def _periodogram(times, values, frequencies):
    found = np.empty_like(frequencies)
    for k in range(frequencies.shape[0]):
        c, s = 0.0, 0.0
        for i in range(times.shape[0]):
            angle = 2 * np.pi * frequencies[k] * times[i]
            c += values[i] * np.cos(angle)
            s += values[i] * np.sin(angle)
        found[k] = (c * c + s * s) / times.shape[0]
    return found


@untuned(lambda n, rng: (30 * rng.random(n), rng.random(n) - 0.5, np.linspace(0.1, 3, n)), 12, 90, 700,
         numba=_periodogram, parallel="k", jax=True)  # fmt: skip
def periodogram_of_uneven_times(times, values, frequencies):
    angle = 2 * np.pi * frequencies[:, np.newaxis] * times
    cosines = np.sum(values * np.cos(angle), axis=1)
    sines = np.sum(values * np.sin(angle), axis=1)
    return (cosines**2 + sines**2) / len(times)
