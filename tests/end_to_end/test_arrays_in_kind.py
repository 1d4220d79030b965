"""Arrays of libraries that exchange memory by DLPack both ways: read in place, and results of the same kind."""

import gc

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, ReadOnlyArgument
from dcpy.runtime.calls.array_kinds import kind_of

pytestmark = pytest.mark.cc


class Library:
    """A package of arrays, which takes no memory with strides below 0, and none that is read-only."""

    name = "one"

    @classmethod
    def from_dlpack(cls, found):
        if min(found.strides, default=0) < 0:
            raise ValueError("strides below 0 are not supported")
        if not found.flags.writeable:
            raise BufferError("read-only memory is not supported")
        return cls.Tensor(np.from_dlpack(found))


class Tensor:
    def __init__(self, memory):
        self.memory = memory

    def __dlpack__(self, **arguments):
        return self.memory.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return 1, 0

    def __array_namespace__(self):
        return Library


Library.Tensor = Tensor


class OtherLibrary(Library):
    pass


class OtherTensor(Tensor):
    def __array_namespace__(self):
        return OtherLibrary


OtherLibrary.Tensor = OtherTensor


class Elsewhere(Tensor):
    """On a device that the CPU does not read."""

    def __dlpack_device__(self):
        return 2, 0


class OneWay(Tensor):
    """Of a library that gives memory and takes none."""

    def __array_namespace__(self):
        return object()


def numbers(cls=Tensor):
    return cls(np.array([1.0, 2.0, 3.0]))


@dcpy.program
def doubled(a):
    a[0] = 7.0
    return 2.0 * a, a[1:], a, a.sum()


@dcpy.program
def added(a, b):
    return a + b


@dcpy.program
def reversed_view(a):
    return a[::-1]


def test_results_are_of_the_kind_of_the_arguments():
    given = numbers()
    new, view, same, total = doubled(given)
    assert same is given
    assert (type(new), type(view)) == (Tensor, Tensor)
    assert type(total) is np.float64
    view.memory[0] = 5.0  # which is the caller's memory, as is what the program writes
    gc.collect()
    np.testing.assert_array_equal(given.memory, [7.0, 5.0, 3.0])
    np.testing.assert_array_equal(new.memory, [14.0, 4.0, 6.0])
    assert total == 12.0


def test_an_array_of_numpys_beside_it_changes_nothing():
    for values in ((numbers(), np.ones(3)), (np.ones(3), numbers()), (numbers(), numbers())):
        assert type(added(*values)) is Tensor
    assert type(added(np.ones(3), np.ones(3))) is np.ndarray


def test_a_compiled_graph_takes_them_too():
    compiled = added.compile(np.ones(3), np.ones(3))
    assert type(compiled(numbers(), np.ones(3))) is Tensor
    assert added.to_sdfg(numbers(), numbers()).arguments == added.to_sdfg(np.ones(3), np.ones(3)).arguments


def test_a_program_that_converts_returns_numpys():
    made = dcpy.program(added.function, convert=True)
    assert type(made(numbers(), numbers(OtherTensor))) is np.ndarray


def test_arrays_of_two_libraries_are_refused():
    with pytest.raises(ArgumentError, match="arguments 'a' and 'b' are arrays of two libraries") as caught:
        added(numbers(), numbers(OtherTensor))
    assert "@dcpy.program(convert=True)" in caught.value.help


def test_a_result_that_the_library_has_not_is_refused():
    with pytest.raises(ArgumentError, match=r"of float64 with strides \(-8,\)[\s\S]*Tensor cannot be made") as caught:
        reversed_view(numbers())
    assert caught.value.notes == ("its library says: strides below 0 are not supported",)


def test_what_nobody_can_write_to_is_copied():
    given = numbers()
    given.memory.flags.writeable = False
    np.testing.assert_array_equal(reversed_view(given).memory, [3.0, 2.0, 1.0])
    with pytest.raises(ReadOnlyArgument) as caught:
        doubled(given)
    assert caught.value.help == "pass np.array(a), and copy back what is written"


def test_only_libraries_that_take_memory_back_have_a_kind():
    assert kind_of(numbers()).from_dlpack == Library.from_dlpack
    others = (numbers(Elsewhere), numbers(OneWay), np.ones(3), 1.0, "a", doubled)
    assert [kind_of(value) for value in others] == [None] * len(others)
    with pytest.raises(ArgumentError, match="OneWay, which is not a NumPy array"):
        added(numbers(OneWay), np.ones(3))


def strict(values):
    return pytest.importorskip("array_api_strict").asarray(values)


def of_jax(values):
    return pytest.importorskip("jax.numpy").asarray(values)


def of_torch(values):
    return pytest.importorskip("torch").as_tensor(values)


@pytest.mark.others
@pytest.mark.parametrize("make", [strict, of_jax, of_torch])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64, np.bool_, np.uint8])
def test_arrays_of_real_libraries(make, dtype):
    values = np.array([[1, 0, 3], [4, 5, 6]], dtype)
    given, plain = make(values.copy()), np.ones((2, 3), dtype)
    found = added(given, plain)
    assert type(found) is type(given)
    np.testing.assert_array_equal(np.asarray(found), values + plain)
    empty = added(make(values[:0]), plain[:0])
    assert (type(empty), tuple(empty.shape)) == (type(given), (0, 3))


@pytest.mark.others
def test_arrays_that_cannot_be_written_are_read():
    given = of_jax(np.array([1.0, 2.0, 3.0], np.float32))
    np.testing.assert_array_equal(np.asarray(reversed_view(given)), [3.0, 2.0, 1.0])
    with pytest.raises(ReadOnlyArgument, match="argument 'a' is read-only"):
        doubled(given)
