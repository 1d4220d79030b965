"""Text and bytes: runs, encodings, checksums and common parts."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _runs(data):
    values, lengths = np.empty_like(data), np.empty(data.shape[0], dtype=np.int64)
    count, start = 0, 0
    for i in range(1, data.shape[0] + 1):
        if i == data.shape[0] or data[i] != data[start]:
            values[count] = data[start]
            lengths[count] = i - start
            count += 1
            start = i
    return values[:count], lengths[:count]


@untuned(lambda n, rng: (rng.integers(0, 3, n).astype(np.uint8),), 200, 20_000, 1_000_000, numba=_runs)
def run_lengths(data):
    edges = np.flatnonzero(data[1:] != data[:-1]) + 1
    starts = np.concatenate((np.array([0]), edges))
    ends = np.append(edges, data.shape[0])
    return data[starts], ends - starts


_LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", dtype=np.uint8)


def _encoded(data, letters):
    found = np.empty(data.shape[0] // 3 * 4, dtype=np.uint8)
    for i in range(data.shape[0] // 3):
        bits = (int(data[3 * i]) << 16) | (int(data[3 * i + 1]) << 8) | int(data[3 * i + 2])
        for k in range(4):
            found[4 * i + k] = letters[(bits >> (18 - 6 * k)) & 63]
    return found


@untuned(lambda n, rng: (rng.integers(0, 256, 3 * n).astype(np.uint8), _LETTERS.copy()), 60, 6000, 400_000,
         numba=_encoded, parallel="i", jax=True)  # fmt: skip
def base64_letters(data, letters):
    triples = data.reshape(-1, 3).astype(np.uint32)
    bits = (triples[:, 0] << 16) | (triples[:, 1] << 8) | triples[:, 2]
    sextets = np.stack((bits >> 18, (bits >> 12) & 63, (bits >> 6) & 63, bits & 63), axis=1)
    return letters[sextets].ravel()


def _adler(data):
    n = data.shape[0]
    weights = np.arange(n, 0, -1) % 65521
    low = (1 + np.sum(data, dtype=np.int64)) % 65521
    high = (n + np.sum(weights * data % 65521)) % 65521
    return (high << 16) | low


@untuned(lambda n, rng: (rng.integers(0, 256, n).astype(np.uint8),), 200, 20_000, 1_000_000, numpy=_adler)
def adler_checksum(data):
    low, high = 1, 0
    for i in range(data.shape[0]):
        low = (low + int(data[i])) % 65521
        high = (high + low) % 65521
    return (high << 16) | low


@untuned(lambda n, rng: tuple(rng.integers(97, 103, n).astype(np.uint8) for _ in range(2)), 16, 120, 1200, numpy=False)
def longest_common_subsequence(first, second):
    lengths = np.zeros(second.shape[0] + 1, dtype=np.int32)
    for i in range(first.shape[0]):
        diagonal = 0
        for j in range(second.shape[0]):
            above = lengths[j + 1]
            if first[i] == second[j]:
                lengths[j + 1] = diagonal + 1
            elif lengths[j] > above:
                lengths[j + 1] = lengths[j]
            diagonal = above
    return lengths[-1]


def _letters(data):
    counts = np.zeros(26, dtype=np.int64)
    for i in range(data.shape[0]):
        letter = int(data[i]) | 32
        if letter >= 97 and letter <= 122:
            counts[letter - 97] += 1
    return counts


@untuned(lambda n, rng: (rng.integers(32, 127, n).astype(np.uint8),), 200, 20_000, 1_000_000, numba=_letters)
def letter_counts(data):
    small = np.where((data >= 65) & (data <= 90), data + 32, data)
    return np.bincount(small, minlength=256)[97:123]
