"""Integer mixing: streams of random bits, ciphers, interleaved bits and hashes of rows."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _words(n, rng):
    return rng.integers(1, 2**32, n).astype(np.uint32)


def _streams(seeds, rounds):
    found = np.empty_like(seeds)
    for i in range(seeds.shape[0]):
        word = seeds[i]
        for _ in range(rounds):
            word = np.uint32(word ^ np.uint32(word << np.uint32(13)))
            word = np.uint32(word ^ (word >> np.uint32(17)))
            word = np.uint32(word ^ np.uint32(word << np.uint32(5)))
        found[i] = word
    return found


@untuned(lambda n, rng: (_words(n, rng), 12), 100, 10_000, 500_000, numba=_streams, parallel="i")
def random_streams(seeds, rounds):
    words = seeds.copy()
    for _ in range(rounds):
        words ^= words << 13
        words ^= words >> 17
        words ^= words << 5
    return words


def _tiny_cipher(left, right, key):
    after_left, after_right = np.empty_like(left), np.empty_like(right)
    for i in range(left.shape[0]):
        a, b, total = left[i], right[i], np.uint32(0)
        for _ in range(16):
            total = np.uint32(total + np.uint32(0x9E3779B9))
            a = np.uint32(a + (np.uint32((b << np.uint32(4)) + key[0]) ^ np.uint32(b + total)
                               ^ np.uint32((b >> np.uint32(5)) + key[1])))
            b = np.uint32(b + (np.uint32((a << np.uint32(4)) + key[2]) ^ np.uint32(a + total)
                               ^ np.uint32((a >> np.uint32(5)) + key[3])))
        after_left[i], after_right[i] = a, b
    return after_left, after_right


@untuned(lambda n, rng: (_words(n, rng), _words(n, rng), _words(4, rng)), 60, 5000, 200_000, numba=_tiny_cipher,
         parallel="i")  # fmt: skip
def tiny_cipher(left, right, key):
    total = 0
    for _ in range(16):
        total = (total + 0x9E3779B9) & 0xFFFFFFFF
        left = left + (((right << 4) + key[0]) ^ (right + np.uint32(total)) ^ ((right >> 5) + key[1]))
        right = right + (((left << 4) + key[2]) ^ (left + np.uint32(total)) ^ ((left >> 5) + key[3]))
    return left, right


def _interleaved(x, y):
    found = np.empty(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        code = 0
        for k in range(16):
            code |= ((x[i] >> k) & 1) << (2 * k)
            code |= ((y[i] >> k) & 1) << (2 * k + 1)
        found[i] = code
    return found


@untuned(lambda n, rng: (rng.integers(0, 65536, n), rng.integers(0, 65536, n)), 60, 5000, 300_000, numba=_interleaved,
         parallel="i", jax=True)  # fmt: skip
def interleaved_bits(x, y):
    codes = []
    for value in (x, y):
        value = (value | (value << 8)) & 0x00FF00FF
        value = (value | (value << 4)) & 0x0F0F0F0F
        value = (value | (value << 2)) & 0x33333333
        codes.append((value | (value << 1)) & 0x55555555)
    return codes[0] | (codes[1] << 1)


def _hashed(rows):
    found = np.empty(rows.shape[0], dtype=np.uint64)
    for i in range(rows.shape[0]):
        code = np.uint64(0xCBF29CE484222325)
        for k in range(rows.shape[1]):
            code = (code ^ np.uint64(rows[i, k])) * np.uint64(0x100000001B3)
        found[i] = code
    return found


@untuned(lambda n, rng: (rng.integers(0, 256, (n, 16)).astype(np.uint8),), 20, 1500, 100_000, numba=_hashed,
         parallel="i")  # fmt: skip
def hashes_of_rows(rows):
    codes = np.full(rows.shape[0], 0xCBF29CE484222325, dtype=np.uint64)
    for k in range(rows.shape[1]):
        codes = (codes ^ rows[:, k]) * np.uint64(0x100000001B3)
    return codes
