"""Arrays of the device inside of tuples and dataclass objects, and as samples for `compile`; in the simulator."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, ReadOnlyArgument
from tests.runtime.gpu import producer
from tests.runtime.gpu.kernels import device_of as memory_of_another_library
from tests.runtime.gpu.producer import DeviceArray

pytestmark = pytest.mark.cc
GPU = {"device": dcpy.DeviceType.GPU, "gpu_backend": "simulator", "auto_optimize": True}


@pytest.fixture(scope="module")
def library():
    return memory_of_another_library()


@pytest.fixture(autouse=True)
def all_is_given_back():
    yield
    gc.collect()
    assert producer.exports() == 0
    assert producer.faults() == []


@dcpy.program(**GPU)
def step(pair):
    pair[1][:] = 2 * pair[0] + pair[1]
    return pair[1] * pair[0]


def ours(values):
    return dcpy.gpu.array(values, backend="simulator")


def on_host(array):
    return array if isinstance(array, np.ndarray) else array.numpy()


@pytest.mark.parametrize("there", ["both", "first", "second", "none"])
def test_a_tuple(library, there):
    x, y = np.arange(4.0), np.ones(4)
    arrays = [DeviceArray(library, x), DeviceArray(library, y)]
    pair = (x if there in ("second", "none") else arrays[0], y if there in ("first", "none") else arrays[1])
    found = step(pair)
    assert np.array_equal(on_host(found), [0, 3, 10, 21])
    assert np.array_equal(on_host(pair[1]), [1, 3, 5, 7])
    assert isinstance(found, np.ndarray) == (there == "none")


def test_any_number_of_arguments(library):
    @dcpy.program(**GPU)
    def total(*arrays):
        return arrays[0] + arrays[1] * arrays[-1]

    x = DeviceArray(library, np.arange(3.0))
    assert np.array_equal(total(x, ours(np.ones(3)), np.full(3, 2.0)).numpy(), [2, 3, 4])
    assert len(x.asked_by) == 1  # for the types and the call
    assert np.array_equal(total(x, x).numpy(), [0, 2, 6])


@dataclass
class Field:
    values: Any
    origin: tuple[Any, float]
    name: str = "unused"


def advance(field):
    field.values[:] = field.values + field.origin[1]
    field.origin = (field.origin[0] * 2, 1.5)
    return field


def test_an_object_and_its_fields(library):
    values, origin = DeviceArray(library, np.arange(3.0)), ours(np.ones(2))
    field = Field(values, (origin, 0.5))
    program = dcpy.program(advance, **GPU)
    for factor in (2, 4):
        assert program(field) is field
        assert field.values is values
        assert isinstance(field.origin[0], dcpy.gpu.DeviceArray)
        assert np.array_equal(field.origin[0].numpy(), np.ones(2) * factor)
    assert np.array_equal(values.numpy(), [2, 3, 4])
    assert len(program._specializer.compiled_for) == 1


class Pair(NamedTuple):
    x: Any
    y: Any


def test_a_named_tuple_with_parts_that_overlap(library):
    x = np.arange(5.0)
    there = DeviceArray(library, x)
    step(Pair(there.view(np.s_[:-1]), there.view(np.s_[1:])))
    dcpy.gpu.synchronize()
    step.function((x[:-1], x[1:]))
    assert np.array_equal(there.numpy(), x)


def test_errors_name_the_part(library):
    elsewhere = DeviceArray(library, np.ones(3))
    elsewhere.__class__ = type("Elsewhere", (DeviceArray,), {"__dlpack_device__": lambda self: (2, 1)})
    for _ in range(2):  # when it is compiled, and when it has been
        with pytest.raises(ArgumentError, match=r"argument 'pair\[1\]' is a .*Elsewhere.* it is on device 1"):
            step((DeviceArray(library, np.ones(3)), elsewhere))
        step((ours(np.ones(3)), ours(np.ones(3))))
    with pytest.raises(ReadOnlyArgument, match=r"argument 'pair\[1\]' is read-only"):
        step((ours(np.ones(3)), DeviceArray(library, np.ones(3), read_only=True)))


def test_a_list_is_none(library):
    with pytest.raises(ArgumentError, match="is a list, but an array is needed") as caught:
        step([ours(np.ones(3)), ours(np.ones(3))])
    assert "pass a tuple" in str(caught.value)


# -- ahead of time ----------------------------------------------------------------------------------------------------


def test_samples_for_compile(library):
    @dcpy.program(**GPU)
    def scaled(x, factor):
        return x * factor

    compiled = scaled.compile(DeviceArray(library, np.ones((2, 3))), 2.0)
    assert "@global" in str(scaled.to_sdfg(ours(np.ones((2, 3))), 2.0))
    x = DeviceArray(library, np.arange(8.0).reshape(4, 2))
    assert np.array_equal(compiled(x, 3.0).numpy(), x.numpy() * 3)
    with pytest.raises(ArgumentError, match="argument 'x' is an array of NumPy's, but one in the memory"):
        compiled(np.ones((2, 2)), 1.0)
    assert "kernel" in scaled.explain(x, 2.0)


def test_samples_inside_of_tuples(library):
    compiled = step.compile((ours(np.ones(3)), DeviceArray(library, np.ones(3))))
    x, y = DeviceArray(library, np.arange(4.0)), ours(np.ones(4))
    assert np.array_equal(compiled((x, y)).numpy(), [0, 3, 10, 21])
    assert np.array_equal(y.numpy(), [1, 3, 5, 7])
    with pytest.raises(ArgumentError, match=r"argument 'pair\[0\]' is an array of NumPy's"):
        compiled((np.ones(4), y))
