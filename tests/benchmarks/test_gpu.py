"""All kernels of NPBench on the simulated GPU, unchanged: what they compute is what NumPy computes."""

import copy

import numpy as np
import pytest

import dcpy
from benchmarks.npbench import kernels
from tests.support import devices
from tests.support.tiers import quick_flags, some

pytestmark = pytest.mark.cc
KERNELS = kernels()
SLOW = ("nbody", "scattering_self_energies", "resnet", "lenet", "adi", "channel_flow")  # many kernels, or many points


def on_gpu(name, **options):
    """Result and arguments afterwards, in Python and on the device."""
    kernel = KERNELS[name]
    here, there = (copy.deepcopy(kernel.initialize("XS")) for _ in range(2))
    program = dcpy.program(kernel.function, device=dcpy.DeviceType.GPU, gpu_backend=devices.BACKEND, **options)
    return (kernel.function(**here), here), (program(**there), there)


def compare(expected, found):
    if isinstance(expected, tuple):
        assert len(expected) == len(found)
        for one, other in zip(expected, found, strict=True):
            compare(one, other)
    elif expected is None:
        assert found is None
    else:
        one, other = np.asarray(expected), np.asarray(found)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        tolerance = 2e-5 if one.dtype in (np.float32, np.complex64) else 1e-10
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", some(KERNELS, *(name for name in KERNELS if name not in SLOW)))
def test_equals_numpy(name):
    (result, before), (found, after) = on_gpu(name, cpu_flags=quick_flags())
    compare(result, found)
    compare(tuple(before.values()), tuple(after.values()))


@pytest.mark.parametrize("name", some(KERNELS, "atax", "azimint_hist", "softmax"))  # what warps and blocks share
def test_in_other_orders_and_optimized(name):
    (result, before), (found, after) = on_gpu(name, gpu_warp=64, gpu_seed=5, auto_optimize=True)
    compare(result, found)
    compare(tuple(before.values()), tuple(after.values()))
