"""Society: ages, queues, games, traffic, incomes, calendars."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _life(deaths, people):
    groups, ages = deaths.shape
    out = np.empty((groups, ages))
    for g in range(groups):
        alive = np.empty(ages)
        now = 1.0
        for a in range(ages):
            alive[a] = now
            m = deaths[g, a] / people[g, a]
            q = m / (1 + 0.5 * m)
            now *= 1 - q
        total = 0.0
        for a in range(ages - 1, -1, -1):
            total += alive[a]
            out[g, a] = total / alive[a] - 0.5
    return out


@untuned(
    lambda n, rng: (rng.random((n, 90)) * 0.1, 1 + rng.random((n, 90))),
    4,
    50,
    3000,
    numba=_life,
    parallel="g",
    seen=True,
)
def life_expectancies(deaths, people):
    rate = deaths / people
    risk = rate / (1 + 0.5 * rate)
    alive = np.ones_like(risk)
    alive[:, 1:] = np.cumprod(1 - risk[:, :-1], axis=1)
    years = np.cumsum(alive[:, ::-1], axis=1)[:, ::-1]
    return years / alive - 0.5


def _lindley(arrivals, services):
    n = arrivals.shape[0]
    waits = np.zeros(n)
    for i in range(1, n):
        w = waits[i - 1] + services[i - 1] - arrivals[i]
        waits[i] = w if w > 0 else 0.0
    return waits


@untuned(lambda n, rng: (rng.random(n), rng.random(n)), 200, 5000, 500_000, numba=_lindley, seen=True)
def waiting_times(arrivals, services):
    steps = services[:-1] - arrivals[1:]
    walk = np.concatenate((np.zeros(1), np.cumsum(steps)))
    return walk - np.minimum.accumulate(walk)


@untuned(lambda n, rng: (rng.random(n), rng.random(n)), 200, 5000, 500_000, numpy=False, seen=True)
def waiting_times_by_loop(arrivals, services):
    n = arrivals.shape[0]
    waits = np.zeros(n)
    for i in range(1, n):
        waits[i] = max(0.0, waits[i - 1] + services[i - 1] - arrivals[i])
    return waits


@untuned(
    lambda n, rng: (rng.integers(0, 50, n), rng.integers(0, 50, n), rng.random(n)),
    100,
    3000,
    200_000,
    numpy=False,
    seen=True,
)
def ratings_of_players(home, away, score):
    rating = np.full(50, 1500.0)
    for g in range(len(home)):
        h, a = home[g], away[g]
        expected = 1.0 / (1.0 + 10.0 ** ((rating[a] - rating[h]) / 400.0))
        change = 20.0 * (score[g] - expected)
        rating[h] += change
        rating[a] -= change
    return rating


def _drivers(x, v, length, dt, steps):
    x, v = x.copy(), v.copy()
    n = x.shape[0]
    acc = np.empty(n)
    for _ in range(steps):
        for i in range(n):
            j = i + 1 if i + 1 < n else 0
            gap = x[j] - x[i]
            if gap <= 0:
                gap += length
            gap = max(gap - 4.0, 0.1)
            want = 2.0 + v[i] * 1.5 + v[i] * (v[i] - v[j]) / 3.0
            acc[i] = 1.0 - (v[i] / 30.0) ** 4 - (want / gap) ** 2
        for i in range(n):
            v[i] = max(v[i] + dt * acc[i], 0.0)
            x[i] = (x[i] + dt * v[i]) % length
    return x, v


@untuned(
    lambda n, rng: (np.arange(n) * 20.0, rng.random(n) * 10, 20.0 * n, 0.1, 20),
    20,
    300,
    20_000,
    numba=_drivers,
    tolerance=1e-6,
    seen=True,
)
def traffic_on_ring(x, v, length, dt, steps):
    for _ in range(steps):
        gap = (np.roll(x, -1) - x) % length
        gap = np.maximum(gap - 4.0, 0.1)
        want = 2.0 + v * 1.5 + v * (v - np.roll(v, -1)) / 3.0
        acc = 1.0 - (v / 30.0) ** 4 - (want / gap) ** 2
        v = np.maximum(v + dt * acc, 0.0)
        x = (x + dt * v) % length
    return x, v


def _gini(x):
    s = np.sort(x)
    n = x.shape[0]
    a = t = 0.0
    for i in range(n):
        a += (i + 1) * s[i]
        t += s[i]
    return 2 * a / (n * t) - (n + 1) / n


@untuned(lambda n, rng: (rng.random(n),), 100, 5000, 300_000, numba=_gini, seen=True)
def gini_coefficient(x):
    s = np.sort(x)
    n = len(s)
    return 2 * np.sum(np.arange(1, n + 1) * s) / (n * s.sum()) - (n + 1) / n


def _days(y, m, d):
    out = np.empty(y.shape[0], dtype=np.int64)
    for i in range(y.shape[0]):
        a = (14 - m[i]) // 12
        yy = y[i] + 4800 - a
        mm = m[i] + 12 * a - 3
        out[i] = d[i] + (153 * mm + 2) // 5 + 365 * yy + yy // 4 - yy // 100 + yy // 400 - 32045
    return out


@untuned(
    lambda n, rng: (rng.integers(1900, 2100, n), rng.integers(1, 13, n), rng.integers(1, 29, n)),
    100,
    3000,
    300_000,
    numba=_days,
    parallel="i",
    seen=True,
)
def julian_days(y, m, d):
    a = (14 - m) // 12
    yy = y + 4800 - a
    mm = m + 12 * a - 3
    return d + (153 * mm + 2) // 5 + 365 * yy + yy // 4 - yy // 100 + yy // 400 - 32045


def _walk(steps, low, high):
    n, t = steps.shape
    out = np.empty(n)
    for i in range(n):
        x = 0.0
        for k in range(t):
            x += steps[i, k]
            if x > high:
                x = 2 * high - x
            elif x < low:
                x = 2 * low - x
        out[i] = x
    return out


@untuned(
    lambda n, rng: (rng.standard_normal((n, 50)) * 0.1, -1.0, 1.0),
    10,
    200,
    10_000,
    numba=_walk,
    parallel="i",
    seen=True,
)
def reflected_walks(steps, low, high):
    x = np.zeros(steps.shape[0])
    for k in range(steps.shape[1]):
        x = x + steps[:, k]
        x = np.where(x > high, 2 * high - x, np.where(x < low, 2 * low - x, x))
    return x
