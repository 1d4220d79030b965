"""Neuroscience: spiking neurons, cables and trains of spikes."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _fired(currents, leak, threshold):
    found = np.zeros(currents.shape[1], dtype=np.int64)
    voltage = np.zeros(currents.shape[1])
    for t in range(currents.shape[0]):
        for i in range(currents.shape[1]):
            voltage[i] += currents[t, i] - leak * voltage[i]
            if voltage[i] > threshold:
                voltage[i] = 0.0
                found[i] += 1
    return found


@untuned(lambda n, rng: (0.1 * rng.random((60, n)), 0.05, 0.7), 8, 300, 20_000, numba=_fired)
def leaky_integrate_and_fire(currents, leak, threshold):
    voltage = np.zeros(currents.shape[1])
    spikes = np.zeros(currents.shape[1], dtype=np.int64)
    for current in currents:
        voltage += current - leak * voltage
        fired = voltage > threshold
        spikes += fired
        voltage[fired] = 0.0
    return spikes


def _gated(currents):
    found = np.empty_like(currents)
    for i in range(currents.shape[0]):
        v, m, h, n = -65.0, 0.05, 0.6, 0.32
        for _ in range(40):
            rise_m = 0.1 * (v + 40) / (1 - np.exp(-(v + 40) / 10))
            rise_h = 0.07 * np.exp(-(v + 65) / 20)
            rise_n = 0.01 * (v + 55) / (1 - np.exp(-(v + 55) / 10))
            fall_m = 4 * np.exp(-(v + 65) / 18)
            fall_h = 1 / (1 + np.exp(-(v + 35) / 10))
            fall_n = 0.125 * np.exp(-(v + 65) / 80)
            sodium = 120 * m**3 * h * (v - 50)
            potassium = 36 * n**4 * (v + 77)
            v += 0.01 * (currents[i] - sodium - potassium - 0.3 * (v + 54.4))
            m += 0.01 * (rise_m * (1 - m) - fall_m * m)
            h += 0.01 * (rise_h * (1 - h) - fall_h * h)
            n += 0.01 * (rise_n * (1 - n) - fall_n * n)
        found[i] = v
    return found


@untuned(lambda n, rng: (10 * rng.random(n),), 20, 1000, 10_000, numba=_gated, parallel="i", jax=True)
def hodgkin_huxley(currents):
    v = np.full_like(currents, -65.0)
    m, h, n = np.full_like(v, 0.05), np.full_like(v, 0.6), np.full_like(v, 0.32)
    for _ in range(40):
        rise_m = 0.1 * (v + 40) / (1 - np.exp(-(v + 40) / 10))
        rise_h = 0.07 * np.exp(-(v + 65) / 20)
        rise_n = 0.01 * (v + 55) / (1 - np.exp(-(v + 55) / 10))
        fall_m = 4 * np.exp(-(v + 65) / 18)
        fall_h = 1 / (1 + np.exp(-(v + 35) / 10))
        fall_n = 0.125 * np.exp(-(v + 65) / 80)
        sodium = 120 * m**3 * h * (v - 50)
        potassium = 36 * n**4 * (v + 77)
        v = v + 0.01 * (currents - sodium - potassium - 0.3 * (v + 54.4))
        m = m + 0.01 * (rise_m * (1 - m) - fall_m * m)
        h = h + 0.01 * (rise_h * (1 - h) - fall_h * h)
        n = n + 0.01 * (rise_n * (1 - n) - fall_n * n)
    return v


def _cable(voltage, radius, steps):
    found = voltage.copy()
    n = found.shape[0]
    for _ in range(steps):
        before = found.copy()
        for i in range(1, n - 1):
            flow = radius[i] * (before[i + 1] - before[i]) - radius[i - 1] * (before[i] - before[i - 1])
            found[i] = before[i] + 0.2 * flow - 0.01 * before[i]
        found[0] = found[1]
        found[n - 1] = found[n - 2]
    return found


@untuned(lambda n, rng: (rng.random(n), 0.5 + 0.5 * rng.random(n - 1), 15), 100, 5000, 200_000, numba=_cable)
def cable_equation(voltage, radius, steps):
    voltage = voltage.copy()
    for _ in range(steps):
        flow = radius * np.diff(voltage)
        voltage[1:-1] += 0.2 * (flow[1:] - flow[:-1]) - 0.01 * voltage[1:-1]
        voltage[0] = voltage[1]
        voltage[-1] = voltage[-2]
    return voltage


def _traces(spikes, decay):
    trace = np.zeros(spikes.shape[0])
    found = np.empty(spikes.shape)
    for t in range(spikes.shape[1]):
        trace = decay * trace + spikes[:, t]
        found[:, t] = trace
    return found


@untuned(lambda n, rng: (rng.random((n, 100)) < 0.1, 0.9), 5, 200, 10_000, numpy=_traces, parallel="i")
def synaptic_traces(spikes, decay):
    traces = np.empty(spikes.shape)
    for i in range(spikes.shape[0]):
        trace = 0.0
        for t in range(spikes.shape[1]):
            trace *= decay
            if spikes[i, t]:
                trace += 1.0
            traces[i, t] = trace
    return traces


def _lags(first, second, width, bins):
    apart = second[None, :] - first[:, None]
    return np.histogram(apart[np.abs(apart) < width], bins=bins, range=(-width, width))[0]


@untuned(lambda n, rng: (np.sort(n * rng.random(n)), np.sort(n * rng.random(n)), 5.0, 20), 40, 500, 3000, numpy=_lags)
def spike_correlogram(first, second, width, bins):
    counts = np.zeros(bins, dtype=np.int64)
    start = 0
    for i in range(first.shape[0]):
        while start < second.shape[0] and second[start] <= first[i] - width:
            start += 1
        j = start
        while j < second.shape[0] and second[j] < first[i] + width:
            counts[int((second[j] - first[i] + width) / (2 * width) * bins)] += 1
            j += 1
    return counts


def _plasticity(weights, before, after):
    found = weights.copy()
    for i in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            late = after[j] - before[i]
            if late > 0:
                found[i, j] += 0.01 * np.exp(-late / 20)
            elif late < 0:
                found[i, j] -= 0.012 * np.exp(late / 20)
            found[i, j] = min(max(found[i, j], 0.0), 1.0)
    return found


@untuned(lambda n, rng: (rng.random((n, n)), 100 * rng.random(n), 100 * rng.random(n)), 12, 120, 1000,
         numba=_plasticity, parallel="i", jax=True)  # fmt: skip
def spike_timing_plasticity(weights, before, after):
    late = after[None, :] - before[:, None]
    change = np.where(late > 0, 0.01, -0.012) * np.exp(-np.abs(late) / 20)
    return np.clip(weights + change, 0.0, 1.0)
