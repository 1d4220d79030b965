"""Dynamic programming: tables whose elements need those before them, and forests of parents."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _two_texts(n, rng):
    return rng.integers(0, 4, n).astype(np.uint8), rng.integers(0, 4, n).astype(np.uint8)


@untuned(_two_texts, 16, 120, 1000, numpy=False)
def edit_distance(first, second):
    n, m = first.shape[0], second.shape[0]
    table = np.zeros((n + 1, m + 1), dtype=np.int64)
    table[:, 0] = np.arange(n + 1)
    table[0, :] = np.arange(m + 1)
    for i in range(n):
        for j in range(m):
            changed = table[i, j] + (0 if first[i] == second[j] else 1)
            table[i + 1, j + 1] = min(table[i, j + 1] + 1, table[i + 1, j] + 1, changed)
    return table[n, m]


@untuned(_two_texts, 16, 120, 1000, numpy=False)
def local_alignment(first, second):
    n, m = first.shape[0], second.shape[0]
    scores = np.zeros((n + 1, m + 1), dtype=np.int32)
    best = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            match = 2 if first[i - 1] == second[j - 1] else -1
            score = max(0, scores[i - 1, j - 1] + match, scores[i - 1, j] - 1, scores[i, j - 1] - 1)
            scores[i, j] = score
            best = max(best, score)
    return best


def _filled(weights, values, capacity):
    best = np.zeros(capacity + 1)
    for i in range(weights.shape[0]):
        w = weights[i]
        best[w:] = np.maximum(best[w:], best[:-w] + values[i])
    return best[capacity]


@untuned(lambda n, rng: (rng.integers(1, 50, n), rng.random(n), 10 * n), 10, 50, 500, numpy=_filled)
def filled_knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1)
    for i in range(len(weights)):
        for c in range(capacity, weights[i] - 1, -1):
            packed = best[c - weights[i]] + values[i]
            if packed > best[c]:
                best[c] = packed
    return best[capacity]


def _shortest_paths(lengths):
    found = lengths.copy()
    for k in range(found.shape[0]):
        found = np.minimum(found, found[:, k : k + 1] + found[k])
    return found


@untuned(lambda n, rng: (rng.random((n, n)),), 10, 60, 350, numpy=_shortest_paths)
def all_shortest_paths(lengths):
    paths = lengths.copy()
    n = paths.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = paths[i, k] + paths[k, j]
                if through < paths[i, j]:
                    paths[i, j] = through
    return paths


def _hidden_chain(n, rng):
    moves, emissions = rng.random((8, 8)), rng.random((8, 5))
    moves /= moves.sum(axis=1, keepdims=True)
    return moves, emissions / emissions.sum(axis=1, keepdims=True), np.full(8, 0.125), rng.integers(0, 5, n)


def _likeliest_states(moves, emissions, start, seen):
    steps = seen.shape[0]
    log_moves, log_emissions = np.log(moves), np.log(emissions)
    score = np.log(start) + log_emissions[:, seen[0]]
    back = np.zeros((steps, start.shape[0]), dtype=np.int64)
    for t in range(1, steps):
        through = score[:, None] + log_moves
        back[t] = np.argmax(through, axis=0)
        score = np.max(through, axis=0) + log_emissions[:, seen[t]]
    path = np.zeros(steps, dtype=np.int64)
    path[-1] = np.argmax(score)
    for t in range(steps - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    return path


@untuned(_hidden_chain, 20, 500, 20_000, numpy=_likeliest_states)
def likeliest_states(moves, emissions, start, seen):
    count, steps = start.shape[0], seen.shape[0]
    score = np.zeros((steps, count))
    back = np.zeros((steps, count), dtype=np.int64)
    for s in range(count):
        score[0, s] = np.log(start[s]) + np.log(emissions[s, seen[0]])
    for t in range(1, steps):
        for s in range(count):
            best, origin = -np.inf, 0
            for p in range(count):
                through = score[t - 1, p] + np.log(moves[p, s])
                if through > best:
                    best = through
                    origin = p
            score[t, s] = best + np.log(emissions[s, seen[t]])
            back[t, s] = origin
    path = np.zeros(steps, dtype=np.int64)
    path[steps - 1] = np.argmax(score[steps - 1])
    for t in range(steps - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    return path


@untuned(lambda n, rng: (rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n), n), 50, 3000, 100_000, numpy=False)
def connected_parts(sources, targets, count):
    parent = np.arange(count)
    parts = count
    for e in range(sources.shape[0]):
        a, b = sources[e], targets[e]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[a] = b
            parts -= 1
    return parts
