"""Arrays of the device in calls: read and written in place, results of the caller's kind; in the simulator."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, ArgumentShapeError, ReadOnlyArgument
from dcpy.runtime.gpu.arrays import device_of
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
def step(x, y):
    y[:] = 2 * x + y
    return y * x


@dcpy.program(**GPU)
def parts(x):
    return x, x[1:], x * 2


@dcpy.program(**GPU)
def sweep(x):
    for i in range(1, len(x)):
        x[i] = x[i - 1] + x[i]
    if x[2] > 0:
        x[0] = -1
    return x + 1


def values(n=6):
    return np.arange(float(n)), np.linspace(3, 4, n)


@pytest.mark.parametrize("protocols", ["dlpack", "cuda", "dlpack cuda"])
def test_arrays_are_used_in_place(library, protocols):
    x, y = values()
    there = [DeviceArray(library, one, protocols=protocols) for one in (x, y)]
    before = there[1].place
    found = step(*there)
    expected = step.function(x, y)
    assert np.array_equal(found.numpy(), expected)
    assert np.array_equal(there[1].numpy(), y)
    assert there[1].place == before


INDICES = (np.s_[1::2], np.s_[::-1], np.s_[3:], np.s_[:, 1], np.s_[:, ::-2], np.s_[2:2])


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_strides_and_offsets(library, index):
    index = index if isinstance(index, tuple) else (index,)
    x, y = (np.random.default_rng(k).random((8, 5)) for k in (1, 2))
    there = [DeviceArray(library, one) for one in (x, y)]
    expected = step.function(x[index], y[index])
    found = step(*(one.view(*index) for one in there))
    assert np.array_equal(found.numpy(), expected)
    assert np.array_equal(there[1].numpy(), y)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "complex128", "bool"])
def test_dtypes(library, dtype):
    x = np.array([0, 1, 1, 3]).astype(dtype)
    _, rest, double = parts(DeviceArray(library, x))
    assert np.array_equal(rest.numpy(), x[1:])
    assert np.array_equal(double.numpy(), x * 2)
    assert (rest.dtype, double.dtype) == (x.dtype, (x * 2).dtype)


def test_arrays_of_the_host_are_copied_and_others_are_not(library):
    x, y = values()
    expected = step.function(x, wanted := y.copy())
    there = DeviceArray(library, y)
    assert np.array_equal(step(x, there).numpy(), expected)
    assert np.array_equal(there.numpy(), wanted)
    found = step(DeviceArray(library, x), y)
    assert np.array_equal(found.numpy(), expected)
    assert np.array_equal(y, wanted)


def test_arrays_of_numpy_stay_such(library):
    x, y = values()
    assert isinstance(step(x, y), np.ndarray)
    assert isinstance(step(DeviceArray(library, x), y), dcpy.gpu.DeviceArray)
    assert isinstance(step(x, y), np.ndarray)


def test_arguments_and_views_are_the_callers(library):
    x = DeviceArray(library, np.arange(6.0))
    same, rest, _ = parts(x)
    assert same is x
    assert rest.place == x.place + 8
    x.delete()
    del x, same
    gc.collect()
    assert np.array_equal(rest.numpy(), np.arange(1.0, 6.0))  # a view holds the memory


def test_results_go_into_other_calls(library):
    x = dcpy.gpu.array(np.arange(6.0), backend="simulator")
    _, rest, double = parts(x)
    assert np.array_equal(parts(double)[2].numpy(), np.arange(6.0) * 4)
    y = dcpy.gpu.array(np.ones(5), backend="simulator")
    assert np.array_equal(step(rest, y).numpy(), (2 * np.arange(1.0, 6.0) + 1) * np.arange(1.0, 6.0))


def test_what_the_host_does_is_done_on_a_copy(library):
    x = np.array([1.0, 2.0, 3.0, 4.0])
    there = DeviceArray(library, x)
    expected = sweep.function(x)
    assert np.array_equal(sweep(there).numpy(), expected)
    assert np.array_equal(there.numpy(), x)


def test_scalars_are_numbers_and_wait(library):
    @dcpy.program(**GPU)
    def total(x):
        return x.sum(), x.max(axis=0)

    found, most = total(DeviceArray(library, np.arange(12.0).reshape(3, 4)))
    assert type(found) is np.float64
    assert found == 66
    assert np.array_equal(most.numpy(), [8, 9, 10, 11])


def test_results_whose_size_the_data_decide(library):
    @dcpy.program(**GPU)
    def chosen(x):
        return x[x > 2]

    found = chosen(DeviceArray(library, np.arange(6.0)))
    assert np.array_equal(found.numpy(), [3, 4, 5])


def test_overlapping_arguments(library):
    @dcpy.program(**GPU)
    def shift(x, y):
        y[:] = x + 1

    x = np.arange(6.0)
    there = DeviceArray(library, x)
    shift(there.view(np.s_[:-1]), there.view(np.s_[1:]))
    shift.function(x[:-1], x[1:])
    assert np.array_equal(there.numpy(), x)


def test_overlapping_arguments_that_the_host_needs(library):
    @dcpy.program(**GPU)
    def running(x, y):
        for i in range(len(x)):
            y[i] = x[i] + 1

    there = DeviceArray(library, np.arange(6.0))
    with pytest.raises(dcpy.DcpyError, match="is on the device and may overlap another argument"):
        running(there.view(np.s_[:-1]), there.view(np.s_[1:]))


def test_a_check_that_fails(library):
    @dcpy.program(**GPU)
    def at(x, k):
        x[:] = x + 1
        x[k] = 0

    x = DeviceArray(library, np.arange(3.0))
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3"):
        at(x, 7)
    assert np.array_equal(x.numpy(), [1, 2, 3])


def test_no_elements(library):
    x = DeviceArray(library, np.zeros((0, 3)))
    _, rest, double = parts(x)
    assert (rest.shape, double.shape) == ((0, 3), (0, 3))


def test_programs_are_recalled(library):
    def scaled(x):
        return x * 3

    for _ in range(2):
        program = dcpy.program(scaled, **GPU)
        assert np.array_equal(program(DeviceArray(library, np.arange(3.0))).numpy(), [0, 3, 6])
    assert program.profile.get("compiler", 0) == 0
    assert np.array_equal(program(np.arange(3.0)), [0, 3, 6])


# -- what is refused --------------------------------------------------------------------------------------------------


def test_a_program_for_cpus(library):
    with pytest.raises(ArgumentError, match=r"DeviceArray on .*, but the program runs on the CPU"):
        dcpy.program(step.function)(DeviceArray(library, np.ones(3)), np.ones(3))


def test_read_only_arrays(library):
    x, y = values()
    constant = DeviceArray(library, x, read_only=True)
    expected = step.function(x, y.copy())
    assert np.array_equal(step(constant, DeviceArray(library, y)).numpy(), expected)
    assert not parts(constant)[1].writeable
    with pytest.raises(ReadOnlyArgument, match="argument 'y' is read-only, but the program writes to it"):
        step(DeviceArray(library, y), constant)
    assert np.array_equal(constant.numpy(), x)


class ArrayImpl(DeviceArray):
    """As JAX has them: immutable, which they do not say."""

    __module__ = "jaxlib._jax"


def test_arrays_of_libraries_that_change_none(library):
    x, y = values()
    constant = ArrayImpl(library, x)
    assert np.array_equal(step(constant, DeviceArray(library, y)).numpy(), step.function(x, y.copy()))
    with pytest.raises(ReadOnlyArgument, match="argument 'y' is read-only, but the program writes to it"):
        step(DeviceArray(library, y), constant)
    assert np.array_equal(constant.numpy(), x)


def test_sizes_that_do_not_agree(library):
    with pytest.raises((ArgumentShapeError, ValueError), match="could not be broadcast"):
        step(DeviceArray(library, np.ones(4)), DeviceArray(library, np.ones(3)))


def test_misaligned_arrays(library):
    bytes_ = DeviceArray(library, np.zeros(33, np.uint8))
    odd = bytes_.view(np.s_[1:])
    odd.dtype, odd.shape, odd.strides, odd.protocols = np.dtype(float), (4,), (8,), "cuda"
    with pytest.raises(ArgumentError, match="argument 'x' is not aligned in memory"):
        parts(odd)


class Broken:
    """An exporter of which one answer is wrong."""

    def __init__(self, array, **answers):
        self.array, self.answers = array, answers

    def __dlpack_device__(self):
        return self.answers.get("device", self.array.__dlpack_device__())

    def __dlpack__(self, **words):
        answer = self.answers.get("dlpack", self.array.__dlpack__)
        return answer(**words)


def raising(error):
    def answer(**_):
        raise error

    return answer


def test_an_exporter_that_raises(library):
    array = Broken(DeviceArray(library, np.ones(3)), dlpack=raising(BufferError("tensors that require grad")))
    with pytest.raises(ArgumentError, match=r"is a .*Broken that cannot be taken: tensors that req") as found:
        parts(array)
    assert isinstance(found.value.__cause__, BufferError)
    assert "detach" in str(found.value)


def test_a_capsule_is_taken_once(library):
    array = DeviceArray(library, np.ones(3))
    capsule = array.__dlpack__(stream=1)
    broken = Broken(array, dlpack=lambda **_: capsule)
    parts(broken)
    with pytest.raises(ArgumentError, match="its capsule has been taken before"):
        parts(broken)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"device": (2, 1)}, "it is on device 1, but the program runs on the simulated GPU"),
        ({"device": (10, 0)}, "it is on a ROCm device"),
        ({"dlpack": lambda **_: 3}, "__dlpack__ gives 3, which is no capsule"),
    ],
)
def test_wrong_answers(library, answers, message):
    with pytest.raises(ArgumentError, match=message):
        parts(Broken(DeviceArray(library, np.ones(3)), **answers))


def test_arrays_of_two_devices(library):
    """One of them is not where the program runs, whatever the order; nothing has been written."""
    here, other = (DeviceArray(library, np.ones(3)) for _ in range(2))
    elsewhere = Broken(other, device=(2, 1))
    for name, arguments in (("y", (here, elsewhere)), ("x", (elsewhere, here))):
        with pytest.raises(ArgumentError, match=f"argument '{name}' .*it is on device 1, but the program runs on the"):
            step(*arguments)
    assert np.array_equal(here.numpy(), np.ones(3))


@pytest.mark.parametrize(
    ("field", "number", "message"), [("lanes", 4, "vectors of 4 lanes"), ("code", 4, "DLPack code 4")]
)
def test_dtypes_that_numpy_has_not(library, monkeypatch, field, number, message):
    array = DeviceArray(library, np.ones(3))

    def changed(**words):
        capsule = array.__dlpack__(**words)
        managed = next(reversed(producer._exports.values()))[0]
        setattr(managed.tensor, field, number)
        return capsule

    with pytest.raises(ArgumentError, match=message):
        parts(Broken(array, dlpack=changed))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"stream": 0}, "its stream is 0"),
        ({"mask": "another"}, "it has a mask"),
        ({"typestr": ">f8"}, "its elements are >f8, which kernels cannot read"),
        ({"strides": (8, 8)}, "not as many strides as dimensions"),
        ({"data": (64, False)}, "is not in the memory of the simulated device"),
        ({"data": None}, "lacks shape, typestr or data"),
    ],
)
def test_wrong_interfaces(library, entries, message):
    array = DeviceArray(library, np.ones(3))

    class Array:
        __cuda_array_interface__ = array.__cuda_array_interface__ | entries

    with pytest.raises(ArgumentError, match=message):
        parts(Array())


def test_memory_that_was_released_too_early(library):
    array = DeviceArray(library, np.ones(3), protocols="cuda")

    class Dangling:
        __cuda_array_interface__ = array.__cuda_array_interface__

    array.delete()
    library.wait()
    with pytest.raises(ArgumentError, match=r"has been released|is not in the memory"):
        parts(Dangling())


# -- DeviceArray ------------------------------------------------------------------------------------------------------


def test_what_an_array_tells():
    array = dcpy.gpu.array(np.arange(6, dtype="float32").reshape(2, 3), backend="simulator")
    assert (array.shape, array.strides, array.ndim, array.size, array.nbytes) == ((2, 3), (12, 4), 2, 6, 24)
    assert (len(array), array.dtype, array.writeable) == (2, np.float32, True)
    assert repr(array) == "<dcpy.gpu.DeviceArray float32 (2, 3) on the simulated GPU>"
    with pytest.raises(TypeError, match=r"copy it with \.numpy"):
        np.asarray(array)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_it_is_exported(version):
    array = dcpy.gpu.array(np.arange(6.0).reshape(2, 3), backend="simulator")
    capsule = array.__dlpack__(stream=1, max_version=version)
    taken = producer.take(capsule)
    assert (taken.place, taken.shape, taken.strides, taken.dtype) == (array.place, (2, 3), (24, 8), np.float64)
    assert (taken.is_copied, array.__dlpack_device__()) == (False, (2, 0))
    taken.give_back()
    interface = array.__cuda_array_interface__
    assert (interface["data"], interface["strides"], interface["typestr"]) == ((array.place, False), None, "<f8")
    unused = array.__dlpack__(stream=-1)
    del unused


def test_it_is_not_exported_elsewhere():
    array = dcpy.gpu.array(np.ones(3), backend="simulator")
    with pytest.raises(BufferError, match=r"copy it with \.numpy"):
        array.__dlpack__(dl_device=(2, 1))
    with pytest.raises(ValueError, match="0 is no stream"):
        array.__dlpack__(stream=0)
    assert np.array_equal(np.from_dlpack(array, device="cpu"), np.ones(3))


def test_memory_is_given_back():
    device = device_of(step.options)
    array = dcpy.gpu.array(np.ones(1000), backend="simulator")
    place = array.place
    assert device._memory._functions.holds(device._memory.table, place) == 0
    del array
    assert device._memory._functions.holds(device._memory.table, place) != 0


@pytest.mark.parametrize("values", ["text", [object()], np.array(["2020"], "M8[Y]")], ids=["str", "object", "date"])
def test_what_cannot_be_on_a_device(values):
    with pytest.raises(ArgumentError, match="cannot be on a GPU"):
        dcpy.gpu.array(values, backend="simulator")
