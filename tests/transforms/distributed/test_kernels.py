"""Kernels on virtual ranks equal one rank: doitgen (without a message), gemm, jacobi_2d, and more of their kind."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import dcpy
from dcpy.ir.communication import CommNode
from tests.support.ranks import check, distributed, localized

RANKS = (1, 2, 3, 4, 5, 7, 8)
GRIDS = ((1, 1), (1, 3), (3, 1), (2, 3), (7, 1))
N, M, K = dcpy.symbol("N"), dcpy.symbol("M"), dcpy.symbol("K")


@dcpy.program
def jacobi_2d(steps: dcpy.int64, A: dcpy.float64[N, N], B: dcpy.float64[N, N]):
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@dcpy.program
def gemm(alpha: dcpy.float64, beta: dcpy.float64, C: dcpy.float64[N, M], A: dcpy.float64[N, K], B: dcpy.float64[K, M]):
    C[:] = alpha * A @ B + beta * C


@dcpy.program
def doitgen(A: dcpy.float64[N, M, K], C4: dcpy.float64[K, K]):
    A[:] = np.reshape(np.reshape(A, (N, M, 1, K)) @ C4, (N, M, K))


@functools.cache
def made(program, optimized, plan, sizes):
    """The program as written, its distributed form, and its local form."""
    sdfg = program.to_sdfg().simplify()
    sdfg = sdfg.auto_optimize() if optimized else sdfg
    whole = distributed(sdfg, dict(plan), {"g": sizes})
    return sdfg, whole, localized(whole)


def run(program, optimized, plan, sizes, arguments, symbols, ranks, **options):
    sdfg, whole, local = made(program, optimized, tuple(plan.items()), sizes)
    return check(sdfg, whole, arguments, symbols, ranks, local=local, **options), local


@pytest.mark.parametrize(("grid", "optimized"), [((2, 3), False), *((grid, True) for grid in GRIDS)])
def test_jacobi_2d(grid, optimized):
    plan = {"A": "g(block 0, block 1)", "B": "g(block 0, block 1)"}
    ranks = grid[0] * grid[1]
    draw = np.random.default_rng(7)
    for n in (2, 5):
        a, b = draw.uniform(size=(n, n)), draw.uniform(size=(n, n))
        symbols = {"N": n, "Px": grid[0], "Py": grid[1]}
        arguments = {"steps": 2, "A": a, "B": b}
        run(jacobi_2d, optimized, plan, ("Px", "Py"), arguments, symbols, ranks + 1, strict=n % 2 == 1)


@pytest.mark.parametrize("ranks", RANKS)
def test_gemm_by_rows(ranks):
    plan = {"C": "g(block 0, whole)", "A": "g(block 0, whole)", "B": "g(block 0, whole)"}
    draw = np.random.default_rng(3)
    for n in sorted({0, ranks - 1, ranks + 1}):
        c, a, b = draw.uniform(size=(n, 5)), draw.uniform(size=(n, 6)), draw.uniform(size=(6, 5))
        arguments = {"alpha": 1.5, "beta": 1.25, "C": c, "A": a, "B": b}
        for optimized in (False, True) if ranks == 3 else (True,):
            symbols = {"N": n, "M": 5, "K": 6, "P": ranks}
            traffic, _ = run(gemm, optimized, plan, ("P",), arguments, symbols, ranks, exact=False)
            owners = -(-6 // -(-6 // ranks))  # of rows of B, which alone is sent
            assert not optimized or traffic.messages == owners * (ranks - 1)


@pytest.mark.parametrize("grid", GRIDS)
def test_gemm_on_a_grid(grid):
    plan = {name: "g(block 0, block 1)" for name in ("A", "B", "C")}
    draw = np.random.default_rng(3)
    for n, m, k in ((1, 2, 3), (7, 5, 9)):
        c, a, b = draw.uniform(size=(n, m)), draw.uniform(size=(n, k)), draw.uniform(size=(k, m))
        symbols = {"N": n, "M": m, "K": k, "Px": grid[0], "Py": grid[1]}
        arguments = {"alpha": 1.5, "beta": 1.25, "C": c, "A": a, "B": b}
        run(gemm, True, plan, ("Px", "Py"), arguments, symbols, grid[0] * grid[1], exact=False)


@pytest.mark.parametrize("ranks", RANKS)
def test_doitgen_sends_nothing(ranks):
    draw = np.random.default_rng(5)
    for n in sorted({0, 1, ranks - 1, ranks, ranks + 1}):
        arguments = {"A": draw.uniform(size=(n, 3, 4)), "C4": draw.uniform(size=(4, 4))}
        symbols = {"N": n, "M": 3, "K": 4, "P": ranks}
        plan = {"A": "g(block 0, whole, whole)", "tmp": "g(block 0, whole, whole, whole)"}
        traffic, local = run(doitgen, False, plan, ("P",), arguments, symbols, ranks, exact=False)
        assert (traffic.messages, traffic.collectives) == (0, 0)
        assert not any(isinstance(node, CommNode) for node in local.body.walk_nodes())


def test_a_hundred_and_one():
    """The size of the issue, on four ranks."""
    draw = np.random.default_rng(1)
    a, b = draw.uniform(size=(101, 101)), draw.uniform(size=(101, 101))
    plan = {"C": "g(block 0, whole)", "A": "g(block 0, whole)", "B": "g(block 0, whole)"}
    arguments = {"alpha": 1.5, "beta": 1.25, "C": a.copy(), "A": a, "B": b}
    run(gemm, True, plan, ("P",), arguments, {"N": 101, "M": 101, "K": 101, "P": 4}, 4, exact=False)
    plan = {"A": "g(block 0, whole, whole)", "tmp": "g(block 0, whole, whole, whole)"}
    arguments = {"A": draw.uniform(size=(101, 2, 7)), "C4": draw.uniform(size=(7, 7))}
    run(doitgen, False, plan, ("P",), arguments, {"N": 101, "M": 2, "K": 7, "P": 4}, 4, exact=False)


@pytest.mark.heavy
def test_a_hundred_and_one_squared():
    draw = np.random.default_rng(1)
    plan = {"A": "g(block 0, block 1)", "B": "g(block 0, block 1)"}
    a = draw.uniform(size=(101, 101))
    symbols = {"N": 101, "Px": 2, "Py": 2}
    run(jacobi_2d, True, plan, ("Px", "Py"), {"steps": 2, "A": a, "B": a.copy()}, symbols, 4)
