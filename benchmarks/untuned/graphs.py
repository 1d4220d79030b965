"""Graphs: ranks, frontiers, labels and triangles."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _page_rank(sources, targets, count):
    degrees = np.zeros(count)
    for e in range(sources.shape[0]):
        degrees[sources[e]] += 1
    rank = np.full(count, 1 / count)
    for _ in range(10):
        after = np.full(count, 0.15 / count)
        for e in range(sources.shape[0]):
            after[targets[e]] += 0.85 * rank[sources[e]] / degrees[sources[e]]
        rank = after
    return rank


@untuned(lambda n, rng: (*rng.integers(0, n, (2, 6 * n)), n), 20, 1000, 60_000, numba=_page_rank)
def page_rank(sources, targets, count):
    degrees = np.maximum(np.bincount(sources, minlength=count), 1)
    rank = np.ones(count) / count
    for _ in range(10):
        sent = rank / degrees
        received = np.bincount(targets, weights=sent[sources], minlength=count)
        rank = 0.15 / count + 0.85 * received
    return rank


def _neighbours(n, rng):
    degrees = rng.integers(1, 7, n)
    starts = np.concatenate(([0], np.cumsum(degrees)))
    return starts, rng.integers(0, n, starts[-1]), 0


@untuned(_neighbours, 60, 4000, 200_000, numpy=False)
def distances_by_frontier(starts, neighbours, source):
    count = starts.shape[0] - 1
    distance = np.full(count, -1)
    frontier = np.empty(count, dtype=np.int64)
    distance[source] = 0
    frontier[0] = source
    first, last = 0, 1
    while first < last:
        node = frontier[first]
        first += 1
        for place in range(starts[node], starts[node + 1]):
            other = neighbours[place]
            if distance[other] < 0:
                distance[other] = distance[node] + 1
                frontier[last] = other
                last += 1
    return distance


def _propagated(sources, targets, count):
    labels = np.arange(count)
    changed = True
    while changed:
        changed = False
        for e in range(sources.shape[0]):
            a, b = labels[sources[e]], labels[targets[e]]
            if a < b:
                labels[targets[e]] = a
                changed = True
            elif b < a:
                labels[sources[e]] = b
                changed = True
    return labels


@untuned(lambda n, rng: (*rng.integers(0, n, (2, n)), n), 40, 2000, 100_000, numba=_propagated)
def propagated_labels(sources, targets, count):
    labels = np.arange(count)
    while True:
        before = labels.copy()
        np.minimum.at(labels, targets, before[sources])
        np.minimum.at(labels, sources, before[targets])
        if np.array_equal(labels, before):
            return labels


def _triangles(linked):
    n = linked.shape[0]
    count = 0
    for i in range(n):
        for j in range(i):
            if linked[i, j]:
                for k in range(j):
                    if linked[i, k] and linked[j, k]:
                        count += 1
    return count


def _links(n, rng):
    upper = np.triu(rng.random((n, n)) < 0.2, 1)
    return (upper | upper.T,)


@untuned(_links, 12, 80, 500, numba=_triangles, parallel="i", jax=True)
def triangle_count(linked):
    ones = linked.astype(np.float64)
    paths = ones @ ones
    return np.sum(paths * ones) / 6
