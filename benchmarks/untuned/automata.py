"""Cellular automata and games: elementary rules, excitable media, ants and magnets."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _rule(cells, table, steps):
    n = cells.shape[0]
    history = np.empty((steps, n), dtype=np.uint8)
    history[0] = cells
    for t in range(1, steps):
        for i in range(n):
            right = i + 1 if i + 1 < n else 0
            history[t, i] = table[4 * history[t - 1, i - 1] + 2 * history[t - 1, i] + history[t - 1, right]]
    return history


_RULE_110 = np.array([0, 1, 1, 1, 0, 1, 1, 0], dtype=np.uint8)


@untuned(lambda n, rng: (rng.integers(0, 2, n).astype(np.uint8), _RULE_110, 20), 64, 3000, 100_000, numba=_rule)
def elementary_rule(cells, table, steps):
    history = np.empty((steps, cells.shape[0]), dtype=np.uint8)
    history[0] = cells
    for t in range(1, steps):
        before = history[t - 1]
        near = 4 * np.roll(before, 1) + 2 * before + np.roll(before, -1)
        history[t] = table[near]
    return history


def _brain(cells, steps):
    rows, columns = cells.shape
    found = cells.copy()
    for _ in range(steps):
        before = found.copy()
        for i in range(rows):
            for j in range(columns):
                firing = 0
                for a in range(-1, 2):
                    for b in range(-1, 2):
                        if before[(i + a) % rows, (j + b) % columns] == 1:
                            firing += 1
                if before[i, j] == 0:
                    found[i, j] = 1 if firing == 2 else 0
                else:
                    found[i, j] = 2 if before[i, j] == 1 else 0
    return found


@untuned(lambda n, rng: (rng.integers(0, 3, (n, n)).astype(np.int8), 3), 12, 150, 900, numba=_brain, parallel="i")
def brains_brain(cells, steps):
    for _ in range(steps):
        firing = (cells == 1).astype(np.int8)
        rows = np.roll(firing, 1, axis=0) + firing + np.roll(firing, -1, axis=0)
        near = np.roll(rows, 1, axis=1) + rows + np.roll(rows, -1, axis=1)
        resting = np.where(near == 2, 1, 0)
        cells = np.where(cells == 0, resting, np.where(cells == 1, 2, 0)).astype(np.int8)
    return cells


@untuned(lambda n, rng: (n, 100 * n), 10, 100, 5000, numpy=False)
def langtons_ant(size, steps):
    dark = np.zeros((size, size), dtype=np.bool_)
    row, column = size // 2, size // 2
    down, right = -1, 0
    for _ in range(steps):
        if dark[row, column]:
            down, right = -right, down
        else:
            down, right = right, -down
        dark[row, column] = not dark[row, column]
        row = (row + down) % size
        column = (column + right) % size
    return dark


def _magnets(spins, draws, coupling):
    rows, columns = spins.shape
    found = spins.copy()
    for colour in range(2):
        for i in range(rows):
            for j in range(columns):
                if (i + j) % 2 == colour:
                    near = found[i - 1, j] + found[(i + 1) % rows, j] + found[i, j - 1] + found[i, (j + 1) % columns]
                    if draws[i, j] < np.exp(-2 * coupling * found[i, j] * near):
                        found[i, j] = -found[i, j]
    return found


@untuned(lambda n, rng: (2 * rng.integers(0, 2, (n, n)) - 1, rng.random((n, n)), 0.44), 12, 120, 900, numba=_magnets)
def ising_sweep(spins, draws, coupling):
    rows, columns = spins.shape
    colours = (np.arange(rows)[:, None] + np.arange(columns)) % 2
    for colour in range(2):
        near = np.roll(spins, 1, 0) + np.roll(spins, -1, 0) + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
        flips = (draws < np.exp(-2 * coupling * spins * near)) & (colours == colour)
        spins = np.where(flips, -spins, spins)
    return spins
