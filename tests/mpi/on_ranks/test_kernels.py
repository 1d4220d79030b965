"""Kernels on real ranks equal one rank: doitgen (without a message), gemm, jacobi_2d."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.distributed import world
from tests.support.ranks_of_mpi import sent

pytestmark = pytest.mark.mpi
SIZES = (101, 5, 2)
N = dcpy.symbol("N")


@dcpy.program
def total(A: dcpy.float64[N], s: dcpy.float64[1]):
    s[0] = np.sum(A)


@dcpy.program(distributed=True, auto_optimize=True)
def jacobi_2d(steps, A, B):
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@dcpy.program(distributed=True, auto_optimize=True)
def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C


@dcpy.program(distributed=True)
def doitgen(A, C4):
    A[:] = A @ C4


@pytest.mark.parametrize("n", SIZES)
def test_jacobi_2d_on_a_grid(n):
    grid = dcpy.grid()
    a, b = np.random.default_rng(n).random((2, n, n))
    A, B = dcpy.distribute(a, grid), dcpy.distribute(b, grid)
    jacobi_2d(4, A, B)
    jacobi_2d.function(4, a, b)
    np.testing.assert_array_equal(A.allgather(), a)
    np.testing.assert_array_equal(B.allgather(), b)


@pytest.mark.parametrize("n", SIZES)
def test_gemm_by_rows_and_by_blocks(n):
    draw = np.random.default_rng(n)
    c, a, b = draw.random((n, 7)), draw.random((n, 9)), draw.random((9, 7))
    expected = 1.5 * a @ b + 1.25 * c
    for grid, blocks in ((dcpy.grid(dims=1), ("block", None)), (dcpy.grid(), ("block", "block"))):
        C, A, B = (dcpy.distribute(x, grid, blocks) for x in (c, a, b))
        gemm(1.5, 1.25, C, A, B)
        np.testing.assert_allclose(C.allgather(), expected, rtol=1e-12)


def test_gemm_with_arguments_of_every_kind():
    """Replicated, on one rank, and dealt out."""
    draw = np.random.default_rng(1)
    c, a, b = draw.random((3, 11, 11))
    expected = 1.5 * a @ b + 1.25 * c
    root = world().size - 1
    C = c.copy() if world().rank == root else None
    gemm(1.5, 1.25, dcpy.on_root(C, root=root), dcpy.distribute(a, dcpy.grid()), b)
    if C is not None:
        np.testing.assert_allclose(C, expected, rtol=1e-12)
    whole = c.copy()
    gemm(1.5, 1.25, whole, dcpy.distribute(a, dcpy.grid()), dcpy.on_root(b if world().rank == 0 else None))
    np.testing.assert_allclose(whole, expected, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(101, 67, 53), (3, 2, 5)])
def test_a_product_on_a_grid_is_summa(sizes):
    """Panels go along rows and columns: no message from rank to rank."""
    n, m, k = sizes
    draw = np.random.default_rng(n)
    c, a, b = draw.random((n, m)), draw.random((n, k)), draw.random((k, m))
    C, A, B = (dcpy.distribute(x, dcpy.grid(), ("block", "block")) for x in (c, a, b))
    with sent(gemm) as traffic:
        gemm(1.5, 1.25, C, A, B)
    np.testing.assert_allclose(C.allgather(), 1.5 * a @ b + 1.25 * c, rtol=1e-12)
    assert traffic.messages == 0
    assert traffic.collectives > 0


@pytest.mark.parametrize("n", [101, 1])
def test_doitgen_sends_nothing(n):
    draw = np.random.default_rng(n)
    a, c4 = draw.random((n, 3, 4)), draw.random((4, 4))
    A = dcpy.distribute(a, dcpy.grid(dims=1), ("block", None, None))
    with sent(doitgen) as traffic:
        doitgen(A, c4)
    assert traffic.messages == 0 or n == 1  # a dimension of one element is no one's to deal out
    np.testing.assert_allclose(A.allgather(), a @ c4, rtol=1e-12)


def test_it_is_compiled_once():
    """Only the rank that compiles has spent time in a compiler."""
    a = np.arange(6.0).reshape(2, 3)
    doitgen(dcpy.distribute(a.reshape(2, 1, 3), dcpy.grid(dims=1), ("block", None, None)), np.eye(3))
    seconds = world().all(doitgen.profile.get("compiler", 0.0))
    assert all(spent == 0 for spent in seconds[1:])


def test_a_plan_by_hand():
    """An SDFG that is distributed and localized takes the parts of a rank, then sizes and coordinates."""
    sdfg = total.to_sdfg().distribute({"A": "g(block 0)"}, {"g": ["P"]}).localize()
    array = dcpy.distribute(np.arange(11.0), dcpy.grid(dims=1))
    s, me = np.zeros(1), world()
    sdfg.compile()(A=array.local, s=s, N=11, P=me.size, g_c0=me.rank)
    assert s[0] == 55
