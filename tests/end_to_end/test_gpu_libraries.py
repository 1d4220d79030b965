"""CuPy, PyTorch and JAX: their arrays in programs for GPUs, and programs' results in them. Needs a device, and them."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy

pytestmark = [pytest.mark.cc, pytest.mark.gpu]
X = np.arange(1000.0)


@dcpy.program(auto_optimize=True, device=dcpy.DeviceType.GPU)
def step(x, y):
    y[:] = 2 * x + y
    return y * x


@dcpy.program(auto_optimize=True, device=dcpy.DeviceType.GPU)
def scaled(x):
    return 3 * x, x[1:]


def test_cupy():
    cupy = pytest.importorskip("cupy")
    x, y = cupy.asarray(X), cupy.ones(1000)
    place = y.data.ptr
    with cupy.cuda.Stream(non_blocking=True):
        found = step(x, y) + 1  # no wait between the program and CuPy's kernel
        assert isinstance(found, cupy.ndarray)
        assert np.array_equal(cupy.asnumpy(found), (2 * X + 1) * X + 1)
    assert (y.data.ptr, scaled(x)[1].data.ptr) == (place, x.data.ptr + 8)


def test_results_are_memory_of_cupys_pool():
    cupy = pytest.importorskip("cupy")
    pool = cupy.cuda.MemoryPool()
    with cupy.cuda.using_allocator(pool.malloc), cupy.cuda.Stream(non_blocking=True):
        x = cupy.asarray(X)
        before = pool.used_bytes()
        found, _ = scaled(x)
        assert pool.used_bytes() >= before + X.nbytes
        assert np.array_equal(cupy.asnumpy(found), 3 * X)
        place = found.data.ptr
        del found, _
        assert pool.used_bytes() == before
        assert scaled(x)[0].data.ptr == place
    if cupy.cuda.runtime.getDeviceCount() > 1:
        with cupy.cuda.Device(1):
            assert np.array_equal(cupy.asnumpy(scaled(x)[0]), 3 * X)
            with pytest.raises(dcpy.ArgumentError, match="on device 1"):
                scaled(cupy.asarray(X))


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(1000.0, dtype=torch.float64, device="cuda")
    y = torch.ones(1000, dtype=torch.float64, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        found = step(x, y) + 1
    torch.cuda.synchronize()
    assert isinstance(found, torch.Tensor)
    assert np.array_equal(found.cpu().numpy(), (2 * X + 1) * X + 1)
    with pytest.raises(dcpy.ArgumentError, match="grad"):
        step(x, torch.ones(1000, dtype=torch.float64, device="cuda", requires_grad=True))


def test_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    x = jax.numpy.arange(1000.0)
    found, _ = scaled(x)
    assert isinstance(found, jax.Array)
    assert np.array_equal(np.asarray(found + 1), 3 * X + 1)
    with pytest.raises(dcpy.ReadOnlyArgument, match="return"):
        step(x, x)


def test_all_together():
    cupy, torch = pytest.importorskip("cupy"), pytest.importorskip("torch")
    x, y = cupy.asarray(X), torch.ones(1000, dtype=torch.float64, device="cuda")
    found = step(x, y)
    assert isinstance(found, cupy.ndarray)
    assert np.array_equal(cupy.asnumpy(found), (2 * X + 1) * X)
    assert isinstance(torch.from_dlpack(dcpy.gpu.array(X)), torch.Tensor)
