"""Environment: maps of values, rivers, satellites, variable stars."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _moran(values, x, y, reach):
    n = values.shape[0]
    mean = values.mean()
    num = wsum = den = 0.0
    for i in range(n):
        den += (values[i] - mean) ** 2
        for j in range(n):
            if i != j:
                d = np.sqrt((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2)
                if d < reach:
                    wsum += 1 / d
                    num += (values[i] - mean) * (values[j] - mean) / d
    return n / wsum * num / den


@untuned(lambda n, rng: (rng.random(n), rng.random(n), rng.random(n), 0.3), 30, 300, 2000, numba=_moran, seen=True)
def spatial_correlation(values, x, y, reach):
    d = np.sqrt((x[:, None] - x) ** 2 + (y[:, None] - y) ** 2)
    np.fill_diagonal(d, np.inf)
    w = np.where(d < reach, 1 / d, 0.0)
    z = values - values.mean()
    return len(values) / w.sum() * (w * np.outer(z, z)).sum() / (z * z).sum()


@untuned(
    lambda n, rng: (rng.permutation(n), np.minimum(np.arange(n) + rng.integers(0, 20, n), n - 1), rng.random(n)),
    200,
    5000,
    300_000,
    numpy=False,
    seen=True,
)
def accumulated_flow(order, receiver, rain):
    area = rain.copy()
    for k in range(order.shape[0]):
        i = order[k]
        if receiver[i] != i:
            area[receiver[i]] += area[i]
    return area


def _composite(red, infra, cloud):
    t, n = red.shape
    best = np.full(n, -1.0)
    when = np.full(n, -1)
    for k in range(t):
        for i in range(n):
            if not cloud[k, i]:
                v = (infra[k, i] - red[k, i]) / (infra[k, i] + red[k, i] + 1e-9)
                if v > best[i]:
                    best[i] = v
                    when[i] = k
    return best, when


@untuned(
    lambda n, rng: (rng.random((12, n)), rng.random((12, n)), rng.random((12, n)) < 0.3),
    50,
    2000,
    200_000,
    numba=_composite,
    seen=True,
)
def greenest_days(red, infra, cloud):
    index = (infra - red) / (infra + red + 1e-9)
    index = np.where(cloud, -1.0, index)
    when = np.argmax(index, axis=0)
    best = np.max(index, axis=0)
    return best, np.where(best > -1.0, when, -1)


def _dispersion(times, values, periods, bins):
    out = np.empty(periods.shape[0])
    for p in range(periods.shape[0]):
        count = np.zeros(bins)
        total = np.zeros(bins)
        square = np.zeros(bins)
        for i in range(times.shape[0]):
            f = times[i] / periods[p]
            b = int((f - np.floor(f)) * bins)
            count[b] += 1
            total[b] += values[i]
            square[b] += values[i] * values[i]
        s = 0.0
        for b in range(bins):
            if count[b] > 0:
                s += square[b] - total[b] * total[b] / count[b]
        out[p] = s
    return out


@untuned(
    lambda n, rng: (np.sort(rng.random(n)) * 100, rng.random(n), 1 + rng.random(20), 10),
    50,
    1000,
    20_000,
    numba=_dispersion,
    parallel="p",
    seen=True,
)
def phase_dispersion(times, values, periods, bins):
    out = np.empty(len(periods))
    for p in range(len(periods)):
        f = times / periods[p]
        b = ((f - np.floor(f)) * bins).astype(np.int64)
        count = np.bincount(b, minlength=bins)
        total = np.bincount(b, weights=values, minlength=bins)
        square = np.bincount(b, weights=values * values, minlength=bins)
        out[p] = np.sum(np.where(count > 0, square - total * total / np.maximum(count, 1), 0.0))
    return out
