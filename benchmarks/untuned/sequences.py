"""Sequences: words of letters, codes, orders of numbers."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _kmers(letters, k):
    counts = np.zeros(4**k, dtype=np.int64)
    code, mask = 0, 4**k - 1
    for i in range(letters.shape[0]):
        code = (code * 4 + letters[i]) & mask
        if i >= k - 1:
            counts[code] += 1
    return counts


@untuned(lambda n, rng: (rng.integers(0, 4, n), 4), 200, 5000, 500_000, numba=_kmers, seen=True)
def counts_of_words(letters, k):
    codes = np.zeros(len(letters) - k + 1, dtype=np.int64)
    for i in range(k):
        codes = codes * 4 + letters[i : len(letters) - k + 1 + i]
    return np.bincount(codes, minlength=4**k)


@untuned(lambda n, rng: (rng.integers(0, 4, n),), 200, 5000, 500_000, numpy=False, seen=True)
def rolling_codes(letters):
    counts = np.zeros(256, dtype=np.int64)
    code = 0
    for i in range(letters.shape[0]):
        code = (code * 4 + letters[i]) % 256
        if i >= 3:
            counts[code] += 1
    return counts


@untuned(lambda n, rng: (rng.random(n),), 100, 2000, 100_000, numpy=False, seen=True)
def longest_increasing(values):
    tails = np.empty(len(values))
    length = 0
    for v in values:
        lo, hi = 0, length
        while lo < hi:
            mid = (lo + hi) // 2
            if tails[mid] < v:
                lo = mid + 1
            else:
                hi = mid
        tails[lo] = v
        if lo == length:
            length += 1
    return length


def _gray(x):
    out = np.empty(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        g = x[i] ^ (x[i] >> 1)
        p = g
        p ^= p >> 16
        p ^= p >> 8
        p ^= p >> 4
        p ^= p >> 2
        p ^= p >> 1
        out[i] = g * 2 + (p & 1)
    return out


@untuned(lambda n, rng: (rng.integers(0, 2**32, n),), 100, 5000, 500_000, numba=_gray, parallel="i", seen=True)
def gray_codes(x):
    g = x ^ (x >> 1)
    p = g ^ (g >> 16)
    p = p ^ (p >> 8)
    p = p ^ (p >> 4)
    p = p ^ (p >> 2)
    p = p ^ (p >> 1)
    return g * 2 + (p & 1)


@untuned(lambda n, rng: (np.sort(rng.random(n)), np.sort(rng.random(n))), 100, 3000, 200_000, numpy=False, seen=True)
def largest_gap_of_samples(a, b):
    i = j = 0
    worst = 0.0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            i += 1
        else:
            j += 1
        gap = abs(i / len(a) - j / len(b))
        if gap > worst:
            worst = gap
    return worst
