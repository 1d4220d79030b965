"""The fake producer keeps the rules of DLPack and `__cuda_array_interface__`, and sees who does not."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from dcpy.base.errors import DeviceError
from tests.runtime.gpu import producer
from tests.runtime.gpu.kernels import AXPY, compiled, device_of, number, place
from tests.runtime.gpu.producer import BrokenRule, DeviceArray, take

pytestmark = pytest.mark.cc
VALUES = np.arange(24.0).reshape(4, 6)


@pytest.fixture
def device():
    found = device_of()
    yield found
    gc.collect()
    assert producer.exports() == 0
    assert producer.faults() == []


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8", "complex128", "bool"])
def test_a_tensor_is_the_array(device, dtype, version):
    array = DeviceArray(device, VALUES.astype(dtype))
    tensor = take(array.__dlpack__(stream=1, max_version=version))
    assert (tensor.shape, tensor.dtype, tensor.place) == ((4, 6), np.dtype(dtype), array.place)
    assert tensor.strides == array.strides
    tensor.give_back()


def test_memory_outlives_its_array_until_the_tensor_is_given_back(device):
    array = DeviceArray(device, VALUES)
    tensor = take(array.__dlpack__(stream=1))
    memory = array.memory
    array.delete()
    assert memory.place != 0
    assert np.array_equal(device.download(tensor.place, VALUES), VALUES)
    tensor.give_back()
    assert memory.place == 0


def test_a_capsule_that_nobody_takes_gives_back_itself(device):
    array = DeviceArray(device, VALUES)
    capsule = array.__dlpack__(stream=1, max_version=(1, 0))
    assert producer.exports() == 1
    del capsule
    gc.collect()
    assert producer.exports() == 0


def test_a_tensor_that_is_given_back_twice(device):
    tensor = take(DeviceArray(device, VALUES).__dlpack__(stream=1))
    tensor.give_back()
    tensor.give_back()
    assert producer.faults() == ["the deleter of a tensor is called twice"]


def test_a_capsule_is_taken_once(device):
    capsule = DeviceArray(device, VALUES).__dlpack__(stream=1)
    tensor = take(capsule)
    with pytest.raises(BrokenRule, match="a second time"):
        take(capsule)
    tensor.give_back()


def test_read_only_arrays(device):
    array = DeviceArray(device, VALUES, read_only=True)
    assert array.__cuda_array_interface__["data"] == (array.place, True)
    with pytest.raises(BufferError, match="read-only"):
        array.__dlpack__(stream=1)
    tensor = take(array.__dlpack__(stream=1, max_version=(1, 0)))
    assert tensor.read_only
    tensor.give_back()


def test_a_copy_is_memory_of_its_own(device):
    array = DeviceArray(device, VALUES, read_only=True)
    tensor = take(array.__dlpack__(stream=1, max_version=(1, 0), copy=True))
    assert (tensor.read_only, tensor.is_copied) == (False, True)
    assert tensor.place != array.place
    assert np.array_equal(device.download(tensor.place, VALUES), VALUES)
    tensor.give_back()


def test_streams(device):
    array = DeviceArray(device, VALUES, stream=77)
    assert array.__cuda_array_interface__["stream"] == 77
    for stream in (None, -1, 1, 2, 12345):
        take(array.__dlpack__(stream=stream)).give_back()
    assert array.asked_by == [None, -1, 1, 2, 12345]
    with pytest.raises(ValueError, match="stream 0"):
        array.__dlpack__(stream=0)


def test_other_devices(device):
    array = DeviceArray(device, VALUES)
    assert array.__dlpack_device__() == (producer.CUDA, 0)
    with pytest.raises(BufferError, match="cannot be exported"):
        array.__dlpack__(dl_device=(producer.CPU, 0))


@pytest.mark.parametrize("index", [(slice(None, None, 2),), (1,), (slice(None), slice(5, 1, -2)), (2, 3)])
def test_views_hold_the_memory(device, index):
    array = DeviceArray(device, VALUES)
    view = array.view(*index)
    array.delete()
    assert np.array_equal(view.numpy(), VALUES[index])
    strides = view.__cuda_array_interface__["strides"]
    assert strides in (None, VALUES[index].strides)
    tensor = take(view.__dlpack__(stream=1))
    assert (tensor.place, tensor.shape) == (view.place, VALUES[index].shape)
    tensor.give_back()


def test_one_protocol_alone(device):
    assert not hasattr(DeviceArray(device, VALUES, protocols="dlpack"), "__cuda_array_interface__")
    assert not hasattr(DeviceArray(device, VALUES, protocols="cuda"), "__dlpack__")


def test_an_empty_array_has_no_place(device):
    assert DeviceArray(device, np.zeros((0, 3))).__cuda_array_interface__["data"] == (0, False)


def test_kernels_of_another_program_take_it(device):
    """One memory for all programs of a process, as on a device."""
    x, y = DeviceArray(device, np.ones(100)), DeviceArray(device, np.arange(100.0))
    other = device_of(compiled(AXPY, "DCPY_ROW(axpy, 256, 0)"), seed=1)
    other.launch(0, [1], [256], (number(2.0), place(x.place), place(y.place), number(100)))
    other.wait()
    assert np.array_equal(y.numpy(), np.arange(100.0) + 2)
    there = x.place
    x.delete()
    with pytest.raises(DeviceError, match="use after release"):
        other.launch(0, [1], [256], (number(2.0), place(there), place(y.place), number(100)))
