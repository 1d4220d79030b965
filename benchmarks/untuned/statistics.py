"""Statistics: resampling, densities, groups, ranks and chains."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _bootstrap(values, picks):
    found = np.empty(picks.shape[0])
    for i in range(picks.shape[0]):
        total = 0.0
        for j in range(picks.shape[1]):
            total += values[picks[i, j]]
        found[i] = total / picks.shape[1]
    return found.mean(), found.std()


@untuned(lambda n, rng: (rng.random(n), rng.integers(0, n, (100, n))), 15, 500, 20_000, numba=_bootstrap, parallel="i",
         jax=True)  # fmt: skip
def bootstrap_of_mean(values, picks):
    means = values[picks].mean(axis=1)
    return np.mean(means), np.std(means)


def _density(samples, places, width):
    found = np.zeros(places.shape[0])
    for j in range(places.shape[0]):
        for i in range(samples.shape[0]):
            apart = (places[j] - samples[i]) / width
            found[j] += np.exp(-0.5 * apart * apart)
    return found / (samples.shape[0] * width * np.sqrt(2 * np.pi))


@untuned(lambda n, rng: (rng.standard_normal(n), np.linspace(-3, 3, 64), 0.2), 10, 300, 10_000, numba=_density,
         parallel="j", jax=True)  # fmt: skip
def kernel_density(samples, places, width):
    apart = (places[:, None] - samples[None, :]) / width
    return np.exp(-0.5 * apart**2).sum(axis=1) / (len(samples) * width * np.sqrt(2 * np.pi))


@untuned(lambda n, rng: (rng.random(n), rng.integers(0, 12, n), 12), 200, 5000, 200_000)
def medians_of_groups(values, groups, count):
    medians = np.full(count, np.nan)
    for group in range(count):
        mine = values[groups == group]
        if mine.size > 0:
            medians[group] = np.median(mine)
    return medians


@untuned(lambda n, rng: (rng.random(n),), 100, 10_000, 400_000)
def ranks_of_values(values):
    order = np.argsort(values)
    ranks = np.empty(values.shape[0], dtype=np.int64)
    ranks[order] = np.arange(values.shape[0])
    return ranks


def _covariances(table):
    rows, columns = table.shape
    means, found = np.zeros(columns), np.zeros((columns, columns))
    for i in range(rows):
        for j in range(columns):
            means[j] += table[i, j] / rows
    for i in range(rows):
        for j in range(columns):
            for k in range(columns):
                found[j, k] += (table[i, j] - means[j]) * (table[i, k] - means[k])
    return found / (rows - 1)


@untuned(lambda n, rng: (rng.random((n, 8)),), 20, 2000, 200_000, numba=_covariances, jax=True)
def covariances_of_columns(table):
    centred = table - table.mean(axis=0)
    return centred.T @ centred / (table.shape[0] - 1)


def _mixture(samples, means, widths, shares):
    total = 0.0
    for i in range(samples.shape[0]):
        likely = 0.0
        for k in range(means.shape[0]):
            apart = (samples[i] - means[k]) / widths[k]
            likely += shares[k] / widths[k] * np.exp(-0.5 * apart * apart)
        total += np.log(likely)
    return total


_MIXTURE = np.array([-1.0, 0, 2]), np.array([1, 0.5, 1.0]), np.array([0.3, 0.3, 0.4])


@untuned(lambda n, rng: (rng.standard_normal(n), *_MIXTURE), 50, 4000, 200_000, numba=_mixture, parallel="i", jax=True)
def likelihood_of_mixture(samples, means, widths, shares):
    apart = (samples[:, None] - means) / widths
    likely = shares / widths * np.exp(-0.5 * apart**2)
    return np.log(likely.sum(axis=1)).sum()


def _trimmed(table, cut):
    found = np.empty(table.shape[0])
    for i in range(table.shape[0]):
        found[i] = np.mean(np.sort(table[i].copy())[cut:-cut])
    return found


@untuned(lambda n, rng: (np.asfortranarray(rng.random((n, 40))), 4), 5, 200, 10_000, numba=_trimmed, parallel="i")
def trimmed_means(table, cut):
    ordered = np.sort(table, axis=1)
    middle = ordered[:, cut:-cut]
    return np.mean(middle, axis=1)


def _concordant(x, y):
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    return np.sum(signs) / (x.shape[0] * (x.shape[0] - 1))


@untuned(lambda n, rng: (rng.random(n), rng.random(n)), 20, 150, 1500, numpy=_concordant, parallel="i")
def rank_correlation(x, y):
    n = x.shape[0]
    total = 0
    for i in range(n):
        for j in range(i):
            product = (x[i] - x[j]) * (y[i] - y[j])
            if product > 0:
                total += 1
            elif product < 0:
                total -= 1
    return 2 * total / (n * (n - 1))


@untuned(lambda n, rng: (rng.random(n) - 0.5, rng.random(n), 0.7), 100, 10_000, 400_000, numpy=False)
def metropolis_chain(moves, draws, width):
    place, taken, total = 0.0, 0, 0.0
    for i in range(moves.shape[0]):
        new = place + 2 * width * moves[i]
        gain = 0.5 * (place * place - new * new)
        if gain >= 0 or draws[i] < np.exp(gain):
            place = new
            taken += 1
        total += place * place
    return total / moves.shape[0], taken


def _chi_square(first, second):
    table = np.zeros((6, 5))
    for i in range(first.shape[0]):
        table[first[i], second[i]] += 1
    found = 0.0
    for i in range(6):
        for j in range(5):
            expected = table[i].sum() * table[:, j].sum() / first.shape[0]
            found += (table[i, j] - expected) ** 2 / expected
    return found


@untuned(lambda n, rng: (rng.integers(0, 6, n), rng.integers(0, 5, n)), 200, 20_000, 1_000_000, numba=_chi_square)
def chi_square_of_labels(first, second):
    table = np.bincount(first * 5 + second, minlength=30).reshape(6, 5)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / first.shape[0]
    return np.sum((table - expected) ** 2 / expected)
