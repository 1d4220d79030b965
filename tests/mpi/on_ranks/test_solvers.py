"""np.linalg of matrices in blocks on real ranks: gathered, and computed by each rank; errors are raised on all."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.mpi
TWO = ("block", "block")


@dcpy.program(distributed=True)
def factored(A, L):
    L[:] = np.linalg.cholesky(A)


@dcpy.program(distributed=True)
def solved(A, b, x):
    x[:] = np.linalg.solve(A, b)


def _dealt(values, *blocks):
    return dcpy.distribute(values, dcpy.grid(), blocks)


def _matrix(n):
    a = np.random.default_rng(n).uniform(size=(n, n))
    return a @ a.T + n * np.eye(n)


@pytest.mark.parametrize("n", [1, 11])
def test_cholesky(n):
    a, lower = _matrix(n), _dealt(np.ones((n, n)), *TWO)
    factored(_dealt(a, *TWO), lower)
    np.testing.assert_allclose(lower.allgather(), np.linalg.cholesky(a), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("columns", [(), (3,)])
def test_systems_of_equations(columns):
    a, b = _matrix(11), np.random.default_rng(1).uniform(size=(11, *columns))
    blocks = ("block", *(None for _ in columns))
    x = _dealt(np.zeros_like(b), *blocks)
    solved(_dealt(a, *TWO), _dealt(b, *blocks), x)
    np.testing.assert_allclose(x.allgather(), np.linalg.solve(a, b), rtol=1e-11)


def test_all_ranks_raise():
    with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
        factored(_dealt(-_matrix(7), *TWO), _dealt(np.zeros((7, 7)), *TWO))
