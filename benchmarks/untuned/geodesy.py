"""Geodesy: distances and coordinates on the sphere and on the ellipsoid."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _arc_lengths(north, east, other_north, other_east):
    found = np.empty_like(north)
    for i in range(north.shape[0]):
        up = np.sin((other_north[i] - north[i]) / 2)
        side = np.sin((other_east[i] - east[i]) / 2)
        part = up * up + np.cos(north[i]) * np.cos(other_north[i]) * side * side
        found[i] = 2 * 6371 * np.arcsin(np.sqrt(part))
    return found


@untuned(lambda n, rng: tuple(rng.random(n) for _ in range(4)), 60, 5000, 300_000, numba=_arc_lengths, parallel="i",
         jax=True)  # fmt: skip
def great_circle_distances(north, east, other_north, other_east):
    half_north = np.sin(0.5 * (other_north - north)) ** 2
    half_east = np.sin(0.5 * (other_east - east)) ** 2
    part = half_north + np.cos(north) * np.cos(other_north) * half_east
    return 2 * 6371 * np.arcsin(np.sqrt(part))


def _earth_centred(latitudes, longitudes, heights):
    found = np.empty((latitudes.shape[0], 3))
    for i in range(latitudes.shape[0]):
        sine, cosine = np.sin(latitudes[i]), np.cos(latitudes[i])
        radius = 6378137.0 / np.sqrt(1 - 0.00669437999 * sine * sine)
        found[i, 0] = (radius + heights[i]) * cosine * np.cos(longitudes[i])
        found[i, 1] = (radius + heights[i]) * cosine * np.sin(longitudes[i])
        found[i, 2] = (radius * (1 - 0.00669437999) + heights[i]) * sine
    return found


@untuned(lambda n, rng: (rng.random(n), rng.random(n), 1000 * rng.random(n)), 60, 5000, 300_000, numba=_earth_centred,
         parallel="i", jax=True)  # fmt: skip
def earth_centred_coordinates(latitudes, longitudes, heights):
    squared_eccentricity = 0.00669437999
    sine = np.sin(latitudes)
    radius = 6378137.0 / np.sqrt(1 - squared_eccentricity * sine**2)
    across = (radius + heights) * np.cos(latitudes)
    x, y = across * np.cos(longitudes), across * np.sin(longitudes)
    return np.stack((x, y, (radius * (1 - squared_eccentricity) + heights) * sine), axis=1)


def _tiles(latitudes, longitudes, zoom):
    found = np.empty((latitudes.shape[0], 2), dtype=np.int64)
    count = 2**zoom
    for i in range(latitudes.shape[0]):
        column = int(np.floor((longitudes[i] + 180) / 360 * count))
        radians = latitudes[i] * (np.pi / 180)
        row = int(np.floor((1 - np.arcsinh(np.tan(radians)) / np.pi) / 2 * count))
        found[i, 0] = min(max(column, 0), count - 1)
        found[i, 1] = min(max(row, 0), count - 1)
    return found


@untuned(lambda n, rng: (160 * rng.random(n) - 80, 360 * rng.random(n) - 180, 12), 60, 5000, 300_000, numba=_tiles,
         parallel="i", jax=True)  # fmt: skip
def map_tiles(latitudes, longitudes, zoom):
    count = 2**zoom
    columns = np.floor((longitudes + 180) / 360 * count)
    mercator = np.arcsinh(np.tan(latitudes * (np.pi / 180)))
    rows = np.floor((1 - mercator / np.pi) / 2 * count)
    tiles = np.stack((columns, rows), axis=1).astype(np.int64)
    return np.clip(tiles, 0, count - 1)
