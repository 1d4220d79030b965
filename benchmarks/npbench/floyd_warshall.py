"""Shortest paths between all pairs of nodes. Domain: graphs."""

import numpy as np


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def initialize(N):
    """A graph of `N` nodes with int32 weights."""
    i, j = np.ogrid[:N, :N]
    path = (i * j % 7 + 1).astype(np.int32)
    path[((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)] = 999
    return {"path": path}
