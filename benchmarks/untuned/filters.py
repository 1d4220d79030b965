"""Filters and audio: recursive filters, wavelets, spectra of lags, resampling and encodings."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


@untuned(lambda n, rng: (rng.random(n) - 0.5, np.array([0.2, 0.4, 0.2]), np.array([-0.6, 0.3])), 200, 20_000, 1_000_000,
         numpy=False)  # fmt: skip
def second_order_filter(x, forward, backward):
    y = np.empty_like(x)
    first, second = 0.0, 0.0
    for i in range(x.shape[0]):
        value = forward[0] * x[i] + first
        first = forward[1] * x[i] - backward[0] * value + second
        second = forward[2] * x[i] - backward[1] * value
        y[i] = value
    return y


def _wavelets(x):
    found = x.copy()
    length = x.shape[0]
    low = np.empty(length)
    while length > 1:
        half = length // 2
        for i in range(half):
            low[i] = (found[2 * i] + found[2 * i + 1]) * 0.7071067811865476
            low[half + i] = (found[2 * i] - found[2 * i + 1]) * 0.7071067811865476
        for i in range(length):
            found[i] = low[i]
        length = half
    return found


@untuned(lambda n, rng: (rng.random(n),), 256, 16_384, 1_048_576, numba=_wavelets)
def haar_wavelets(x):
    found = x.copy()
    length = x.shape[0]
    while length > 1:
        even, odd = found[0:length:2].copy(), found[1:length:2].copy()
        half = length // 2
        found[:half] = (even + odd) * np.sqrt(0.5)
        found[half:length] = (even - odd) * np.sqrt(0.5)
        length = half
    return found


def _autocorrelated(x, lags):
    mean = x.mean()
    found = np.zeros(lags)
    for lag in range(lags):
        for i in range(x.shape[0] - lag):
            found[lag] += (x[i] - mean) * (x[i + lag] - mean)
    return found / found[0]


@untuned(lambda n, rng: (rng.random(n), 20), 100, 5000, 200_000, numba=_autocorrelated, parallel="lag")
def autocorrelation(x, lags):
    centred = x - x.mean()
    n = centred.shape[0]
    found = np.empty(lags)
    for lag in range(lags):
        found[lag] = np.dot(centred[: n - lag], centred[lag:])
    return found / found[0]


def _resampled(x, ratio, count):
    found = np.empty(count)
    for i in range(count):
        place = i * ratio
        left = int(place)
        right = place - left
        found[i] = (1 - right) * x[left] + right * x[left + 1]
    return found


@untuned(lambda n, rng: (rng.random(n + 2), 0.91875, n), 200, 20_000, 1_000_000, numba=_resampled, parallel="i",
         seen=True)  # fmt: skip
def resampled_sound(x, ratio, count):
    place = ratio * np.arange(count)
    left = place.astype(np.int64)
    right = place - left
    return (1 - right) * x[left] + right * x[left + 1]


def _companded(samples):
    found = np.empty(samples.shape[0], dtype=np.uint8)
    for i in range(samples.shape[0]):
        x = samples[i] / 32768.0
        level = np.log1p(255 * abs(x)) / np.log(256.0)
        found[i] = int(127.5 + 127.5 * (level if x >= 0 else -level))
    return found


@untuned(lambda n, rng: (rng.integers(-32768, 32768, n).astype(np.int16),), 200, 10_000, 400_000, numba=_companded,
         parallel="i")  # fmt: skip
def mu_law_bytes(samples):
    x = samples / 32768.0
    level = np.sign(x) * np.log1p(255 * np.abs(x)) / np.log(256.0)
    return (127.5 + 127.5 * level).astype(np.uint8)


def _loudness(sound, frame):
    found = np.empty(sound.shape[0] // frame)
    for i in range(found.shape[0]):
        total = 0.0
        for j in range(frame):
            window = 0.5 - 0.5 * np.cos(2 * np.pi * j / frame)
            total += (window * sound[i * frame + j]) ** 2
        found[i] = np.sqrt(total / frame)
    return found


@untuned(lambda n, rng: (rng.random(64 * n), 64), 4, 300, 15_000, numba=_loudness, parallel="i")
def loudness_of_frames(sound, frame):
    frames = sound[: sound.shape[0] // frame * frame].reshape(-1, frame)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(frame) / frame)
    return np.sqrt(np.mean((frames * window) ** 2, axis=1))


def _mixed_down(signal, frequency, factor):
    found = np.zeros(signal.shape[0] // factor, dtype=np.complex128)
    for i in range(found.shape[0]):
        for j in range(factor):
            phase = -2 * np.pi * frequency * (i * factor + j)
            found[i] += signal[i * factor + j] * complex(np.cos(phase), np.sin(phase))
        found[i] /= factor
    return found


@untuned(lambda n, rng: (rng.random(8 * n) + 1j * rng.random(8 * n), 0.123, 8), 20, 1500, 60_000, numba=_mixed_down,
         parallel="i")  # fmt: skip
def mixed_down_signal(signal, frequency, factor):
    phases = np.arange(signal.shape[0]) * (-2j * np.pi * frequency)
    mixed = signal * np.exp(phases)
    return mixed.reshape(-1, factor).mean(axis=1)


def _echoed(sound, delay, share):
    found = sound.copy()
    for start in range(delay, sound.shape[0], delay):
        end = min(start + delay, sound.shape[0])
        found[start:end] += share * found[start - delay : end - delay]
    return found


@untuned(lambda n, rng: (rng.random(n).astype(np.float32), 160, np.float32(0.4)), 500, 20_000, 1_000_000, numpy=_echoed,
         tolerance=2e-3)  # fmt: skip
def sound_with_echo(sound, delay, share):
    found = sound.copy()
    for i in range(delay, sound.shape[0]):
        found[i] += share * found[i - delay]
    return found
