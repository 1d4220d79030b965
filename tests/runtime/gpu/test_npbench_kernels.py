"""Kernels that are generated for NPBench become machine code for chips that are not here; none of them spills.

A few here, all of them for all chips among the heavy tests.
"""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy import driver
from dcpy.base.errors import CodegenError
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.gpu.costs import GPU_COSTS
from dcpy.transforms.gpu.lowering import gpu_pipeline
from dcpy.transforms.pass_manager import run_pipeline
from tests.benchmarks.transformations import Reference
from tests.runtime.gpu import chips

pytestmark = pytest.mark.cc
SOME = ("atax", "azimint_hist", "gemm", "hdiff", "jacobi_2d", "mandelbrot1", "softmax", "spmv")
ANGLES = 40  #: bytes of a table on the stack, in which CUDA's sine and cosine reduce large angles


def units_of(name):
    """The unit of kernels, and the headers; None where nothing runs on a device."""
    reference = Reference(kernels()[name])
    sdfg = dcpy.program(reference.kernel.function).to_sdfg(**reference.arguments)
    driver.auto_optimize(sdfg)
    return unit_and_headers(sdfg)


def unit_and_headers(sdfg):
    run_pipeline(sdfg, gpu_pipeline(GpuOptions(), GPU_COSTS))
    artifact = generate_gpu(sdfg, None, None, resolve_options({"device": "gpu", "gpu.backend": "simulator"}))
    headers = tuple(unit for unit in artifact.units if not unit.language)
    return next(((unit, headers) for unit in artifact.units if unit.language == "device"), None)


def check(name, unit, headers, compiler, arch):
    binary = compiler.compile(unit, headers, arch, GpuOptions())
    assert binary.resources
    assert [one for one in binary.resources if one.spill_stores or one.spill_loads] == []
    has_angles = "sin(" in unit.text or "cos(" in unit.text
    assert [one for one in binary.resources if one.stack and not (has_angles and one.stack == ANGLES)] == []


@pytest.mark.parametrize("name", SOME)
def test_kernels_fit_a_chip(name):
    check(name, *units_of(name), chips.nvrtc(), "sm_90")


@pytest.mark.parametrize("compiler", [chips.nvrtc, chips.nvcc])
def test_known_limits_compile_on_devices(compiler):
    def limited(x):
        return np.minimum(np.maximum(x, 0.5), 1.5) + np.maximum(0.0, x) + np.minimum(x, 2 * x)

    sdfg = dcpy.program(limited).to_sdfg(np.ones(4))
    driver.auto_optimize(sdfg)
    check("limited", *unit_and_headers(sdfg), compiler(), "sm_90")


@pytest.mark.parametrize("name", ["jacobi_2d", "softmax"])
def test_kernels_fit_a_chip_of_amd(name):
    check(name, *units_of(name), chips.hipcc(), "gfx90a")


@pytest.mark.heavy
@pytest.mark.parametrize("name", kernels())
def test_kernels_fit_all_chips(name):
    fit_all(name, chips.nvrtc(), chips.NVIDIA)


@pytest.mark.heavy
@pytest.mark.parametrize("name", kernels())
def test_kernels_fit_all_chips_of_amd(name):
    fit_all(name, chips.hipcc(), chips.AMD)


def fit_all(name, compiler, architectures):
    try:
        found = units_of(name)
    except CodegenError as error:
        pytest.skip(f"not generated: {error.message}")
    if found is None:
        pytest.skip("the program has no kernel")
    for arch in architectures:
        check(name, *found, compiler, arch)
