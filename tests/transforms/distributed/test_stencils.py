"""Stencils of NPBench on grids of virtual ranks: equal to one rank, with as many messages and bytes as formulas say."""

from __future__ import annotations

import functools
import inspect
from types import FunctionType

import numpy as np
import pytest

import dcpy
from benchmarks.npbench.fdtd_2d import fdtd_2d
from benchmarks.npbench.hdiff import hdiff
from benchmarks.npbench.heat_3d import heat_3d
from benchmarks.npbench.jacobi_1d import jacobi_1d
from benchmarks.npbench.jacobi_2d import jacobi_2d
from dcpy.ir.region import Loop
from dcpy.ir.text import print_sdfg
from tests.support.messages_of_stencils import one_update
from tests.support.ranks import check, distributed, localized

N, M, T, K = dcpy.symbol("N"), dcpy.symbol("M"), dcpy.symbol("T"), dcpy.symbol("K")
REAL, STEPS = dcpy.float64, dcpy.int64
SQUARE = "g(block 0, block 1)"
INSIDE = "g(block 0 by (-((-N - 4) // Px)) offset 2, block 1 by (-((-M - 4) // Py)) offset 2, whole)"
HALO_OF_TWO = {"in_field": "g(block 0, block 1, whole)", "out_field": INSIDE, "coeff": INSIDE}
KERNELS = {
    "jacobi_1d": (jacobi_1d, (STEPS, REAL[N], REAL[N]), dict.fromkeys("AB", "g(block 0)")),
    "jacobi_2d": (jacobi_2d, (STEPS, REAL[N, N], REAL[N, N]), dict.fromkeys("AB", SQUARE)),
    "heat_3d": (heat_3d, (STEPS, REAL[N, N, N], REAL[N, N, N]), dict.fromkeys("AB", "g(block 0, block 1, whole)")),
    "hdiff": (hdiff, (REAL[N + 4, M + 4, K], REAL[N, M, K], REAL[N, M, K]), HALO_OF_TWO),
    "fdtd_2d": (fdtd_2d, (STEPS, *3 * (REAL[N, M],), REAL[T]), dict.fromkeys(("ex", "ey", "hz"), SQUARE)),
}
GRIDS = ((1, 1), (2, 1), (1, 3), (2, 2), (5, 1), (2, 3), (7, 1), (2, 4))


def typed_program(name):
    """The kernel for arguments of its types, optimized, for one rank."""
    function, types, _ = KERNELS[name]
    typed = FunctionType(function.__code__, function.__globals__, name)
    typed.__annotations__ = dict(zip(inspect.signature(function).parameters, types, strict=True))
    return dcpy.program(typed).to_sdfg().simplify().auto_optimize()


@functools.cache
def made(name):
    """The kernel, its distributed form, and its local form."""
    sdfg, plan = typed_program(name), KERNELS[name][2]
    whole = distributed(sdfg, plan, {"g": ("Px", "Py")})
    return sdfg, whole, localized(whole)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "hdiff"])
@pytest.mark.parametrize("grid", GRIDS)
def test_they_equal_one_rank_and_send_faces(name, grid):
    sdfg, whole, local = made(name)
    for n, m in ((7, 5), (4, 9)) if name != "heat_3d" else ((5, 5),):
        m = m if name == "fdtd_2d" else n
        draw, steps = np.random.default_rng(n), 2
        arrays = {name: sdfg.desc(name).shape for name in sdfg.arguments if name in sdfg.containers}
        shapes = {name: [size.evaluate({"N": n, "M": m, "T": 3}) for size in shape] for name, shape in arrays.items()}
        arguments = {name: draw.uniform(size=shape) for name, shape in shapes.items()}
        first = next(name for name in sdfg.arguments if name not in shapes)
        arguments[first] = steps if name == "fdtd_2d" else steps + 1  # the others begin at 1
        symbols = {key: size for key, size in {"N": n, "M": m, "T": 3}.items() if key in sdfg.symbols}
        symbols |= {"Px": grid[0], "Py": grid[1]}
        traffic = check(sdfg, whole, arguments, symbols, grid[0] * grid[1], local=local, constant=True)
        messages, elements = one_update(name, n, m, grid)
        assert (traffic.messages, traffic.bytes) == (steps * messages, steps * 8 * elements)


@pytest.mark.parametrize("name", KERNELS)
def test_loops_exchange_and_do_nothing_else(name):
    """A row of ey that each rank has computed for itself is taken from there: a copy that sends nothing."""
    local = made(name)[2]
    loops = [block for block in local.body.walk_blocks() if isinstance(block, Loop)]
    for loop in loops:
        kinds = [node.kind for node in loop.body.walk_nodes() if node.kind.startswith("comm.")]
        assert kinds == (["comm.copy"] if name == "fdtd_2d" else []) + ["comm.exchange"] * 2


@pytest.mark.parametrize("grid", GRIDS)
def test_hdiff_sends_one_halo_of_two(grid):
    """It has no step: the input comes once, with corners, into blocks that those of the result are aligned with."""
    sdfg, whole, local = made("hdiff")
    assert "halo (2:2, 2:2, 0:0)" in print_sdfg(whole)
    draw = np.random.default_rng(3)
    shapes = {"in_field": (9, 8, 2), "out_field": (5, 4, 2), "coeff": (5, 4, 2)}
    arguments = {name: draw.uniform(size=shape) for name, shape in shapes.items()}
    symbols = {"N": 5, "M": 4, "K": 2, "Px": grid[0], "Py": grid[1]}
    traffic = check(sdfg, whole, arguments, symbols, grid[0] * grid[1], local=local)
    if grid == (2, 2):
        assert traffic.messages == 8 + 4
    assert (traffic.messages > 0) == (grid != (1, 1))
