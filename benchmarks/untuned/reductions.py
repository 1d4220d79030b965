"""Reductions, scans, sorting and selection."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _vector(n, rng):
    return (rng.random(n),)


def _square(n, rng):
    return (rng.random((n, n)),)


def _middle_sums(field):
    found = np.zeros((field.shape[0], field.shape[2]))
    for i in range(field.shape[0]):
        for j in range(field.shape[1]):
            for k in range(field.shape[2]):
                found[i, k] += field[i, j, k]
    return found


@untuned(lambda n, rng: (rng.random((n, n, n)),), 6, 32, 150, numba=_middle_sums, parallel="i", jax=True)
def sums_over_middle_axis(field):
    return np.sum(field, axis=1)


def _sum(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    return total


@untuned(_vector, 100, 20_000, 4_000_000, numba=_sum, parallel="i", jax=True)
def sum_of_vector(x):
    return np.sum(x)


def _variance(x):
    mean = 0.0
    for i in range(x.shape[0]):
        mean += x[i]
    mean /= x.shape[0]
    total = 0.0
    for i in range(x.shape[0]):
        total += (x[i] - mean) ** 2
    return total / x.shape[0]


@untuned(_vector, 100, 20_000, 2_000_000, numba=_variance, jax=True)
def variance_of_vector(x):
    return np.var(x)


def _rows_of_least(table):
    best = table[0].copy()
    found = np.zeros(table.shape[1], dtype=np.int64)
    for i in range(1, table.shape[0]):
        for j in range(table.shape[1]):
            if table[i, j] < best[j]:
                best[j] = table[i, j]
                found[j] = i
    return found


@untuned(_square, 12, 150, 1500, numba=_rows_of_least, jax=True)
def rows_of_least(table):
    return table.argmin(axis=0)


@untuned(_vector, 200, 20_000, 2_000_000, jax=True)
def place_of_largest(x):
    return x.argmax()


def _running_sums(table):
    found = np.empty_like(table)
    for i in range(table.shape[0]):
        total = 0.0
        for j in range(table.shape[1]):
            total += table[i, j]
            found[i, j] = total
    return found


@untuned(_square, 12, 120, 1200, numba=_running_sums, parallel="i", jax=True)
def running_sums_of_rows(table):
    return table.cumsum(axis=1)


def _sorted_rows(table):
    found = np.empty_like(table)
    for i in range(table.shape[0]):
        found[i] = np.sort(table[i])
    return found


@untuned(_square, 12, 100, 800, numba=_sorted_rows, parallel="i", jax=True)
def sorted_rows(table):
    return np.sort(table, axis=1)


@untuned(lambda n, rng: (rng.integers(0, n // 2, n),), 200, 20_000, 500_000)
def different_integers(values):
    return np.unique(values)


@untuned(lambda n, rng: (rng.random(n), np.linspace(0, 1, 100), rng.random(100)), 100, 10_000, 500_000, jax=True)
def interpolated_in_table(x, places, values):
    return np.interp(x, places, values)


def _medians_of_rows(table):
    found = np.empty(table.shape[0])
    for i in range(table.shape[0]):
        found[i] = np.median(table[i])
    return found


@untuned(lambda n, rng: (rng.random((n, 21)),), 5, 300, 20_000, numba=_medians_of_rows, parallel="i", jax=True)
def medians_of_rows(table):
    return np.median(table, axis=1)


def _positive_sum(x):
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0:
            total += x[i]
    return total


@untuned(lambda n, rng: (rng.standard_normal(n),), 200, 20_000, 2_000_000, numba=_positive_sum, parallel="i")
def sum_of_positive(x):
    return np.sum(x[x > 0])


@untuned(lambda n, rng: (rng.standard_normal(n),), 200, 20_000, 1_000_000)
def values_above(x):
    above = x > 0.5
    return x[above]


def _with_gaps(n, rng):
    x = rng.random(n)
    x[::7] = np.nan
    return (x,)


def _mean_without_gaps(x):
    total, count = 0.0, 0
    for i in range(x.shape[0]):
        if not np.isnan(x[i]):
            total += x[i]
            count += 1
    return total / count


@untuned(_with_gaps, 200, 20_000, 2_000_000, numba=_mean_without_gaps, parallel="i", jax=True)
def mean_without_gaps(x):
    return np.nanmean(x)


def _correlation(x, y):
    n = x.shape[0]
    a, b = 0.0, 0.0
    for i in range(n):
        a += x[i]
        b += y[i]
    a /= n
    b /= n
    xy, xx, yy = 0.0, 0.0, 0.0
    for i in range(n):
        xy += (x[i] - a) * (y[i] - b)
        xx += (x[i] - a) ** 2
        yy += (y[i] - b) ** 2
    return xy / np.sqrt(xx * yy)


@untuned(lambda n, rng: (rng.random(n), rng.random(n)), 200, 20_000, 2_000_000, numba=_correlation, parallel="i",
         jax=True)  # fmt: skip
def correlation(x, y):
    a, b = x - np.mean(x), y - np.mean(y)
    return np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b))


def _late(n, rng):
    x = rng.random(n)
    x[9 * n // 10] = 2.0
    return x, 1.5


def _first_above(x, level):
    return np.argmax(x > level)


@untuned(_late, 200, 20_000, 2_000_000, numpy=_first_above)
def first_above(x, level):
    for i in range(x.shape[0]):
        if x[i] > level:
            return i
    return -1
