"""Conditions over elements of distributed arrays, on real ranks: all take the way that one rank takes."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.mpi


def settled(A, B, limit):
    """Jacobi's iteration until its first element is small; other ways for other elements."""
    count = 0
    while A[1] > limit:
        B[1:-1] = 0.375 * (A[:-2] + A[2:])
        A[1:-1] = B[1:-1]
        count += 1
        if A[count] > 0.75:
            A[1:-1] = 0.5 * A[1:-1]
        elif B[-2] > A[2]:
            A[1:-1] = A[1:-1] - 0.125 * B[1:-1]
    return count


@pytest.mark.parametrize("n", [40, 7])
def test_they_equal_numpy(n):
    grid = dcpy.grid()
    a = np.random.default_rng(n).random(n)
    a[0] = a[-1] = 0.0
    A, B = dcpy.distribute(a, grid), dcpy.zeros(n, on=dcpy.on(grid, "block"))
    found = dcpy.program(distributed=True, auto_optimize=True)(settled)(A, B, 0.05)
    expected = settled(a, np.zeros(n), 0.05)
    assert found == expected
    np.testing.assert_array_equal(A.allgather(), a)
