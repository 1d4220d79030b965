"""Hydrology: directions of flow, infiltration, snow and reservoirs."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _steepest(heights):
    rows, columns = heights.shape
    stack = np.full((9, rows - 2, columns - 2), 0.0)
    for k in range(9):
        a, b = k // 3, k % 3
        away = np.sqrt((a - 1) ** 2 + (b - 1) ** 2)
        if k != 4:
            stack[k] = (heights[1:-1, 1:-1] - heights[a : rows - 2 + a, b : columns - 2 + b]) / away
    found = np.argmax(stack, axis=0)
    return np.where(stack.max(axis=0) > 0, found, 4)


@untuned(lambda n, rng: (rng.random((n, n)),), 12, 120, 900, numpy=_steepest, parallel="i")
def flow_directions(heights):
    rows, columns = heights.shape
    found = np.full((rows - 2, columns - 2), 4)
    for i in range(rows - 2):
        for j in range(columns - 2):
            steepest = 0.0
            for a in range(3):
                for b in range(3):
                    if a != 1 or b != 1:
                        fall = heights[i + 1, j + 1] - heights[i + a, j + b]
                        if a != 1 and b != 1:
                            fall /= np.sqrt(2.0)
                        if fall > steepest:
                            steepest = fall
                            found[i, j] = 3 * a + b
    return found


def _soaked(rain, conductivity, suction):
    found = np.full(conductivity.shape[0], 1.0)
    for j in range(conductivity.shape[0]):
        for t in range(rain.shape[0]):
            most = conductivity[j] * (1 + suction[j] / found[j])
            found[j] += min(rain[t, j], most) * 0.1
    return found - 1.0


@untuned(lambda n, rng: (rng.random((48, n)), 0.3 * rng.random(n), 5 * rng.random(n)), 6, 250, 10_000, numba=_soaked,
         parallel="j", jax=True)  # fmt: skip
def infiltrated_rain(rain, conductivity, suction):
    soaked = np.ones_like(conductivity)
    for t in range(rain.shape[0]):
        most = conductivity * (1 + suction / soaked)
        soaked = soaked + np.minimum(rain[t], most) * 0.1
    return soaked - 1.0


def _melted(temperature, falling):
    days, cells = temperature.shape
    found = np.empty((days, cells))
    for j in range(cells):
        pack, store = 0.0, 0.0
        for t in range(days):
            if temperature[t, j] < 0:
                pack += falling[t, j]
                water = 0.0
            else:
                melt = min(pack, 4.0 * temperature[t, j])
                pack -= melt
                water = falling[t, j] + melt
            store += water
            found[t, j] = 0.2 * store
            store *= 0.8
    return found


@untuned(lambda n, rng: (10 * rng.random((60, n)) - 5, 8 * rng.random((60, n))), 5, 200, 10_000, numba=_melted,
         parallel="j")  # fmt: skip
def runoff_with_snow(temperature, falling):
    pack = np.zeros(temperature.shape[1])
    store = np.zeros(temperature.shape[1])
    runoff = np.empty_like(temperature)
    for t in range(temperature.shape[0]):
        cold = temperature[t] < 0
        snow = np.where(cold, falling[t], 0.0)
        melt = np.where(cold, 0.0, np.minimum(pack, 4.0 * temperature[t]))
        pack = pack + snow - melt
        store = store + falling[t] - snow + melt
        runoff[t] = 0.2 * store
        store = 0.8 * store
    return runoff
