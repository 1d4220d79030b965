"""Kernels of NPBench under hooks: nothing races, nothing is read that nobody wrote, and what they move is counted."""

from __future__ import annotations

import copy
import types

import numpy as np
import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy.runtime.gpu.simulator.memory_checks import watching
from dcpy.transforms.gpu.loops import overlapped_tiling_cost
from tests.benchmarks.test_gpu_float32 import NAMES as SINGLE
from tests.benchmarks.test_gpu_float32 import in_single_precision
from tests.support.tiers import some

pytestmark = pytest.mark.cc
KERNELS = kernels()
QUICK = ("azimint_hist", "correlation", "gemm", "hdiff", "jacobi_2d", "mandelbrot1", "softmax", "spmv")


def watched(function, *args, **options):
    """The report of one call."""
    options |= {"gpu_hooks": True, "gpu_seed": 3, "gpu_libraries": False}
    program = dcpy.program(function, device=dcpy.DeviceType.GPU, gpu_backend="simulator", **options)
    with watching() as seen:
        program(*args)
    return seen.report


@pytest.mark.parametrize("name", some(KERNELS, *QUICK))
def test_nothing_races(name):
    report = watched(KERNELS[name].function, *KERNELS[name].initialize("XS").values())
    assert report.races == ()
    assert report.unwritten == ()
    assert bool(report.kernels) == (name not in ("crc16", "seidel_2d"))


@pytest.mark.parametrize("name", some(KERNELS, "atax", "fdtd_2d"))
def test_nothing_races_in_what_is_optimized(name):
    """Fused, tiled, with reductions in blocks and loads of 16 bytes, and with twice as many threads in a warp."""
    report = watched(
        KERNELS[name].function, *KERNELS[name].initialize("XS").values(), auto_optimize=True, gpu_warp=64
    )
    assert report.races == ()
    assert report.unwritten == ()


@pytest.mark.parametrize("name", some(SINGLE, "gesummv"))
def test_nothing_races_in_single_precision(name):
    arguments = in_single_precision(KERNELS[name].initialize("XS"))
    report = watched(KERNELS[name].function, *arguments.values(), auto_optimize=True)
    assert report.races == ()
    assert report.unwritten == ()
    assert report.kernels


def test_both_lines_of_a_site():
    """The line of the kernel, and that of Python."""
    report = watched(KERNELS["jacobi_2d"].function, *KERNELS["jacobi_2d"].initialize("XS").values())
    for kernel in report.kernels:
        for site in kernel.sites:
            assert site.place.line.startswith("jacobi_2d.kernels.cu:")
            assert site.place.span is not None
            assert site.place.span.name == "jacobi_2d.py"


def test_rows_of_a_sparse_matrix_are_the_threads_of_one_kernel():
    """Checks of indices do not keep its loop: if one fails, nobody sees the result."""
    arguments = KERNELS["spmv"].initialize("XS")
    report = watched(KERNELS["spmv"].function, *arguments.values())
    assert sum(kernel.launches for kernel in report.kernels) == 2
    with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 7"):
        watched(KERNELS["spmv"].function, *(arguments | {"A_col": arguments["A_col"] + np.uint32(99)}).values())


def arrays_in(name, sizes):
    """What a kernel of NPBench is called with, at these sizes."""
    return KERNELS[name].function, KERNELS[name].module.initialize(**sizes)


def test_a_band_of_steps_of_fdtd_moves_its_three_grids_once():
    function, arguments = arrays_in("fdtd_2d", {"TMAX": 9, "NX": 70, "NY": 64})
    report = watched(function, *arguments.values(), auto_optimize=True)
    (step,) = [kernel for kernel in report.kernels if kernel.launches == 3]  # of 4, 4 and 1 steps
    floor = 3 * sum(2 * arguments[name].nbytes for name in ("ex", "ey", "hz"))
    assert floor <= step.moved_bytes <= 1.2 * floor
    assert report.races == ()


@pytest.mark.parametrize(("steps", "launches", "warp"), [(1, 22, 32), (3, 4, 64), (4, 3, 32)])
def test_tiles_of_more_steps_move_fewer_bytes(steps, launches, warp, monkeypatch):
    """Of jacobi_2d a step moves four grids, a sweep two of them, and a tile of several steps four for all of them."""
    monkeypatch.setattr(overlapped_tiling_cost, "STEPS", (steps,))
    function, arguments = arrays_in("jacobi_2d", {"TSTEPS": 12, "N": 70})
    expected = copy.deepcopy(arguments)
    function(**expected)
    report = watched(renamed(function, f"jacobi_2d_{steps}"), *arguments.values(), auto_optimize=True, gpu_warp=warp)
    each = [kernel for kernel in report.kernels if kernel.launches > 1]
    assert sum(kernel.launches for kernel in each) == launches
    moved = sum(kernel.moved_bytes for kernel in each)
    bands = -(-11 // steps)
    assert moved == pytest.approx(bands * 4 * arguments["A"].nbytes, rel=0.1)
    assert report.races == report.unwritten == ()
    for name in ("A", "B"):
        np.testing.assert_array_equal(arguments[name], expected[name])


def renamed(function, name):
    """The function under another name: what is compiled is kept by name and text."""
    return types.FunctionType(function.__code__, function.__globals__, name)


@pytest.mark.parametrize(("name", "sizes"), [("hdiff", {"I": 12, "J": 12, "K": 32}), ("compute", {"M": 30, "N": 50})])
def test_it_moves_its_arrays_once(name, sizes):
    """Horizontal diffusion and clipping: temporaries are computed where they are read."""
    function, arguments = arrays_in(name, sizes)
    report = watched(function, *arguments.values(), auto_optimize=True)
    floor = sum(array.nbytes for array in arguments.values() if isinstance(array, np.ndarray))
    floor += arguments["array_1"].nbytes if name == "compute" else 0  # the result
    assert report.moved_bytes <= 1.2 * floor


def scaled(x, y, a):
    y[:] = a * x + y


def smoothed(x, y):
    y[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_elementwise_program_moves_its_arrays_once(dtype):
    x, y = (np.ones(5000, dtype) for _ in range(2))
    report = watched(scaled, x, y, dtype(2))
    assert report.moved_bytes <= 1.01 * 3 * x.nbytes
    assert all(site.units <= 1.1 * site.least for kernel in report.kernels for site in kernel.sites)


def test_a_stencil_moves_its_arrays_once():
    x, y = np.ones((130, 130)), np.ones((130, 130))
    report = watched(smoothed, x, y)
    assert report.moved_bytes <= 1.1 * 2 * x.nbytes
