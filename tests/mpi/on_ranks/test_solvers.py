"""Solvers by ScaLAPACK on real ranks: grids, remainders, precisions; and errors that all ranks raise."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.distributed import world
from dcpy.libraries.pblas.environments import SCALAPACK, SCALAPACK_OF_MKL

FOUND = min((library.missing() for library in (SCALAPACK_OF_MKL, SCALAPACK)), key=len)
pytestmark = [pytest.mark.mpi, pytest.mark.skipif(bool(FOUND), reason=FOUND or "it is there")]


def cholesky(A):
    return np.linalg.cholesky(A)


def upper(A):
    return np.linalg.cholesky(A, upper=True)


def solution(A, b):
    return np.linalg.solve(A, b)


def inverse(A):
    return np.linalg.inv(A)


def determinant(A):
    return np.linalg.det(A)


def _matrices(function, n, dtype, columns):
    draw = np.random.default_rng(n)
    a = draw.uniform(-1, 1, (n, n)) + (1j * draw.uniform(-1, 1, (n, n)) if dtype[0] == "c" else 0)
    if function in (cholesky, upper):
        a = a @ a.conj().T + n * np.eye(n)
    rest = [] if function is not solution else [draw.uniform(size=(n, columns) if columns else n)]
    return [each.astype(dtype) for each in (a, *rest)]


@pytest.mark.parametrize(
    ("function", "dtype", "columns"),
    [(cholesky, "f8", 0), (upper, "c16", 0), (solution, "f8", 0), (solution, "f8", 3), (inverse, "f8", 0),
     (determinant, "f8", 0), (determinant, "c16", 0)],
)  # fmt: skip
def test_it_is_what_numpy_says(function, dtype, columns):
    program, ranks = dcpy.program(function, distributed=True, auto_optimize=True), world().size
    for grid in (dcpy.grid(), dcpy.grid(ranks, 1), dcpy.grid(1, ranks)):
        for n in (131, 7, 1):
            given = _matrices(function, n, dtype, columns)
            found = program(*(dcpy.distribute(each, grid, ("block", "block")[: each.ndim]) for each in given))
            expected = function(*given)
            close = 1e-10 * np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=close, err_msg=f"{grid.sizes}, {n}")


def _indefinite(n):
    return np.eye(n) + np.diag([0.0] * (n - 2) + [2.0], 1) + np.diag([0.0] * (n - 2) + [2.0], -1)


@pytest.mark.parametrize(
    ("function", "matrix", "text"),
    [(cholesky, -np.eye(70), "Matrix is not positive definite"),
     (cholesky, _indefinite(130), "Matrix is not positive definite"), (inverse, np.ones((130, 130)), "Singular matrix"),
     (inverse, np.diag([1.0] * 129 + [0.0]), "Singular matrix"), (solution, np.zeros((5, 5)), "Singular matrix")],
)  # fmt: skip
def test_all_ranks_raise(function, matrix, text):
    program, grid = dcpy.program(function, distributed=True, auto_optimize=True), dcpy.grid()
    given = [matrix, np.ones(len(matrix))][: 2 if function is solution else 1]
    dealt = [dcpy.distribute(each, grid, ("block", "block")[: each.ndim]) for each in given]
    with pytest.raises(np.linalg.LinAlgError, match=text):
        program(*dealt)
    assert world().all(True) == [True] * world().size  # nobody is left behind


def test_nan_is_no_reason_to_raise():
    matrix = np.diag([1.0] * 69 + [np.nan] + [1.0] * 30)
    for grid in (dcpy.grid(), dcpy.grid(world().size, 1)):
        for function in (cholesky, upper):
            found = dcpy.program(function, distributed=True, auto_optimize=True)(
                dcpy.distribute(matrix, grid, ("block", "block"))
            )
            np.testing.assert_array_equal(found, function(matrix))


def test_a_determinant_of_a_singular_matrix():
    found = dcpy.program(determinant, distributed=True, auto_optimize=True)(
        dcpy.distribute(np.ones((130, 130)), dcpy.grid(), ("block", "block"))
    )
    assert found == 0
