"""Passes for GPUs that are choices: programs mean the same without each of them, on kernels where it does something."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dcpy
from benchmarks.device_campaign.of_kernels import passes_of
from benchmarks.device_campaign.steps import choices
from benchmarks.npbench import kernels
from tests.support import devices
from tests.support.tiers import some

pytestmark = pytest.mark.cc
WHERE = {
    "histogram-privatization": "azimint_hist",
    "overlapped-tiles": "jacobi_1d",
    "kernel-fusion": "jacobi_1d",
    "loops-into-kernels": "deriche",
    "recompute-in-kernels": "softmax",
    "reduce-to-blocks": "softmax",
    "persistent-kernel": "jacobi_1d",
    "transposed-tiles": "mandelbrot2",
    "vector-loads": "jacobi_1d",
    "kernel-union": "floyd_warshall",
    "graph-capture": "jacobi_1d",
}


def test_each_choice_has_a_kernel():
    assert set(choices()) == {*WHERE}


@pytest.mark.parametrize("name", some(WHERE, "overlapped-tiles", "kernel-fusion", "reduce-to-blocks", "kernel-union"))
def test_the_same_without(name):
    kernel = kernels()[WHERE[name]]
    assert passes_of(kernel, "XS")[name] > 0
    options = {"device": dcpy.DeviceType.GPU, "gpu_backend": devices.BACKEND, "auto_optimize": True}
    program = dcpy.program(kernel.function, overrides=(f"{name}=off",), **options)
    here, there = (copy.deepcopy(kernel.initialize("XS")) for _ in range(2))
    expected, found = kernel.function(**here), program(**there)
    if expected is not None:
        for one, other in zip(np.atleast_1d(expected), np.atleast_1d(found), strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-8)
    for one, other in zip(here.values(), there.values(), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-8)
