"""W14: arrays of other libraries, on a device or not, as arguments, fields and globals: refused, and what to write."""

import array
import ctypes
from dataclasses import dataclass
from unittest.mock import Mock

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, FrontendError
from dcpy.base.foreign_arrays import foreign_array

pytestmark = pytest.mark.cc
N = dcpy.symbol("N")


class CudaArray:
    """As CuPy's: memory of a device, ``get`` copies it."""

    device = "<CUDA Device 0>"
    shape = (3,)

    @property
    def __cuda_array_interface__(self):
        return {"shape": (3,), "typestr": "<f8", "data": (1 << 40, False), "version": 3}

    def get(self):
        return np.ones(3)


class Tensor:
    """As PyTorch's: on the CPU or on a device, where asking for the wrong one raises."""

    def __init__(self, device="cpu"):
        self.device = device

    @property
    def __cuda_array_interface__(self):
        if self.device == "cpu":
            raise AttributeError("no CUDA tensor")
        return {}

    def __dlpack_device__(self):
        return (1, 0) if self.device == "cpu" else (2, 0)

    def __dlpack__(self, **_):
        raise RuntimeError

    def __array__(self, dtype=None, copy=None):
        return np.ones(3)

    def cpu(self):
        return Tensor()

    def numpy(self):
        return np.ones(3)

    def __rmul__(self, other):
        raise AssertionError("nothing of a tensor is run")

    __mul__ = __rmul__


class Metal:
    def __dlpack_device__(self):
        return 8, 0


class Capsule:
    """Nothing but DLPack, on the CPU."""

    def __dlpack__(self, **arguments):
        return np.ones(3).__dlpack__(**arguments)

    def __dlpack_device__(self):
        return 1, 0


class Series:
    def __init__(self):
        self.values = np.ones(3)

    def __array__(self, dtype=None, copy=None):
        return self.values


class OnRequest:
    def __init__(self):
        self.__array_interface__ = np.ones(3).__array_interface__


FOREIGN = [
    (CudaArray(), "a CUDA device", "{0}.get()"),
    (Tensor("cuda:1"), "cuda:1", "{0}.cpu().numpy()"),
    (Metal(), "a device (Metal)", "a copy of {0} in the memory of the CPU"),
    (Tensor(), "", "np.asarray({0})"),
    (Capsule(), "", "np.from_dlpack({0})"),
    (Series(), "", "np.asarray({0})"),
    (OnRequest(), "", "np.asarray({0})"),
    (array.array("d", [1.0]), "", "np.asarray({0})"),
    (memoryview(np.ones(3)), "", "np.asarray({0})"),
    (bytearray(8), "", "np.frombuffer({0}, dtype=...)"),
]
each = pytest.mark.parametrize(("value", "device", "written"), FOREIGN)


def program(a):
    return 2.0 * a


def annotated(a: dcpy.float64[N]):
    return 2.0 * a


@each
def test_w14_what_it_is_and_where(value, device, written):
    found = foreign_array(value)
    assert (found.device, found.to_numpy) == (device, written)


@each
@pytest.mark.parametrize("function", [program, annotated])
def test_w14_arguments(value, device, written, function):
    with pytest.raises(ArgumentError) as caught:
        dcpy.program(function)(value)
    shown = str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert "argument 'a' is a" in shown
    assert "^" in shown  # the caret is at the parameter
    assert ("but the program runs on the CPU" in shown, device in shown) == (bool(device), True)
    assert written.format("a") in caught.value.help


@each
def test_w14_arguments_of_what_is_compiled_already(value, device, written):
    known = dcpy.program(program)
    known(np.ones(3))
    for function in (known, known.compile(np.ones(3))):
        with pytest.raises(ArgumentError, match=r"argument 'a' is an? ") as caught:
            function(value)
        assert written.format("a") in caught.value.help


@each
def test_w14_globals_are_refused_where_something_is_computed_with_them(value, device, written):
    def times(a):
        return a * value

    def into(a):
        a[:] = value

    def function(a):
        return np.sin(value) + a

    def index(a):
        return a[value]

    for use in (times, into, function, index):
        with pytest.raises(FrontendError, match=r"this is an? ") as caught:
            dcpy.program(use)(np.ones(3))
        assert written.format("it") in caught.value.help


