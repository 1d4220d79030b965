"""Kernels of NPBench under hooks: nothing races, nothing is read that nobody wrote, and what they move is counted."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy.runtime.devices.simulator.hooks import watching
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


def test_a_step_of_fdtd_moves_its_three_grids_once():
    function, arguments = arrays_in("fdtd_2d", {"TMAX": 2, "NX": 70, "NY": 64})
    report = watched(function, *arguments.values(), auto_optimize=True)
    (step,) = [kernel for kernel in report.kernels if kernel.launches == 2]
    floor = 2 * sum(2 * arguments[name].nbytes for name in ("ex", "ey", "hz"))
    assert floor <= step.moved_bytes <= 1.2 * floor
    assert report.races == ()


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
