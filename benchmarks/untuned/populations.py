"""Epidemiology and ecology: infections, populations and communities."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _spread(healthy, ill, rate, recovery):
    rows, columns = healthy.shape
    well, sick = healthy.copy(), ill.copy()
    for _ in range(5):
        before = sick.copy()
        for i in range(rows):
            for j in range(columns):
                near = before[i - 1, j] + before[(i + 1) % rows, j] + before[i, j - 1] + before[i, (j + 1) % columns]
                new = rate * well[i, j] * (before[i, j] + 0.25 * near)
                well[i, j] -= new
                sick[i, j] += new - recovery * before[i, j]
    return well, sick


@untuned(lambda n, rng: (rng.random((n, n)), 0.1 * rng.random((n, n)), 0.3, 0.1), 12, 100, 700, numba=_spread,
         jax=True)  # fmt: skip
def epidemic_on_grid(healthy, ill, rate, recovery):
    for _ in range(5):
        near = np.roll(ill, 1, 0) + np.roll(ill, -1, 0) + np.roll(ill, 1, 1) + np.roll(ill, -1, 1)
        new = rate * healthy * (ill + 0.25 * near)
        healthy = healthy - new
        ill = ill + new - recovery * ill
    return healthy, ill


def _ages(n, rng):
    return 0.9 + 0.1 * rng.random((n, 8)), 0.02 * rng.random((n, 8)), rng.random((8, 8)), 20


@untuned(_ages, 6, 400, 8000)
def epidemic_by_ages(healthy, ill, contacts, days):
    exposed = np.zeros_like(healthy)
    gone = np.zeros_like(healthy)
    for _ in range(days):
        force = 0.1 * (ill @ contacts.T)
        new = force * healthy
        healthy = healthy - new
        exposed, ill, gone = exposed + new - 0.2 * exposed, ill + 0.2 * exposed - 0.1 * ill, gone + 0.1 * ill
    return healthy, exposed, ill, gone


def _hunted(prey, hunters, step):
    found = np.empty((2, prey.shape[0]), dtype=np.float32)
    one, small = np.float32(1), np.float32(0.1)
    for i in range(prey.shape[0]):
        x, y = prey[i], hunters[i]
        for _ in range(30):
            eaten = x * y / (one + small * x)
            x, y = x + step * (x - eaten), y + step * (small * eaten - y)
        found[0, i], found[1, i] = x, y
    return found[0], found[1]


@untuned(lambda n, rng: (*(rng.random(n).astype(np.float32) for _ in range(2)), np.float32(0.02)), 60, 6000, 100_000,
         numba=_hunted, parallel="i", jax=True, tolerance=2e-3)  # fmt: skip
def predators_and_prey(prey, hunters, step):
    for _ in range(30):
        eaten = prey * hunters / (1 + 0.1 * prey)
        prey, hunters = prey + step * (prey - eaten), hunters + step * (0.1 * eaten - hunters)
    return prey, hunters


@untuned(lambda n, rng: (rng.random(12), rng.random((12, 12)) / 12, n), 20, 1000, 20_000)
def projected_age_classes(population, transitions, years):
    history = np.empty((years, population.shape[0]))
    for year in range(years):
        population = transitions @ population
        population = population / population.sum()
        history[year] = population
    return history


def _diversity(counts):
    found = np.zeros(counts.shape[0])
    for i in range(counts.shape[0]):
        total = 0
        for j in range(counts.shape[1]):
            total += counts[i, j]
        for j in range(counts.shape[1]):
            if counts[i, j] > 0:
                share = counts[i, j] / total
                found[i] -= share * np.log(share)
    return found


@untuned(lambda n, rng: (np.maximum(rng.integers(-20, 40, (n, 50)), 0),), 8, 300, 20_000, numba=_diversity,
         parallel="i", jax=True)  # fmt: skip
def shannon_diversity(counts):
    shares = counts / counts.sum(axis=1, keepdims=True)
    logarithms = np.log(np.where(shares > 0, shares, 1.0))
    return -np.sum(shares * logarithms, axis=1)


def _dissimilarity(counts):
    n = counts.shape[0]
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            apart, both = 0.0, 0.0
            for k in range(counts.shape[1]):
                apart += abs(counts[i, k] - counts[j, k])
                both += counts[i, k] + counts[j, k]
            found[i, j] = apart / both
    return found


@untuned(lambda n, rng: (rng.random((n, 24)),), 10, 60, 350, numba=_dissimilarity, parallel="i", jax=True)
def bray_curtis_dissimilarity(counts):
    apart = np.abs(counts[:, None, :] - counts[None, :, :]).sum(axis=-1)
    totals = counts.sum(axis=1)
    return apart / (totals[:, None] + totals[None, :])


def _traced(first, second, days, ill):
    day_of = np.full(ill.shape[0], -1)
    day_of[ill] = 0
    for day in range(1, days + 1):
        sick = day_of >= 0
        met = np.zeros_like(ill)
        met[first[sick[second]]] = True
        met[second[sick[first]]] = True
        day_of[met & ~sick] = day
    return day_of


@untuned(lambda n, rng: (*rng.integers(0, n, (2, 2 * n)), 6, rng.random(n) < 0.05), 50, 3000, 200_000, numpy=_traced)
def days_of_infection(first, second, days, ill):
    day_of = np.where(ill, 0, -1)
    for day in range(1, days + 1):
        for contact in range(first.shape[0]):
            a, b = first[contact], second[contact]
            if day_of[a] >= 0 and day_of[a] < day and day_of[b] < 0:
                day_of[b] = day
            if day_of[b] >= 0 and day_of[b] < day and day_of[a] < 0:
                day_of[a] = day
    return day_of
