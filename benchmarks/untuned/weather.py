"""Weather and climate: physics of columns, advection and integrals over height; arrays are [level, column]."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _columns(n, rng):
    levels = 40
    pressure = np.linspace(2e4, 1e5, levels)[:, None] + 100 * rng.random((levels, n))
    temperature = 220 + 70 * (pressure / 1e5) + rng.random((levels, n))
    return temperature, pressure


def _vapour_deficit(temperature, humidity):
    found = np.empty_like(temperature)
    for i in range(temperature.shape[0]):
        for j in range(temperature.shape[1]):
            celsius = temperature[i, j] - 273.15
            if celsius > 0:
                most = 611.2 * np.exp(17.67 * celsius / (celsius + 243.5))
            else:
                most = 611.2 * np.exp(22.46 * celsius / (celsius + 272.62))
            found[i, j] = most * (1 - humidity[i, j])
    return found


@untuned(lambda n, rng: (250 + 50 * rng.random((8, n)), rng.random((8, n))), 20, 1000, 50_000, numba=_vapour_deficit,
         parallel="i", jax=True)  # fmt: skip
def vapour_deficit(temperature, humidity):
    celsius = temperature - 273.15
    over_water = 611.2 * np.exp(17.67 * celsius / (celsius + 243.5))
    over_ice = 611.2 * np.exp(22.46 * celsius / (celsius + 272.62))
    return np.where(celsius > 0, over_water, over_ice) * (1 - humidity)


def _column_water(humidity, pressure):
    found = np.zeros(humidity.shape[1])
    for k in range(humidity.shape[0] - 1):
        for j in range(humidity.shape[1]):
            found[j] += (humidity[k + 1, j] + humidity[k, j]) * (pressure[k + 1, j] - pressure[k, j])
    return found / (2 * 9.80665)


@untuned(lambda n, rng: (0.01 * rng.random((40, n)), _columns(n, rng)[1]), 6, 250, 20_000, numba=_column_water,
         jax=True)  # fmt: skip
def column_water(humidity, pressure):
    middle = 0.5 * (humidity[1:] + humidity[:-1])
    return np.sum(middle * np.diff(pressure, axis=0), axis=0) / 9.80665


def _layer_heights(temperature, pressure):
    levels, columns = temperature.shape
    found = np.zeros((levels, columns))
    for k in range(levels - 2, -1, -1):
        for j in range(columns):
            warm = 0.5 * (temperature[k, j] + temperature[k + 1, j])
            thick = 287.05 / 9.80665 * warm * np.log(pressure[k + 1, j] / pressure[k, j])
            found[k, j] = found[k + 1, j] + thick
    return found


@untuned(_columns, 6, 250, 20_000, numba=_layer_heights, jax=True)
def heights_of_levels(temperature, pressure):
    warm = 0.5 * (temperature[:-1] + temperature[1:])
    thick = 287.05 / 9.80665 * warm * np.log(pressure[1:] / pressure[:-1])
    above = np.cumsum(thick[::-1], axis=0)[::-1]
    return np.concatenate((above, np.zeros((1, temperature.shape[1]))), axis=0)


def _transported(tracer, east, north, step):
    rows, columns = tracer.shape
    found = tracer.copy()
    for _ in range(4):
        after = np.empty_like(found)
        for i in range(rows):
            for j in range(columns):
                here = found[i, j]
                u, v = east[i, j], north[i, j]
                across = here - found[i, j - 1] if u > 0 else found[i, (j + 1) % columns] - here
                along = here - found[i - 1, j] if v > 0 else found[(i + 1) % rows, j] - here
                after[i, j] = here - step * (u * across + v * along)
        found = after
    return found


@untuned(lambda n, rng: (*(rng.random((n, n)) - 0.5 * k for k in (0, 1, 1)), 0.2), 12, 100, 700, numba=_transported,
         parallel="i", jax=True)  # fmt: skip
def transported_tracer(tracer, east, north, step):
    for _ in range(4):
        from_west = tracer - np.roll(tracer, 1, axis=1)
        from_east = np.roll(tracer, -1, axis=1) - tracer
        from_south = tracer - np.roll(tracer, 1, axis=0)
        from_north = np.roll(tracer, -1, axis=0) - tracer
        across = east * np.where(east > 0, from_west, from_east)
        along = north * np.where(north > 0, from_south, from_north)
        tracer = tracer - step * (across + along)
    return tracer


@untuned(_columns, 6, 250, 10_000, numpy=False, parallel="j")
def convective_adjustment(temperature, pressure):
    levels, columns = temperature.shape
    adjusted = np.empty_like(temperature)
    for j in range(columns):
        exner = (pressure[:, j] / 1e5) ** 0.2857
        potential = temperature[:, j] / exner
        for _ in range(3):
            for k in range(levels - 2, -1, -1):
                if potential[k] < potential[k + 1]:
                    mean = 0.5 * (potential[k] + potential[k + 1])
                    potential[k] = mean
                    potential[k + 1] = mean
        adjusted[:, j] = potential * exner
    return adjusted


def _long_wave(temperature, emissivity):
    levels, columns = temperature.shape
    down = np.zeros((levels + 1, columns))
    up = np.zeros((levels + 1, columns))
    for k in range(levels):
        for j in range(columns):
            emitted = emissivity[k, j] * 5.67e-8 * temperature[k, j] ** 4
            down[k + 1, j] = down[k, j] * (1 - emissivity[k, j]) + emitted
    for j in range(columns):
        up[levels, j] = 5.67e-8 * temperature[levels - 1, j] ** 4
    for k in range(levels - 1, -1, -1):
        for j in range(columns):
            emitted = emissivity[k, j] * 5.67e-8 * temperature[k, j] ** 4
            up[k, j] = up[k + 1, j] * (1 - emissivity[k, j]) + emitted
    return up - down


@untuned(lambda n, rng: (_columns(n, rng)[0], 0.2 * rng.random((40, n))), 6, 250, 10_000, numba=_long_wave)
def long_wave_flux(temperature, emissivity):
    levels = temperature.shape[0]
    emitted = emissivity * 5.67e-8 * temperature**4
    kept = 1 - emissivity
    down = np.zeros((levels + 1, temperature.shape[1]))
    up = np.zeros_like(down)
    for k in range(levels):
        down[k + 1] = down[k] * kept[k] + emitted[k]
    up[-1] = 5.67e-8 * temperature[-1] ** 4
    for k in range(levels - 1, -1, -1):
        up[k] = up[k + 1] * kept[k] + emitted[k]
    return up - down


def _inversions(temperature, height):
    found = np.empty(temperature.shape[1])
    for j in range(temperature.shape[1]):
        level = 0
        for k in range(temperature.shape[0] - 1):
            if (temperature[k + 1, j] - temperature[k, j]) / (height[k + 1] - height[k]) > -0.002:
                level = k
                break
        found[j] = height[level]
    return found


@untuned(lambda n, rng: (290 - 70 * np.linspace(0, 1, 40)[:, None] + 3 * rng.random((40, n)), np.linspace(0, 15e3, 40)),
         6, 250, 20_000, numba=_inversions, parallel="j", jax=True)  # fmt: skip
def lowest_inversions(temperature, height):
    lapse = (temperature[1:] - temperature[:-1]) / (height[1:] - height[:-1])[:, None]
    level = np.argmax(lapse > -0.002, axis=0)
    return height[level]
