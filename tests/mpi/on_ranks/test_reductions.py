"""Reductions, searches and scans of arrays in blocks, on real ranks."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.mpi


@dcpy.program(distributed=True, auto_optimize=True)
def of_a_vector(x, y):
    y[:] = np.cumsum(x)
    return np.sum(x), np.max(x), np.argmin(x), np.linalg.norm(x), np.any(x > 0.5), np.mean(x)


@dcpy.program(distributed=True, auto_optimize=True)
def of_a_matrix(A, s):
    s[:] = A.sum(axis=0)
    return A.min(axis=1), A.argmax(axis=0), np.sum(A)


@pytest.mark.parametrize("n", [101, 3])
def test_they_equal_numpy(n):
    grid = dcpy.grid()
    draw = np.random.default_rng(n)
    x, a = np.round(draw.random(n), 1), np.round(draw.random((n, 7)), 1)  # with equal ones
    X, Y, A = dcpy.distribute(x, grid), dcpy.zeros(n, on=dcpy.on(grid, "block")), dcpy.distribute(a, grid)
    sums = np.zeros(7)
    of_vector, of_matrix = of_a_vector(X, Y), of_a_matrix(A, sums)
    for found, expected in (
        *zip(of_vector, (x.sum(), x.max(), x.argmin(), np.linalg.norm(x), (x > 0.5).any(), x.mean()), strict=True),
        (Y.allgather(), np.cumsum(x)), (sums, a.sum(axis=0)),
        *zip(of_matrix, (a.min(axis=1), a.argmax(axis=0), a.sum()), strict=True),
    ):  # fmt: skip
        found = found.allgather() if isinstance(found, dcpy.DistArray) else found
        np.testing.assert_allclose(found, expected, rtol=1e-12)
