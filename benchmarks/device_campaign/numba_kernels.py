"""The problems of `problems` in numba-cuda, as one writes them: a thread for each element. Imports numba."""

from __future__ import annotations

import math

from numba import cuda

from benchmarks.device_campaign.problems import NEIGHBOURS


@cuda.jit
def copy(a, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i]


@cuda.jit
def scale(c, b, s):
    i = cuda.grid(1)
    if i < b.size:
        b[i] = s * c[i]


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def triad(b, c, a, s):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = b[i] + s * c[i]


@cuda.jit
def axpy(x, y, s):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = y[i] + s * x[i]


@cuda.jit
def sine(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = math.sin(x[i])


@cuda.jit
def kuramoto(phase, omega, rate, coupling):
    i = cuda.grid(1)
    if i < rate.size:
        mine = phase[i]
        total = 0.0
        for j in range(phase.size):
            total += math.sin(phase[j] - mine)
        rate[i] = omega[i] + coupling / rate.size * total


@cuda.jit
def gather(x, where, y):
    i = cuda.grid(1)
    if i < y.size:
        total = 0.0
        for k in range(NEIGHBOURS):
            total += x[where[i, k]]
        y[i] = total


@cuda.jit
def gups(table, where, values):
    i = cuda.grid(1)
    if i < where.size:
        cuda.atomic.xor(table, where[i], values[i])
