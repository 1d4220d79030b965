"""Chemistry: networks of reactions, molecular force fields and neighbours."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _pair_energy(atoms, cut):
    total = 0.0
    for i in range(atoms.shape[0]):
        for j in range(i):
            square = 0.0
            for k in range(3):
                square += (atoms[i, k] - atoms[j, k]) ** 2
            if square < cut * cut:
                sixth = 1 / (square * square * square)
                total += 4 * (sixth * sixth - sixth)
    return total


def _lattice(n, rng):
    side = int(np.ceil(n ** (1 / 3)))
    places = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    return 1.1 * places[:n] + 0.1 * rng.random((n, 3))


@untuned(lambda n, rng: (_lattice(n, rng), 2.5), 12, 120, 1200, numba=_pair_energy, parallel="i")
def lennard_jones_energy(atoms, cut):
    apart = atoms[:, None, :] - atoms[None, :, :]
    square = np.sum(apart**2, axis=2)
    np.fill_diagonal(square, np.inf)
    sixth = square**-3.0
    energy = np.where(square < cut**2, 4 * (sixth**2 - sixth), 0.0)
    return 0.5 * energy.sum()


def _neighbour_counts(atoms, box, cut):
    apart = atoms[:, None, :] - atoms[None, :, :]
    apart -= box * np.round(apart / box)
    return np.count_nonzero((apart * apart).sum(axis=2) < cut * cut, axis=1) - 1


@untuned(lambda n, rng: (10 * rng.random((n, 3)), 10.0, 2.0), 12, 120, 1200, numpy=_neighbour_counts)
def neighbour_counts(atoms, box, cut):
    n = atoms.shape[0]
    counts = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            square = 0.0
            for k in range(3):
                apart = atoms[i, k] - atoms[j, k]
                apart -= box * np.round(apart / box)
                square += apart * apart
            if square < cut * cut:
                counts[i] += 1
                counts[j] += 1
    return counts


def _reacted(a, b, c, step, steps):
    found = np.empty((3, a.shape[0]))
    for i in range(a.shape[0]):
        x, y, z = a[i], b[i], c[i]
        for _ in range(steps):
            slow, fast, back = 0.04 * x, 30.0 * y * y, 10.0 * y * z
            x += step * (back - slow)
            y += step * (slow - back - fast)
            z += step * fast
        found[0, i], found[1, i], found[2, i] = x, y, z
    return found[0], found[1], found[2]


@untuned(lambda n, rng: (rng.random(n), 0.1 * rng.random(n), 0.1 * rng.random(n), 0.01, 25), 50, 4000, 200_000,
         numba=_reacted, parallel="i")  # fmt: skip
def reacting_cells(a, b, c, step, steps):
    for _ in range(steps):
        slow = 0.04 * a
        fast = 30.0 * b**2
        back = 10.0 * b * c
        a = a + step * (back - slow)
        b = b + step * (slow - back - fast)
        c = c + step * fast
    return a, b, c


def _bond_angles(atoms, triples):
    found = np.empty(triples.shape[0])
    for t in range(triples.shape[0]):
        dot, first, second = 0.0, 0.0, 0.0
        for k in range(3):
            u = atoms[triples[t, 0], k] - atoms[triples[t, 1], k]
            v = atoms[triples[t, 2], k] - atoms[triples[t, 1], k]
            dot += u * v
            first += u * u
            second += v * v
        found[t] = np.arccos(dot / np.sqrt(first * second))
    return found


def _bonded(n, rng):
    starts = rng.integers(0, n - 4, (2 * n, 1))
    return rng.random((n, 3)), (starts + np.arange(4)).astype(np.int32)


@untuned(_bonded, 40, 3000, 100_000, numba=_bond_angles, parallel="t", jax=True)
def bond_angles(atoms, triples):
    u = atoms[triples[:, 0]] - atoms[triples[:, 1]]
    v = atoms[triples[:, 2]] - atoms[triples[:, 1]]
    lengths = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
    return np.arccos(np.sum(u * v, axis=1) / lengths)


def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _torsions(atoms, chains):
    found = np.empty(chains.shape[0])
    for t in range(chains.shape[0]):
        a, b, c, d = chains[t, 0], chains[t, 1], chains[t, 2], chains[t, 3]
        u = (atoms[b, 0] - atoms[a, 0], atoms[b, 1] - atoms[a, 1], atoms[b, 2] - atoms[a, 2])
        v = (atoms[c, 0] - atoms[b, 0], atoms[c, 1] - atoms[b, 1], atoms[c, 2] - atoms[b, 2])
        w = (atoms[d, 0] - atoms[c, 0], atoms[d, 1] - atoms[c, 1], atoms[d, 2] - atoms[c, 2])
        m, n = _cross(u, v), _cross(v, w)
        long = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        up = long * (u[0] * n[0] + u[1] * n[1] + u[2] * n[2])
        found[t] = np.arctan2(up, m[0] * n[0] + m[1] * n[1] + m[2] * n[2])
    return found


@untuned(_bonded, 40, 3000, 100_000, numba=_torsions, parallel="t", jax=True)
def torsion_angles(atoms, chains):
    u = atoms[chains[:, 1]] - atoms[chains[:, 0]]
    v = atoms[chains[:, 2]] - atoms[chains[:, 1]]
    w = atoms[chains[:, 3]] - atoms[chains[:, 2]]
    m, n = np.cross(u, v), np.cross(v, w)
    up = np.sqrt(np.sum(v * v, axis=1)) * np.sum(u * n, axis=1)
    return np.arctan2(up, np.sum(m * n, axis=1))


def _rates(temperatures, factors, powers, barriers):
    found = np.empty((temperatures.shape[0], factors.shape[0]), dtype=np.float32)
    for i in range(temperatures.shape[0]):
        logarithm, inverse = np.log(temperatures[i]), np.float32(1) / temperatures[i]
        for r in range(factors.shape[0]):
            found[i, r] = factors[r] * np.exp(powers[r] * logarithm - barriers[r] * inverse)
    return found


def _rate_laws(n, rng):
    laws = rng.random(30), 2 * rng.random(30), 3000 * rng.random(30)
    return tuple(each.astype(np.float32) for each in (300 + 1500 * rng.random(n), *laws))


@untuned(_rate_laws, 8, 400, 20_000, numba=_rates, parallel="i", jax=True, tolerance=2e-3)
def arrhenius_rates(temperatures, factors, powers, barriers):
    t = temperatures[:, None]
    return factors * t**powers * np.exp(-barriers / t)
