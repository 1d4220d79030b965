"""Physics: particles, rays, circuits, reactions."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _push(x, v, field, dt, length):
    n = field.shape[0]
    dx = length / n
    xs, vs = np.empty_like(x), np.empty_like(v)
    for p in range(x.shape[0]):
        s = x[p] / dx
        c = int(s)
        f = s - c
        r = c + 1
        if r >= n:
            r -= n
        e = field[c] * (1 - f) + field[r] * f
        vs[p] = v[p] + dt * e
        xs[p] = (x[p] + dt * vs[p]) % length
    return xs, vs


@untuned(
    lambda n, rng: (rng.random(n), rng.standard_normal(n), rng.random(64), 0.01, 1.0),
    100,
    4000,
    400_000,
    numba=_push,
    parallel="p",
    seen=True,
)
def pushed_particles(x, v, field, dt, length):
    n = field.shape[0]
    dx = length / n
    s = x / dx
    cell = s.astype(np.int64)
    f = s - cell
    e = field[cell] * (1 - f) + field[(cell + 1) % n] * f
    vn = v + dt * e
    return (x + dt * vn) % length, vn


def _abcd(y, a, focal, gaps):
    ys, as_ = y.copy(), a.copy()
    for r in range(y.shape[0]):
        h, t = y[r], a[r]
        for k in range(focal.shape[0]):
            h = h + gaps[k] * t
            t = t - h / focal[k]
        ys[r], as_[r] = h, t
    return ys, as_


@untuned(
    lambda n, rng: (rng.random(n), rng.random(n), 1 + rng.random(10), rng.random(10)),
    50,
    2000,
    100_000,
    numba=_abcd,
    parallel="r",
    seen=True,
)
def rays_through_lenses(y, a, focal, gaps):
    for k in range(len(focal)):
        y = y + gaps[k] * a
        a = a - y / focal[k]
    return y, a


def _factors(hkl, atoms, weights):
    out = np.zeros(hkl.shape[0], dtype=np.complex128)
    for i in range(hkl.shape[0]):
        re = im = 0.0
        for a in range(atoms.shape[0]):
            phase = 2 * np.pi * (hkl[i, 0] * atoms[a, 0] + hkl[i, 1] * atoms[a, 1] + hkl[i, 2] * atoms[a, 2])
            re += weights[a] * np.cos(phase)
            im += weights[a] * np.sin(phase)
        out[i] = complex(re, im)
    return out


@untuned(
    lambda n, rng: (rng.integers(-5, 5, (n, 3)), rng.random((40, 3)), rng.random(40)),
    10,
    300,
    10_000,
    numba=_factors,
    parallel="i",
    seen=True,
)
def structure_factors(hkl, atoms, weights):
    return (weights * np.exp(2j * np.pi * (hkl @ atoms.T))).sum(axis=1)


def _diode(v, r, i0, vt):
    out = np.empty_like(v)
    for k in range(v.shape[0]):
        x = 0.5
        for _ in range(30):
            e = np.exp(x / vt)
            f = i0 * (e - 1) - (v[k] - x) / r
            d = i0 * e / vt + 1 / r
            s = f / d
            x -= s
            if abs(s) < 1e-12:
                break
        out[k] = x
    return out


@untuned(
    lambda n, rng: (rng.random(n) + 0.2, 100.0, 1e-9, 0.0258),
    50,
    1000,
    50_000,
    numpy=False,
    numba=_diode,
    parallel="k",
    seen=True,
)
def diode_voltages(v, r, i0, vt):
    out = np.empty_like(v)
    for k in range(len(v)):
        x = 0.5
        for _ in range(30):
            e = np.exp(x / vt)
            f = i0 * (e - 1) - (v[k] - x) / r
            d = i0 * e / vt + 1 / r
            s = f / d
            x -= s
            if abs(s) < 1e-12:
                break
        out[k] = x
    return out


def _robertson(y, dt, steps):
    out = np.empty_like(y)
    for i in range(y.shape[0]):
        a, b, c = y[i, 0], y[i, 1], y[i, 2]
        for _ in range(steps):
            ra = -0.04 * a + 1.0 * b * c
            rc = 3.0 * b * b
            a += dt * ra
            b += dt * (-ra - rc)
            c += dt * rc
        out[i, 0], out[i, 1], out[i, 2] = a, b, c
    return out


@untuned(lambda n, rng: (rng.random((n, 3)), 0.01, 50), 10, 200, 10_000, numba=_robertson, parallel="i", seen=True)
def reaction_paths(y, dt, steps):
    y = y.copy()
    for _ in range(steps):
        ra = -0.04 * y[:, 0] + 1.0 * y[:, 1] * y[:, 2]
        rc = 3.0 * y[:, 1] ** 2
        y[:, 0] += dt * ra
        y[:, 1] += dt * (-ra - rc)
        y[:, 2] += dt * rc
    return y


def _mismatch(v, angle, g, b):
    n = v.shape[0]
    p, q = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(n):
            d = angle[i] - angle[j]
            c, s = np.cos(d), np.sin(d)
            p[i] += v[i] * v[j] * (g[i, j] * c + b[i, j] * s)
            q[i] += v[i] * v[j] * (g[i, j] * s - b[i, j] * c)
    return p, q


@untuned(
    lambda n, rng: (rng.random(n), rng.random(n), rng.random((n, n)), rng.random((n, n))),
    14,
    120,
    1000,
    numba=_mismatch,
    parallel="i",
    jax=True,
    seen=True,
)
def power_flows(v, angle, g, b):
    d = angle[:, None] - angle[None, :]
    vv = v[:, None] * v[None, :]
    p = (vv * (g * np.cos(d) + b * np.sin(d))).sum(axis=1)
    q = (vv * (g * np.sin(d) - b * np.cos(d))).sum(axis=1)
    return p, q


def _expm(a):
    out = np.empty_like(a)
    for i in range(a.shape[0]):
        term = np.eye(3)
        total = np.eye(3)
        for k in range(1, 10):
            new = np.zeros((3, 3))
            for r in range(3):
                for c in range(3):
                    for t in range(3):
                        new[r, c] += term[r, t] * a[i, t, c]
            term = new / k
            total = total + term
        out[i] = total
    return out


@untuned(lambda n, rng: (rng.random((n, 3, 3)),), 5, 100, 5000, numba=_expm, parallel="i", seen=True)
def exponentials_of_matrices(a):
    term = np.broadcast_to(np.eye(3), a.shape)
    total = term.copy()
    for k in range(1, 10):
        term = term @ a / k
        total = total + term
    return total


def _back(sinogram, angles, n):
    out = np.zeros((n, n))
    h = n / 2
    bins = sinogram.shape[1]
    for a in range(angles.shape[0]):
        c, s = np.cos(angles[a]), np.sin(angles[a])
        for i in range(n):
            for j in range(n):
                t = (i - h) * c + (j - h) * s + bins / 2
                k = int(t)
                if t >= 0 and k < bins:
                    out[i, j] += sinogram[a, k]
    return out


@untuned(lambda n, rng: (rng.random((20, n)), rng.random(20) * 3, n), 16, 64, 256, numba=_back, seen=True)
def back_projection(sinogram, angles, n):
    out = np.zeros((n, n))
    grid = np.arange(n) - n / 2
    bins = sinogram.shape[1]
    for a in range(len(angles)):
        t = grid[:, None] * np.cos(angles[a]) + grid[None, :] * np.sin(angles[a]) + bins / 2
        k = t.astype(np.int64)
        inside = (t >= 0) & (k < bins)
        out += np.where(inside, sinogram[a, np.clip(k, 0, bins - 1)], 0.0)
    return out
