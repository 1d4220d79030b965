"""Waves: echoes, onsets, filters and spectra."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _reverb(sources, gains, delays, n):
    out = np.zeros(n)
    for s in range(delays.shape[0]):
        d = delays[s]
        g = gains[s]
        for i in range(n - d):
            out[i + d] += g * sources[i]
    return out


@untuned(
    lambda n, rng: (rng.random(n), rng.random(12), rng.integers(0, n // 4, 12), n),
    200,
    5000,
    500_000,
    numba=_reverb,
    seen=True,
)
def echoes_of_room(source, gains, delays, n):
    out = np.zeros(n)
    for g, d in zip(gains, delays, strict=True):
        out[d:] += g * source[: n - d]
    return out


def _stalta(x, short, long):
    n = x.shape[0]
    out = np.zeros(n)
    a = b = 0.0
    for i in range(n):
        e = x[i] * x[i]
        a += e
        b += e
        if i >= short:
            a -= x[i - short] * x[i - short]
        if i >= long:
            b -= x[i - long] * x[i - long]
        if i >= long:
            out[i] = (a / short) / (b / long + 1e-12)
    return out


@untuned(lambda n, rng: (rng.standard_normal(n), 20, 100), 300, 5000, 500_000, numba=_stalta, tolerance=1e-5, seen=True)
def onsets_of_waves(x, short, long):
    energy = np.cumsum(x * x)
    sta = energy.copy()
    lta = energy.copy()
    sta[short:] = sta[short:] - energy[:-short]
    lta[long:] = lta[long:] - energy[:-long]
    out = np.zeros_like(x)
    out[long:] = (sta[long:] / short) / (lta[long:] / long + 1e-12)
    return out


def _ncc(x, t):
    m = t.shape[0]
    out = np.empty(x.shape[0] - m + 1)
    tm = t.mean()
    tt = 0.0
    for k in range(m):
        tt += (t[k] - tm) ** 2
    for i in range(out.shape[0]):
        s = 0.0
        for k in range(m):
            s += x[i + k]
        s /= m
        num = den = 0.0
        for k in range(m):
            d = x[i + k] - s
            num += d * (t[k] - tm)
            den += d * d
        out[i] = num / np.sqrt(den * tt)
    return out


@untuned(lambda n, rng: (rng.random(n), rng.random(25)), 100, 2000, 100_000, numba=_ncc, parallel="i", seen=True)
def normalized_correlation(x, t):
    w = np.lib.stride_tricks.sliding_window_view(x, len(t))
    d = w - w.mean(axis=1, keepdims=True)
    z = t - t.mean()
    return d @ z / np.sqrt((d * d).sum(axis=1) * (z * z).sum())


def _wave(u, old, c, damp, steps):
    u, old = u.copy(), old.copy()
    n = u.shape[0]
    for _ in range(steps):
        new = np.zeros_like(u)
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                lap = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]
                new[i, j] = (2 * u[i, j] - old[i, j] + c[i, j] * lap) * damp[i, j]
        old = u
        u = new
    return u


@untuned(
    lambda n, rng: (rng.random((n, n)), rng.random((n, n)), rng.random((n, n)) * 0.2, np.ones((n, n)), 10),
    16,
    100,
    1000,
    numba=_wave,
    seen=True,
)
def waves_with_sponge(u, old, c, damp, steps):
    for _ in range(steps):
        new = np.zeros_like(u)
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        new[1:-1, 1:-1] = (2 * u[1:-1, 1:-1] - old[1:-1, 1:-1] + c[1:-1, 1:-1] * lap) * damp[1:-1, 1:-1]
        old, u = u, new
    return u


def _quantize(x, noise, gain):
    out = np.empty(x.shape[0], dtype=np.int16)
    for i in range(x.shape[0]):
        v = np.round(x[i] * gain + noise[i])
        out[i] = np.int16(min(max(v, -32768.0), 32767.0))
    return out


@untuned(
    lambda n, rng: (rng.standard_normal(n), rng.random(n) - 0.5, 12000.0),
    200,
    5000,
    500_000,
    numba=_quantize,
    parallel="i",
    seen=True,
)
def quantized_signal(x, noise, gain):
    return np.clip(np.round(x * gain + noise), -32768, 32767).astype(np.int16)


def _above(x, w, k):
    n = x.shape[0]
    out = np.zeros(n, dtype=np.bool_)
    for i in range(w, n - w):
        m = 0.0
        for j in range(-w, w + 1):
            m += x[i + j]
        m /= 2 * w + 1
        s = 0.0
        for j in range(-w, w + 1):
            s += (x[i + j] - m) ** 2
        out[i] = abs(x[i] - m) > k * np.sqrt(s / (2 * w + 1))
    return out


@untuned(lambda n, rng: (rng.standard_normal(n), 5, 2.0), 100, 3000, 200_000, numba=_above, parallel="i", seen=True)
def spikes_in_windows(x, w, k):
    windows = np.lib.stride_tricks.sliding_window_view(x, 2 * w + 1)
    out = np.zeros(len(x), dtype=bool)
    out[w : len(x) - w] = np.abs(x[w : len(x) - w] - windows.mean(axis=1)) > k * windows.std(axis=1)
    return out


def _chroma(spectrum, pitch):
    frames, bins = spectrum.shape
    out = np.zeros((frames, 12))
    for f in range(frames):
        for b in range(bins):
            out[f, pitch[b]] += spectrum[f, b] ** 2
        top = 0.0
        for k in range(12):
            top = max(top, out[f, k])
        for k in range(12):
            out[f, k] /= top + 1e-9
    return out


@untuned(
    lambda n, rng: (rng.random((n, 200)), rng.integers(0, 12, 200)), 4, 50, 2000, numba=_chroma, parallel="f", seen=True
)
def chroma_of_frames(spectrum, pitch):
    power = spectrum**2
    out = np.zeros((spectrum.shape[0], 12))
    for k in range(12):
        out[:, k] = power[:, pitch == k].sum(axis=1)
    return out / (out.max(axis=1, keepdims=True) + 1e-9)
