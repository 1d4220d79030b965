"""Signals: filters, windows and running statistics of one-dimensional data."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _window_means(x, width):
    means = np.empty(x.shape[0] - width)
    total = 0.0
    for i in range(width):
        total += x[i]
    for i in range(x.shape[0] - width):
        total += x[i + width] - x[i]
        means[i] = total / width
    return means


@untuned(lambda n, rng: (rng.random(n), 9), 200, 20_000, 2_000_000, numba=_window_means)
def window_means(x, width):
    sums = np.cumsum(x)
    return (sums[width:] - sums[:-width]) / width


def _correlated(x, taps):
    return np.convolve(x, taps, mode="valid")


@untuned(lambda n, rng: (rng.random(n), rng.random(7)), 200, 20_000, 1_000_000, numpy=_correlated, parallel="i")
def finite_response(x, taps):
    count = taps.shape[0]
    y = np.zeros(x.shape[0] - count + 1)
    for i in range(y.shape[0]):
        total = 0.0
        for j in range(count):
            total += x[i + j] * taps[count - 1 - j]
        y[i] = total
    return y


@untuned(lambda n, rng: (rng.random(n), 0.1), 200, 20_000, 1_000_000, numpy=False)
def exponential_average(x, alpha):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = alpha * x[i] + (1 - alpha) * y[i - 1]
    return y


def _medians_of_five(x):
    return np.median(np.lib.stride_tricks.sliding_window_view(x, 5), axis=-1)


@untuned(lambda n, rng: (rng.random(n),), 100, 5000, 200_000, numpy=_medians_of_five, parallel="i")
def medians_of_five(x):
    medians = np.empty(x.shape[0] - 4)
    for i in range(medians.shape[0]):
        window = x[i : i + 5].copy()
        for j in range(1, 5):
            value = window[j]
            k = j - 1
            while k >= 0 and window[k] > value:
                window[k + 1] = window[k]
                k -= 1
            window[k + 1] = value
        medians[i] = window[2]
    return medians


def _sign_changes(x):
    count = 0
    for i in range(x.shape[0] - 1):
        if (x[i] < 0) != (x[i + 1] < 0):
            count += 1
    return count


@untuned(lambda n, rng: (rng.standard_normal(n),), 200, 20_000, 2_000_000, numba=_sign_changes, parallel="i", jax=True)
def sign_changes(x):
    negative = x < 0
    return np.sum(negative[1:] != negative[:-1])


@untuned(lambda n, rng: (rng.random(n), 1.3), 200, 20_000, 1_000_000, numpy=False)
def tone_power(x, coefficient):
    before, last = 0.0, 0.0
    for value in x:
        now = value + coefficient * last - before
        before = last
        last = now
    return last * last + before * before - coefficient * last * before
