"""Nussinov's folding of a nucleic acid: the largest number of matching base pairs. Domain: chemistry."""

import numpy as np


def match(b1, b2):
    """1 for bases that pair (their codes add up to 3), else 0."""
    if b1 + b2 == 3:
        return 1
    return 0


def nussinov(N, seq):
    table = np.zeros((N, N), np.int32)
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < N:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < N:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + match(seq[i], seq[j]))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def initialize(N):
    """A sequence of `N` bases, each a code from 0 to 3."""
    return {"N": N, "seq": ((np.arange(N) + 1) % 4).astype(np.int32)}
