"""Integers: hashes, bits, checksums and runs."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _mixed(keys):
    found = np.empty_like(keys)
    for i in range(keys.shape[0]):
        key = keys[i]
        key ^= key >> np.uint64(33)
        key *= np.uint64(0xFF51AFD7ED558CCD)
        key ^= key >> np.uint64(33)
        key *= np.uint64(0xC4CEB9FE1A85EC53)
        found[i] = key ^ (key >> np.uint64(33))
    return found


@untuned(lambda n, rng: (rng.integers(0, 2**62, n).astype(np.uint64),), 200, 20_000, 1_000_000, numba=_mixed,
         parallel="i")  # fmt: skip
def mixed_keys(keys):
    keys = (keys ^ (keys >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    keys = (keys ^ (keys >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return keys ^ (keys >> np.uint64(33))


def _packed(bits):
    found = np.zeros(bits.shape[0] // 8, dtype=np.uint8)
    for i in range(found.shape[0]):
        value = 0
        for k in range(8):
            value = 2 * value + bits[8 * i + k]
        found[i] = value
    return found


@untuned(lambda n, rng: (rng.integers(0, 2, 8 * n).astype(np.uint8),), 50, 5000, 500_000, numba=_packed, parallel="i")
def packed_bits(bits):
    return np.packbits(bits)


@untuned(lambda n, rng: (n,), 50, 1000, 30_000, numpy=False, parallel="start")
def longest_collatz(count):
    longest = 0
    for start in range(1, count):
        value, steps = start, 0
        while value != 1:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            steps += 1
        longest = max(longest, steps)
    return longest


def _checked_bytes(n, rng):
    table = np.arange(256)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ 0xEDB88320, table >> 1)
    return rng.integers(0, 256, n).astype(np.uint8), table


@untuned(_checked_bytes, 200, 20_000, 500_000, numpy=False)
def cyclic_checksum(data, table):
    found = 0xFFFFFFFF
    for i in range(data.shape[0]):
        found = (found >> 8) ^ table[(found ^ int(data[i])) & 0xFF]
    return found ^ 0xFFFFFFFF


def _longest_run(values):
    edges = np.flatnonzero(values[1:] != values[:-1])
    ends = np.concatenate((np.array([-1]), edges, np.array([values.shape[0] - 1])))
    return np.max(np.diff(ends))


@untuned(lambda n, rng: (rng.integers(0, 3, n),), 200, 20_000, 1_000_000, numpy=_longest_run)
def longest_run(values):
    longest, current = 1, 1
    for i in range(1, values.shape[0]):
        current = current + 1 if values[i] == values[i - 1] else 1
        longest = max(longest, current)
    return longest
