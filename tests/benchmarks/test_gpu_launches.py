"""How many kernels programs of NPBench launch: loops of launches become kernels with loops inside."""

import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy.base.options import resolve_options
from dcpy.runtime.gpu.simulator.library import launches_so_far

pytestmark = pytest.mark.cc
KERNELS = kernels()

#: at most, with auto_optimize, at size XS; behind each what it was before any loop went into a kernel
LAUNCHES = {
    "adi": 20,  # 76
    "cavity_flow": 2,  # 82: a power of floats stood in the way of asking a check before the loop
    "deriche": 14,  # 30
    "durbin": 2,  # 29
    "jacobi_2d": 1,  # 4
    "mandelbrot1": 6,  # 30
    "seidel_2d": 0,  # 12, and as many copies of the array
    "vadv": 12,  # 29
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_launches(name):
    kernel = KERNELS[name]
    program = dcpy.program(
        kernel.function, device=dcpy.DeviceType.GPU, gpu_backend="simulator", auto_optimize=True
    )
    before = launches_so_far(resolve_options())
    program(**kernel.initialize("XS"))
    assert launches_so_far(resolve_options()) - before <= LAUNCHES[name]
