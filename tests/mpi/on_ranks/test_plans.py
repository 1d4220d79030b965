"""Programs whose arguments all ranks have whole run by a plan that is chosen, and each rank has the results."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dcpy
from dcpy.distributed import world
from tests.support.ranks_of_mpi import sent

pytestmark = pytest.mark.mpi


@dcpy.program(distributed=True, auto_optimize=True)
def jacobi_2d(steps, A, B):
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@dcpy.program(distributed=True, auto_optimize=True)
def atax(A, x):
    return (A @ x) @ A


def test_a_large_stencil_is_taken_apart_and_put_together():
    a, b = np.random.default_rng(3).random((2, 300, 300))
    A, B = a.copy(), b.copy()
    with sent(jacobi_2d) as messages:
        jacobi_2d(40, A, B)
    jacobi_2d.function(40, a, b)
    np.testing.assert_array_equal(A, a)
    np.testing.assert_array_equal(B, b)
    assert messages.messages > 0 or world().size == 1


def test_a_small_one_is_done_by_each_rank():
    a, b = np.random.default_rng(3).random((2, 10, 10))
    A, B = a.copy(), b.copy()
    with sent(jacobi_2d) as messages, warnings.catch_warnings():
        warnings.simplefilter("ignore", dcpy.PerformanceWarning)  # which says so
        jacobi_2d(4, A, B)
    jacobi_2d.function(4, a, b)
    np.testing.assert_array_equal(A, a)
    assert (messages.messages, messages.collectives) == (0, 0)


def test_results_are_whole_on_each_rank():
    draw = np.random.default_rng(5)
    A, x = draw.random((900, 700)), draw.random(700)
    np.testing.assert_allclose(atax(A, x), (A @ x) @ A, rtol=1e-12)
