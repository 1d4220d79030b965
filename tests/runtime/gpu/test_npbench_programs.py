"""NPBench on CUDA's and HIP's side of the table, without a device: machine code from NVRTC or hipcc, copies, launches
and waits by the code that runs on a device, and a driver that runs commands when somebody waits, and not before.
"""

from __future__ import annotations

import copy

import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy.runtime.gpu import device_selection
from tests.benchmarks.test_gpu import KERNELS, SLOW, compare
from tests.runtime.gpu import chips
from tests.runtime.gpu.fakes import FakeDriver

pytestmark = pytest.mark.cc
SOME = ("atax", "azimint_hist", "gemm", "jacobi_2d", "softmax")


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """Runs a kernel of NPBench as Python does, and on a driver; results and arguments of both."""

    def run(name, backend, find):
        find()
        fake = FakeDriver(tmp_path, backend, warp=32 if backend == "cuda" else 64)
        plain = device_selection.device_build

        def build(artifact, options):
            if artifact.kernels:
                fake.runs(artifact)
            return plain(artifact, options)

        monkeypatch.setattr(device_selection, "device_build", build)
        kernel = kernels()[name]
        here, there = (copy.deepcopy(kernel.initialize("XS")) for _ in range(2))
        options = {"gpu_backend": backend, "gpu_driver": str(fake.path), "cache_dir": str(tmp_path / "cache")}
        program = dcpy.program(kernel.function, device=dcpy.DeviceType.GPU, **options)
        results = (kernel.function(**here), here), (program(**there), there)
        assert fake.log("launch")
        return results

    return run


def check(results):
    (expected, before), (found, after) = results
    compare(expected, found)
    compare(tuple(before.values()), tuple(after.values()))


@pytest.mark.parametrize("name", SOME)
def test_cuda_equals_numpy(calls, name):
    check(calls(name, "cuda", chips.nvrtc))


def test_hip_equals_numpy(calls):
    check(calls("jacobi_2d", "hip", chips.hipcc))


@pytest.mark.heavy
@pytest.mark.parametrize("name", [name for name in KERNELS if name not in (*SLOW, *SOME, "crc16", "seidel_2d")])
def test_all_of_cuda_equal_numpy(calls, name):
    check(calls(name, "cuda", chips.nvrtc))
