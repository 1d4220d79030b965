"""Kernels of NPBench in single precision on the simulated GPU: values and dtypes are NumPy's."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dcpy
from benchmarks.npbench import kernels
from tests.benchmarks.test_gpu import compare
from tests.support import devices

pytestmark = pytest.mark.cc
KERNELS = kernels()
NAMES = ("atax", "bicg", "covariance2", "fdtd_2d", "gemm", "gesummv", "heat_3d", "jacobi_1d", "jacobi_2d", "mvt")


def in_single_precision(arguments):
    """Arrays of float64 and numbers of NumPy's become float32; Python's numbers take the dtype of the others."""

    def single(value):
        is_double = getattr(value, "dtype", None) == np.float64
        return value.astype(np.float32) if is_double else value

    return {name: single(value) for name, value in arguments.items()}


@pytest.mark.parametrize("name", NAMES)
def test_equals_numpy(name):
    kernel = KERNELS[name]
    here = in_single_precision(kernel.initialize("XS"))
    there = copy.deepcopy(here)
    assert any(getattr(value, "dtype", None) == np.float32 for value in here.values())
    program = dcpy.program(kernel.function, device=dcpy.DeviceType.GPU, gpu_backend=devices.BACKEND, auto_optimize=True)
    compare(kernel.function(**here), program(**there))
    compare(tuple(here.values()), tuple(there.values()))
