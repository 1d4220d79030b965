"""Streams of calls: whose they are, what waits for what, and that the host does not; in the simulator."""

from __future__ import annotations

import gc
import sys
import threading
from types import ModuleType

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError
from dcpy.runtime.gpu import arrays
from dcpy.runtime.gpu.arrays import ArrayDevice
from dcpy.runtime.gpu.device_table import TO_HOST
from tests.runtime.gpu import producer
from tests.runtime.gpu.kernels import device_of
from tests.runtime.gpu.producer import DeviceArray

pytestmark = pytest.mark.cc
GPU = {"device": dcpy.DeviceType.GPU, "gpu_backend": "simulator", "auto_optimize": True}
HERE, THERE = 0x7000, 0x7010


@dcpy.program(**GPU)
def grow(x):
    x[:] = 2 * x + 1
    return x + 0.5


@dcpy.program(**GPU)
def total(x):
    return x.sum()


@pytest.fixture(scope="module")
def library():
    return device_of()


@pytest.fixture
def waits(monkeypatch):
    """The streams that the runtime waits for."""
    found: list[int] = []
    wait = ArrayDevice.wait_for
    monkeypatch.setattr(ArrayDevice, "wait_for", lambda self, stream: (found.append(stream), wait(self, stream)))
    return found


def seen(device, array, stream=None) -> np.ndarray:
    """What is in the memory of an array when a consumer's stream has done all that it has to wait for."""
    taken = producer.take(array.__dlpack__(stream=stream))
    found = np.full(taken.shape, -1.0)
    device.use_stream(stream if stream and stream > 0 else THERE)
    device.copy(found.ctypes.data, taken.place, found.nbytes, TO_HOST)
    device.wait()
    taken.give_back()
    return found


def there(library, stream, **rest):
    """An array of a library that works on a stream, and says so."""
    return DeviceArray(library, np.arange(4.0), stream=stream, protocols="cuda", **rest)


def test_a_call_is_on_the_stream_of_its_array(library):
    assert grow(there(library, HERE)).stream == HERE
    assert grow(there(library, THERE)).stream == THERE


def test_a_consumer_waits_on_the_device(library):
    device = device_of()
    found = grow(there(library, HERE))
    assert np.array_equal(seen(device, found, THERE), 2 * np.arange(4.0) + 1.5)


def test_a_consumer_that_asks_for_no_order_finds_nothing(library):
    device = device_of()
    found = grow(there(library, HERE))
    assert not np.array_equal(seen(device, found, -1), 2 * np.arange(4.0) + 1.5)
    assert np.array_equal(found.numpy(), 2 * np.arange(4.0) + 1.5)


def test_calls_do_not_wait(library, waits):
    x = there(library, HERE)
    grow(grow(x))
    assert waits == []
    dcpy.gpu.synchronize()
    assert HERE in waits
    assert np.array_equal(x.numpy(), 2 * np.arange(4.0) + 1)


def test_numbers_are_waited_for(library):
    assert total(there(library, HERE)) == 6


def test_libraries_that_tell_no_stream_are_waited_for(library, waits):
    array = DeviceArray(library, np.arange(4.0), protocols="dlpack")
    found = grow(array)
    assert waits == [found.stream]
    assert array.asked_by == [found.stream]


def test_a_given_stream(library):
    array = there(library, HERE)
    with dcpy.gpu.stream(THERE):
        found = grow(array)
        with dcpy.gpu.stream(None):
            assert grow(there(library, HERE)).stream == HERE
    assert found.stream == THERE
    assert np.array_equal(seen(device_of(), found, HERE), 2 * np.arange(4.0) + 1.5)
    assert grow(array).stream == HERE


def test_arrays_of_two_streams(library):
    @dcpy.program(**GPU)
    def add(x, y):
        y[:] = x + y

    x, y = there(library, HERE), there(library, THERE)
    grow(y)  # on THERE
    add(x, y)  # on HERE, behind it
    wanted = np.arange(4.0) + 2 * np.arange(4.0) + 1
    device, found = device_of(), np.zeros(4)
    device.use_stream(THERE)  # the library of y goes on behind the call
    device.copy(found.ctypes.data, y.place, found.nbytes, TO_HOST)
    device.wait()
    assert np.array_equal(found, wanted)


def test_results_are_used_behind_the_calls_that_made_them(library):
    first = dcpy.gpu.array(np.arange(4.0), backend="simulator")
    with dcpy.gpu.stream(HERE):
        found = grow(first)
    with dcpy.gpu.stream(THERE):
        last = grow(found)
    assert np.array_equal(last.numpy(), 2 * (2 * np.arange(4.0) + 1.5) + 1.5)


class Stream:
    def __init__(self, **names):
        self.__dict__.update(names)


class Protocol:
    def __cuda_stream__(self):
        return 0, HERE


STREAMS = {"number": HERE, "ptr": Stream(ptr=HERE), "cuda_stream": Stream(cuda_stream=HERE), "protocol": Protocol()}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_what_names_a_stream(library, stream):
    with dcpy.gpu.stream(stream):
        assert grow(there(library, THERE)).stream == HERE


@pytest.mark.parametrize("stream", ["HERE", -3, True, Stream()], ids=["text", "negative", "flag", "nothing"])
def test_what_names_none(stream):
    with pytest.raises(ArgumentError, match="is no"), dcpy.gpu.stream(stream):
        pass


def test_the_default_stream():
    with dcpy.gpu.stream(0):
        assert grow(dcpy.gpu.array(np.arange(4.0), backend="simulator")).stream == 1


def test_streams_are_of_a_thread(library):
    found: list[int] = []

    def run():
        found.append(grow(there(library, HERE)).stream)

    with dcpy.gpu.stream(THERE):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert found == [HERE]


def test_threads_call_one_program(library):
    wrong: list[int] = []

    def run(stream):
        for _ in range(10):
            found = grow(there(library, stream)).numpy()
            if not np.array_equal(found, 2 * np.arange(4.0) + 1.5):
                wrong.append(stream)

    threads = [threading.Thread(target=run, args=(0x8000 + 16 * k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.fixture
def made_library(library, monkeypatch):
    """A library with a current stream, and ``from_dlpack``: what is known of CuPy and PyTorch, without them."""
    module = ModuleType("made_library")

    class Array(DeviceArray):
        pass

    def from_dlpack(found):
        result = Array.__new__(Array)
        result.came_from = found
        return result

    Array.__module__, module.from_dlpack = "made_library", from_dlpack
    Array.__getattribute__ = DeviceArray.__getattribute__
    monkeypatch.setitem(sys.modules, "made_library", module)
    monkeypatch.setitem(arrays._STREAMS, "made_library", lambda number: HERE)
    return Array


def test_results_are_of_the_callers_kind(library, made_library):
    x = made_library(library, np.arange(4.0), protocols="dlpack")
    found = grow(x)
    assert type(found) is made_library
    assert found.came_from.stream == HERE
    assert x.asked_by == [HERE]
    assert np.array_equal(found.came_from.numpy(), 2 * np.arange(4.0) + 1.5)
    assert isinstance(grow(there(library, HERE)), dcpy.gpu.DeviceArray)
    gc.collect()
