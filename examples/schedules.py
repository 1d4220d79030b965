"""Schedules by hand: a product of matrices and relaxations, tiled in cache and in time, step by step."""

import numpy as np

import dcpy

N, M, K = (dcpy.symbol(name) for name in "NMK")


@dcpy.program
def product(A: dcpy.float64[N, K], B: dcpy.float64[K, M], C: dcpy.float64[N, M]):
    for i in range(N):
        for j in range(M):
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


@dcpy.program
def relaxation(steps: dcpy.int64, A: dcpy.float64[2, N, N]):
    for t in range(steps):
        A[(t + 1) % 2, 1:-1, 1:-1] = 0.2 * (
            A[t % 2, 1:-1, 1:-1]
            + A[t % 2, 1:-1, :-2]
            + A[t % 2, 1:-1, 2:]
            + A[t % 2, 2:, 1:-1]
            + A[t % 2, :-2, 1:-1]
        )


@dcpy.program
def jacobi_2d(TSTEPS: dcpy.int64, A: dcpy.float64[N, N], B: dcpy.float64[N, N]):
    for t in range(1, TSTEPS):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def schedule_product(sdfg: dcpy.SDFG, rows: int = 64, terms: int = 64) -> dcpy.SDFG:
    """Rows of C in tiles, one for each thread; terms in tiles that stay in cache, four at a time in registers."""
    i, j, k = (sdfg.scope(name) for name in "ijk")
    sdfg.apply("loop-interchange", loop=j)  # i, k, j: rows of B and C, not columns
    sdfg.apply("strip-mining", scope=k, size=terms)
    sdfg.apply("strip-mining", scope=i, size=rows)
    sdfg.apply("loop-interchange", loop=i)  # i_tile, k_tile, i, k, j: a tile of B is used for all rows of a tile
    _, columns, rest = sdfg.transform("unroll-and-jam", loop=k, factor=4)
    sdfg.apply_repeated("state-fusion")
    for loop in (columns, rest.body.blocks[0]):
        row = sdfg.transform("loop-to-map", loop=loop)
        sdfg.apply("vectorization", map=row)
    tiles = sdfg.transform("loop-to-map", loop="i_tile")
    return sdfg.apply("parallelization", map=tiles)


def schedule_relaxation(sdfg: dcpy.SDFG, steps: int = 24, rows: int = 32) -> dcpy.SDFG:
    """Time tiling: a tile of rows makes several steps while it is in cache, skewed so that it has what it reads."""
    for _ in range(4):
        point = sdfg.transform("map-fusion")
    i, j = sdfg.transform("map-to-for-loop", map=point)
    t = sdfg.scope("t")
    sdfg.apply("loop-skewing", loop=i)  # distances (1, -1) become (1, 0)
    sdfg.apply("strip-mining", scope=t, size=steps)
    sdfg.apply("loop-interchange", loop=t)
    sdfg.apply("strip-mining", scope=i, size=rows)
    sdfg.apply("loop-interchange", loop=i)  # t_tile, i_tile, t, i, j
    row = sdfg.transform("loop-to-map", loop=j)
    sdfg.apply("vectorization", map=row)
    rows_of_tile = sdfg.transform("loop-to-map", loop=i)
    return sdfg.apply("parallelization", map=rows_of_tile)


def schedule_jacobi_2d(sdfg: dcpy.SDFG, steps: int = 12, rows: int = 8) -> dcpy.SDFG:
    """Two sweeps, the second one row behind the first, then time tiling: a row makes all steps while it is there."""
    sdfg.apply_repeated("map-fusion")
    there, back = (sdfg.transform("map-to-for-loop", map=sdfg.scope(name)) for name in ("i0", "i0_5"))
    t, i = sdfg.scope("t"), there[0]
    sdfg.apply("loop-fusion", first=i, second=back[0], shift=1)  # a row of A needs the next row of B
    sdfg.apply("loop-skewing", loop=i, factor=2)  # what the next step needs is two rows ahead
    sdfg.apply("strip-mining", scope=t, size=steps)
    sdfg.apply("loop-interchange", loop=t)
    sdfg.apply("strip-mining", scope=i, size=rows)
    sdfg.apply("loop-interchange", loop=i)  # t_tile, i_tile, t, i, and two loops j
    for columns in (there[1], back[1]):
        row = sdfg.transform("loop-to-map", loop=columns)
        sdfg.apply("vectorization", map=row)
    return sdfg


def schedule_jacobi_2d_overlapped(sdfg: dcpy.SDFG, steps: int = 8, rows: int = 128, columns: int = 256) -> dcpy.SDFG:
    """The same in tiles that wait for no other one: each makes several steps in buffers of its own, halo and all."""
    sdfg.apply_repeated("map-fusion")
    sweeps = [sdfg.scope(name) for name in ("i0", "i0_5")]
    _, tiles, _ = sdfg.transform("time-tiling", loop="t", steps=steps, sizes=(rows, columns))
    for sweep in sweeps:
        _, row = sdfg.transform("map-expansion", map=sweep)
        sdfg.apply("vectorization", map=row)
    return sdfg.apply("parallelization", map=tiles)


def initialize_product(n):
    """Arguments of `product`: matrices of about `n` rows."""
    rng = np.random.default_rng(42)
    return {"A": rng.random((n, n + 2)), "B": rng.random((n + 2, n + 1)), "C": rng.random((n, n + 1))}


def initialize_relaxation(n, steps=24):
    """Arguments of `relaxation`: a square of `n` by `n` points, twice."""
    return {"steps": steps, "A": np.random.default_rng(42).random((2, n, n))}


def initialize_jacobi_2d(n, steps=25):
    """Arguments of `jacobi_2d`: two squares of `n` by `n` points."""
    draw = np.random.default_rng(42)
    return {"TSTEPS": steps, "A": draw.random((n, n)), "B": draw.random((n, n))}
