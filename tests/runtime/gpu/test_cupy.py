"""CuPy's arrays, current device and stream, and memory pool in calls; by a stand-in, on the simulated GPU."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, DeviceMemoryError
from tests.runtime.gpu import producer
from tests.runtime.gpu.kernels import device_of
from tests.support.cupy_stand_in import Cupy

pytestmark = pytest.mark.cc
GPU = {"device": dcpy.DeviceType.GPU, "gpu_backend": "simulator", "auto_optimize": True}
X = np.arange(6.0)
THERE = 0x7010


@dcpy.program(**GPU)
def step(x, y):
    y[:] = 2 * x + y
    return y * x


@dcpy.program(**GPU)
def grow(x):
    return 2 * x + 1


@dcpy.program(**GPU)
def chosen(x):
    return x[x > 2]


@pytest.fixture(name="memory", scope="module")
def memory_of_one_device():
    return device_of()


@pytest.fixture(name="library")
def stand_in(memory, monkeypatch):
    made = Cupy(memory)
    monkeypatch.setitem(sys.modules, "cupy", made.module)
    yield made
    dcpy.gpu.synchronize()
    gc.collect()
    assert producer.exports() == 0
    assert producer.faults() == []
    assert made.pool.used_bytes() == 0


@pytest.fixture(name="cupy")
def module(library):
    return library.module


def test_arrays_go_in_and_come_out_in_place(cupy):
    x, y = cupy.asarray(X), cupy.asarray(np.ones(6))
    place = y.data.ptr
    found = step(x, y)
    assert isinstance(found, cupy.ndarray)
    assert np.array_equal(cupy.asnumpy(found), (2 * X + 1) * X)
    assert np.array_equal(cupy.asnumpy(y), 2 * X + 1)
    assert y.data.ptr == place


def test_results_are_memory_of_the_pool(library, cupy):
    found = grow(cupy.asarray(X))
    assert library.pool.used == {found.data.ptr: X.nbytes}
    assert np.array_equal(found.get(), 2 * X + 1)
    place = found.data.ptr
    del found
    gc.collect()
    assert (library.pool.used_bytes(), library.pool.free_bytes()) == (0, X.nbytes)
    assert grow(cupy.asarray(X)).data.ptr == place  # lent again


def test_results_whose_size_is_found_out_are_memory_of_the_pool(library, cupy):
    found = chosen(cupy.asarray(X))
    assert isinstance(found, cupy.ndarray)
    assert list(library.pool.used) == [found.data.ptr]
    assert np.array_equal(found.get(), X[X > 2])


def test_calls_are_on_the_current_stream(library, cupy):
    x = cupy.asarray(X)
    assert np.array_equal(grow(x).get(), 2 * X + 1)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        y = cupy.asarray(X)
        found = grow(y)
        assert np.array_equal(found.get(), 2 * X + 1)
    assert (x.asked_by, y.asked_by) == ([1], [stream.ptr])
    del found
    gc.collect()
    assert set(library.pool.free) == {(0, 0), (0, stream.ptr)}


def test_the_current_allocator_is_asked(library, cupy):
    asked: list[int] = []
    library.allocator = lambda size: (asked.append(size), library.pool.malloc(size))[1]
    grow(cupy.asarray(X))
    assert asked == [X.nbytes]


def test_a_given_stream_is_that_of_the_allocation(library, cupy):
    x = cupy.asarray(X)
    with dcpy.gpu.stream(THERE):
        found = grow(x)
    assert np.array_equal(found.get(), 2 * X + 1)
    del found
    gc.collect()
    assert [arena for arena, chunks in library.pool.free.items() if chunks] == [(0, THERE)]
    assert library.stream.ptr == 0


def test_the_device_of_the_array_decides(library, cupy):
    with cupy.cuda.Stream() as stream:
        x = cupy.asarray(X)
        with cupy.cuda.Device(1), cupy.cuda.Stream():
            found = grow(x)
            assert library.device == 1
        assert np.array_equal(found.get(), 2 * X + 1)
    assert x.asked_by == [stream.ptr]  # of device 0
    assert library.allocated_on == [0]


def test_an_array_of_another_device_is_refused(cupy):
    x = cupy.asarray(X)
    x.device = 1
    with pytest.raises(ArgumentError, match=r"'x' is a cupy.*it is on device 1, but the program runs on") as error:
        grow(x)
    assert "CUDA_VISIBLE_DEVICES" in error.value.help


def test_a_full_pool_is_an_error(library, cupy):
    library.pool.limit = 10
    with pytest.raises(DeviceMemoryError, match="CuPy's allocator has no 48 bytes") as error:
        grow(cupy.asarray(X))
    assert "free_all_blocks" in error.value.help
    assert error.value.notes == ("Out of memory allocating 48 bytes",)
    library.pool.limit = 1 << 20
    assert np.array_equal(grow(cupy.asarray(X)).get(), 2 * X + 1)


def test_arrays_of_numpy_have_nothing_to_do_with_it(library):
    assert isinstance(grow(X), np.ndarray)
    assert isinstance(grow(dcpy.gpu.array(X, backend="simulator")), dcpy.gpu.DeviceArray)
    assert library.allocated_on == []