@dataclass
class Holder:
    x: object
    y: np.ndarray


@each
def test_w14_fields_matter_where_they_are_read(value, device, written):
    read, unread = dcpy.program(lambda p: p.x * p.y), dcpy.program(lambda p: p.y * 2)
    np.testing.assert_array_equal(unread(Holder(value, np.ones(3))), 2.0)
    with pytest.raises(FrontendError, match=r"the field 'p.x' is an? ") as caught:
        read(Holder(value, np.ones(3)))
    assert written.format("p.x") in caught.value.help


def test_w14_their_numbers_and_arrays_of_numpy_may_be_read():
    series, tensor = Series(), CudaArray()
    found = dcpy.program(lambda a: a * series.values + tensor.shape[0])(np.ones(3))
    np.testing.assert_array_equal(found, 4.0)


def test_w14_what_help_says_works():
    for value, _, written in FOREIGN[3:-1]:
        made = np.from_dlpack(value) if "dlpack" in written else np.asarray(value)
        np.testing.assert_array_equal(dcpy.program(program)(made), 2.0 * made)


@pytest.mark.parametrize("value", [None, 1, 2.5, "text", b"bytes", (1, 2), range(3), Mock(), object(), abs, Series, N])
def test_w14_other_objects_are_no_arrays(value):
    assert foreign_array(value) is None
    assert foreign_array(np.ones(3)) is foreign_array(np.float32(1)) is foreign_array(ctypes.c_int(3)) is None


def test_w14_tuples_are_not_repeated_by_floats():
    for function in (lambda a: 2.0 * a, lambda a: a * 2.0, lambda a: a * 2j):
        with pytest.raises(TypeError, match="can't multiply sequence by non-int of type"):
            dcpy.program(function)((1.0, 2.0))
    assert dcpy.program(lambda a: a * 2)((1.0, 2.0)) == (1.0, 2.0, 1.0, 2.0)


def test_s4b_any_byte_but_zero_is_true():
    """Arrays of bool that show bytes of something else; a mask does not keep a loop from being made of vectors."""
    mask = np.array([0, 1, 2, 255, 0, 128] * 7, np.uint8).view(bool)
    x, y = np.arange(42.0), -np.arange(42.0)

    def program(mask, x, y):
        chosen = np.where(mask, x, y)
        x[mask] = 7.0
        return chosen, x, np.sum(mask & (x > 3)), x * mask

    expected = program(mask, x.copy(), y)
    for found, wanted in zip(dcpy.program(program)(mask, x.copy(), y), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


class Table:
    """As a DataFrame: columns of several types."""

    def __init__(self, **columns):
        self._columns = columns

    @property
    def columns(self):
        return list(self._columns)

    def __getitem__(self, name):
        return Column(self._columns[name])

    def to_numpy(self):
        return np.stack([np.asarray(column) for column in self._columns.values()], axis=1)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("Unable to avoid copy")
        return self.to_numpy()


class Column:
    def __init__(self, values):
        self._values = values

    def to_numpy(self):
        return np.asarray(self._values)


@pytest.mark.parametrize("convert", [False, True])
def test_tables_are_passed_by_column(convert):
    table = Table(mass=np.ones(3), speed=np.arange(3.0), name=np.array(["a", "b", "c"]))

    @dcpy.program(convert=convert)
    def energy(table):
        return (table["mass"] * table["speed"] ** 2).sum()

    with pytest.raises(ArgumentError, match=r"argument 'table' is a .*Table: a table, not a NumPy array") as caught:
        energy(table)
    advice = "table['mass'].to_numpy(), table['speed'].to_numpy(); or, if all are numbers, table.to_numpy()"
    assert advice in caught.value.help

    @dcpy.program(convert=convert)
    def energy_of_columns(mass, speed):
        return (mass * speed**2).sum()

    assert energy_of_columns(table["mass"].to_numpy(), table["speed"].to_numpy()) == 5.0


TABLE = Table(mass=np.ones(3), speed=np.arange(3.0))


def test_global_tables_say_the_same():
    @dcpy.program
    def scaled(x):
        return x * TABLE

    with pytest.raises(FrontendError, match=r"this is a .*Table: a table, not a NumPy array") as caught:
        scaled(np.ones(3))
    assert "it['mass'].to_numpy(), it['speed'].to_numpy()" in caught.value.help
