"""Time series: rolling scores, averages of prices, drawdowns, seasons and warped distances."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _scores(x, width):
    found = np.empty(x.shape[0] - width + 1)
    for i in range(found.shape[0]):
        mean, squares = 0.0, 0.0
        for j in range(width):
            mean += x[i + j]
        mean /= width
        for j in range(width):
            squares += (x[i + j] - mean) ** 2
        found[i] = (x[i + width - 1] - mean) / np.sqrt(squares / width)
    return found


@untuned(lambda n, rng: (rng.random(n), 10), 100, 5000, 200_000, numba=_scores, parallel="i")
def rolling_scores(x, width):
    windows = np.lib.stride_tricks.sliding_window_view(x, width)
    return (x[width - 1 :] - windows.mean(axis=1)) / windows.std(axis=1)


def _drawdown(prices):
    top, worst = prices[0], 0.0
    for i in range(prices.shape[0]):
        top = max(top, prices[i])
        worst = max(worst, 1 - prices[i] / top)
    return worst


@untuned(lambda n, rng: (np.exp(0.01 * np.cumsum(rng.standard_normal(n))),), 200, 20_000, 1_000_000, numba=_drawdown)
def largest_drawdown(prices):
    tops = np.maximum.accumulate(prices)
    return np.max(1 - prices / tops)


@untuned(lambda n, rng: (rng.random(n), rng.random(n), 10), 16, 120, 1000, numpy=False)
def warped_distance(first, second, width):
    n, m = first.shape[0], second.shape[0]
    costs = np.full((n + 1, m + 1), np.inf)
    costs[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - width), min(m, i + width) + 1):
            apart = abs(first[i - 1] - second[j - 1])
            costs[i, j] = apart + min(costs[i - 1, j], costs[i, j - 1], costs[i - 1, j - 1])
    return costs[n, m]


def _bars(prices, length):
    count = prices.shape[0] // length
    found = np.empty((count, 4))
    for i in range(count):
        high, low = prices[i * length], prices[i * length]
        for j in range(1, length):
            high = max(high, prices[i * length + j])
            low = min(low, prices[i * length + j])
        found[i, 0], found[i, 1], found[i, 2] = prices[i * length], high, low
        found[i, 3] = prices[(i + 1) * length - 1]
    return found


@untuned(lambda n, rng: (rng.random(15 * n), 15), 15, 1000, 80_000, numba=_bars, parallel="i")
def price_bars(prices, length):
    count = prices.shape[0] // length
    pieces = prices[: count * length].reshape(count, length)
    bars = np.empty((count, 4))
    bars[:, 0], bars[:, 3] = pieces[:, 0], pieces[:, -1]
    bars[:, 1] = pieces.max(axis=1)
    bars[:, 2] = pieces.min(axis=1)
    return bars


@untuned(lambda n, rng: (5 + rng.random(n), 0.3, 0.1, 0.2, 12), 60, 10_000, 400_000, numpy=False)
def smoothed_seasons(x, alpha, beta, gamma, period):
    seasons = np.zeros(period)
    errors = np.empty(x.shape[0])
    level, trend = x[0], 0.0
    for i in range(x.shape[0]):
        k = i % period
        forecast = level + trend + seasons[k]
        errors[i] = x[i] - forecast
        before = level
        level = alpha * (x[i] - seasons[k]) + (1 - alpha) * (level + trend)
        trend = beta * (level - before) + (1 - beta) * trend
        seasons[k] = gamma * (x[i] - level) + (1 - gamma) * seasons[k]
    return errors


def _detrended(x):
    n = x.shape[0]
    middle, mean, up, square = (n - 1) / 2, 0.0, 0.0, 0.0
    for i in range(n):
        mean += x[i]
    mean /= n
    for i in range(n):
        up += (i - middle) * (x[i] - mean)
        square += (i - middle) ** 2
    found = np.empty_like(x)
    for i in range(n):
        found[i] = x[i] - mean - up / square * (i - middle)
    return found


@untuned(lambda n, rng: (rng.random(n),), 200, 20_000, 1_000_000, numba=_detrended, jax=True)
def detrended_series(x):
    t = np.arange(x.shape[0]) - (x.shape[0] - 1) / 2
    slope = np.sum(t * x) / np.sum(t * t)
    return x - x.mean() - slope * t
