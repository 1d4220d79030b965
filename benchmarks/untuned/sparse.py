"""Sparse and indirect: compressed rows, gathers, histograms and deposits."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _rows(n, rng):
    columns = np.sort(rng.integers(0, n, (n, 5)), axis=1).ravel().astype(np.int32)
    return rng.random(5 * n), columns, np.arange(0, 5 * n + 1, 5).astype(np.int32), rng.random((n, 8))


def _sparse_times_dense(values, columns, starts, dense):
    return np.add.reduceat(values[:, None] * dense[columns], starts[:-1], axis=0)


@untuned(_rows, 50, 1500, 60_000, numpy=_sparse_times_dense, parallel="row")
def sparse_times_dense(values, columns, starts, dense):
    rows = starts.shape[0] - 1
    product = np.zeros((rows, dense.shape[1]))
    for row in range(rows):
        for entry in range(starts[row], starts[row + 1]):
            for k in range(dense.shape[1]):
                product[row, k] += values[entry] * dense[columns[entry], k]
    return product


def _sums_by_group(groups, values, count):
    sums = np.zeros(count)
    for i in range(groups.shape[0]):
        sums[groups[i]] += values[i]
    return sums


@untuned(lambda n, rng: (rng.integers(0, 100, n), rng.random(n), 100), 200, 20_000, 1_000_000, numba=_sums_by_group)
def sums_by_group(groups, values, count):
    return np.bincount(groups, weights=values, minlength=count)


def _gathered_sum(x, order):
    total = 0.0
    for i in range(order.shape[0]):
        total += x[order[i]]
    return total


@untuned(lambda n, rng: (rng.random(n), rng.permutation(n)), 200, 20_000, 2_000_000, numba=_gathered_sum, parallel="i",
         jax=True)  # fmt: skip
def gathered_sum(x, order):
    return np.sum(x[order])


def _histogram(x, bins):
    return np.histogram(x, bins=bins, range=(0.0, 1.0))[0]


@untuned(lambda n, rng: (rng.random(n), 64), 200, 20_000, 1_000_000, numpy=_histogram)
def histogram_of_unit(x, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for i in range(x.shape[0]):
        found = int(x[i] * bins)
        if found == bins:
            found = bins - 1
        counts[found] += 1
    return counts


def _joint_histogram(x, y):
    return np.histogram2d(x, y, bins=32, range=((0.0, 1.0), (0.0, 1.0)))[0]


@untuned(lambda n, rng: (rng.random(n), rng.random(n)), 200, 20_000, 500_000, numpy=_joint_histogram)
def joint_histogram(x, y):
    counts = np.zeros((32, 32))
    for k in range(x.shape[0]):
        row = min(int(x[k] * 32), 31)
        column = min(int(y[k] * 32), 31)
        counts[row, column] += 1.0
    return counts


def _deposited(positions, charges, cells):
    grid = np.zeros(cells)
    for p in range(positions.shape[0]):
        place = positions[p] * (cells - 1)
        left = int(place)
        right = place - left
        grid[left] += charges[p] * (1 - right)
        grid[left + 1] += charges[p] * right
    return grid


@untuned(lambda n, rng: (rng.random(n) * 0.999, rng.random(n), 256), 200, 20_000, 500_000, numba=_deposited)
def deposited_charge(positions, charges, cells):
    grid = np.zeros(cells)
    place = positions * (cells - 1)
    left = place.astype(np.int64)
    right = place - left
    np.add.at(grid, left, charges * (1 - right))
    np.add.at(grid, left + 1, charges * right)
    return grid
