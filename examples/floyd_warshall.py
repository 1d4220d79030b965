"""Shortest paths between all pairs of nodes."""

import numpy as np

import dcpy


@dcpy.program
def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, np.add.outer(path[:, k], path[k, :]))


def initialize(n, dtype=np.int32):
    """Arguments for a graph of `n` nodes; weights are small integers, exact in every dtype."""
    i, j = np.arange(n)[:, np.newaxis], np.arange(n)
    path = (i * j % 7 + 1).astype(dtype)
    path[((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)] = 999
    return {"path": path}
