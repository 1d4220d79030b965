"""Programs for GPUs, in the simulator: values, dtypes, layouts, results and exceptions as NumPy's."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import DeviceError
from dcpy.targets.catalog import TARGETS
from tests.support import devices

pytestmark = pytest.mark.cc
RNG = np.random.default_rng(3)
GPU = {"device": dcpy.DeviceType.GPU, "gpu_backend": devices.BACKEND}


def gpu(function=None, **options):
    return dcpy.program(function, **GPU, **options) if function else lambda found: gpu(found, **options)


def agree(function, *args, exact=True, **options):
    """Runs a function in Python and on the device, on copies: results and arguments are the same afterwards."""
    here, there = ([arg.copy(order="K") if isinstance(arg, np.ndarray) else arg for arg in args] for _ in range(2))
    program = gpu(function, **options)
    expected, found = function(*here), program(*there)
    compare = np.testing.assert_array_equal if exact else lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13)
    for a, b in zip((*_flat(expected), *here), (*_flat(found), *there), strict=True):
        assert type(a) is type(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        compare(a, b)
    return program


def _flat(result):
    return result if isinstance(result, tuple) else (result,)


def axpy(a, x, y):
    y[:] = a * x + y


def steps(x, n):
    for t in range(n):
        x[1:-1] = (x[:-2] + x[2:]) / 2 + t
    return x.sum(), x > 0.5


def until(x, limit):
    count = 0
    while x.sum() > limit:
        x *= 0.75
        count += 1
    return count


def branch(x):
    if x[0] > x[-1]:
        return x[::-1] * 2
    return x + 1


def take(x, k):
    return x[k] * 2


def scatter(x, k, v):
    x[0] = 7.0
    x[k] = v
    x[1] = 9.0


def nested(x):
    def half(y):
        return y / 2

    return half(x) + half(x[::-1])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "int16", "uint8", "complex128", "complex64"])
def test_elementwise_in_any_dtype(dtype):
    x, y = (RNG.integers(1, 50, 300).astype(dtype) for _ in range(2))
    agree(lambda x, y: x * y + x - y, x, y)


def test_operations_with_meanings_of_their_own():
    x, y = RNG.integers(-20, 20, 200), RNG.integers(-3, 4, 200)
    a = np.array([np.nan, -0.0, 0.0, np.inf, -2.5, 7.0])
    with np.errstate(all="ignore"):
        agree(lambda x, y: (x // y, x % y, np.minimum(x, y), x >> 2, np.sign(x), abs(x), x**2), x, y)
        agree(lambda a, b: (np.maximum(a, b), np.minimum(a, b), a // 2.0, np.sign(a)), a, a[::-1].copy())
        agree(lambda a, b: (a > b, a % 3.0, abs(a), np.isnan(a)), a, a[::-1].copy())
    agree(lambda a: (np.sin(a), np.exp(a), np.sqrt(abs(a)), a.astype(np.int32)), RNG.random(100), exact=False)


@pytest.mark.parametrize("n", [0, 1, 255, 257, 3000])
def test_axpy(n):
    agree(axpy, 2.5, RNG.random(n), RNG.random(n))


def test_layouts():
    x = RNG.random((20, 33))
    agree(lambda x, y: x + y.T, x, RNG.random((33, 20)))
    agree(lambda x: x * 2, np.asfortranarray(x))
    wide = RNG.random((20, 66))
    expected = wide.copy()
    expected[::2, ::-2] += 1.0
    def add(x):
        x += 1.0

    gpu(add)(wide[::2, ::-2])
    np.testing.assert_array_equal(wide, expected)


def test_control_flow_on_the_host_and_results():
    agree(steps, RNG.random(50), 6, exact=False)
    agree(until, RNG.random(64), 3.0, exact=False)
    agree(branch, np.array([1.0, 5.0, 2.0]))
    agree(branch, np.array([3.0, 5.0, 2.0]))
    agree(nested, RNG.random(40))
    agree(lambda x: (x.mean(), x.argmax(), x.max(axis=0), x @ x.T), RNG.random((9, 9)), exact=False)


def test_an_index_that_fails_names_its_line():
    program = gpu(take)
    x = RNG.random(10)
    np.testing.assert_array_equal(program(x, np.array([0, -1, 9])), take(x, np.array([0, -1, 9])))
    with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10") as caught:
        program(x, np.array([0, 10, 3]))
    assert "return x[k] * 2" in "\n".join(caught.value.__notes__)
    np.testing.assert_array_equal(program(x, np.array([4])), x[4:5] * 2)


def test_nothing_behind_a_failed_check_happens():
    x = np.zeros(5)
    with pytest.raises(IndexError):
        gpu(scatter)(x, np.array([2, 8]), np.array([1.0, 2.0]))
    assert x[1] == 0.0


@dcpy.callback
def report(x: np.ndarray) -> None:
    assert x.sum() == 10.0


def test_callbacks_stay_on_the_host():
    def f(x):
        y = x * 2
        report(y)
        return y + 1

    program = gpu(f)
    np.testing.assert_array_equal(program(np.full(5, 1.0)), np.full(5, 3.0))
    assert "report: on the host: devices cannot call it" in program.explain(np.full(5, 1.0))


def test_a_remembered_program_gets_its_device():
    x = RNG.random(10)
    for _ in range(2):
        y = np.ones(10)
        gpu(axpy)(2.0, x, y)
        np.testing.assert_array_equal(y, 2.0 * x + 1.0)
    for seed in (1, 2):
        y = np.ones(10)
        gpu(axpy, gpu_seed=seed, gpu_warp=64)(2.0, x, y)
        np.testing.assert_array_equal(y, 2.0 * x + 1.0)


def test_the_device_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("DCPY_DEVICE", "gpu")
    monkeypatch.setenv("DCPY_GPU_BACKEND", "simulator")
    program = dcpy.program(axpy)
    assert program.options.device is dcpy.DeviceType.GPU
    assert dcpy.program(axpy, device=dcpy.DeviceType.CPU).options.device is dcpy.DeviceType.CPU


def test_too_much_memory():
    def f(n, k):
        x = np.arange(n) * 0.5
        x[k] = 1.0
        return x[k[0] : k[1]].sum()

    k = np.array([3, 10])
    assert gpu(f)(100, k) == f(100, k)
    with pytest.raises(MemoryError):
        gpu(f)(2**36, k)


def test_devices_have_targets():
    assert TARGETS["gpu"].device is dcpy.DeviceType.GPU


def test_code_and_explanation():
    sdfg = gpu(axpy).to_sdfg(1.0, RNG.random(4), RNG.random(4))
    text = sdfg.code(**{"device": "gpu", "gpu.backend": "simulator"})
    assert "(device)" in text
    assert "DCPY_KERNEL(axpy" in text
    assert "typedef struct" not in text
    assert "@grid" in str(sdfg.lower(device="gpu"))
    assert "assign" in sdfg.explain(device="gpu") or "grid" in sdfg.explain(device="gpu")


def test_a_device_that_is_not_there():
    with pytest.raises(DeviceError, match="no GPU"):
        dcpy.program(axpy, device=dcpy.DeviceType.GPU, gpu_driver="/nowhere/libcuda.so")(1.0, np.ones(2), np.ones(2))


def test_programs_for_cpus_load_nothing_of_it(tmp_path):
    (tmp_path / "plain.py").write_text(
        "import sys\nimport numpy as np\nimport dcpy\n\n@dcpy.program\ndef f(x):\n    return x * 2 + 1\n\n"
        "f(np.ones(3))\n"
        "rooms = ('runtime.gpu', 'codegen.gpu', 'emit.gpu_cpp', 'lower.gpu', 'transforms.gpu', 'targets.gpu',\n"
        "         'runtime.fpga', 'codegen.fpga', 'transforms.fpga', 'targets.fpga', 'targets.ranks.target')\n"
        "print([name for name in sys.modules if name.startswith('dcpy.') and any(room in name for room in rooms)])\n"
    )
    environ = {**os.environ, "DCPY_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "plain.py"], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("auto", [False, True])
@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.uint64])
def test_bits_are_combined_where_the_data_say(dtype, auto):
    def toggled(data, index, v):
        for i in range(index.shape[0]):
            data[index[i]] ^= v

    def joined(data, index, v):
        for i in range(index.shape[0]):
            data[index[i]] |= v

    def masked(data, index, v):
        for i in range(index.shape[0]):
            data[index[i]] &= v

    for function in (toggled, joined, masked):
        data, index = np.arange(12).astype(dtype), RNG.integers(0, 12, 40)
        agree(function, data, index, dtype(5), auto_optimize=auto)
