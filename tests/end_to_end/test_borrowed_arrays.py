"""Arrays of others on the CPU as arguments: mapped files always, all others where a program is asked to."""

import array
import ctypes
import mmap

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, ReadOnlyArgument
from dcpy.runtime.calls.array_borrowing import borrowed

pytestmark = pytest.mark.cc


def doubled(a):
    a[0] = 7.0
    return 2.0 * a, a[1:], a, a.sum()


class Owner:
    """Of memory, as a library has it."""

    def __init__(self, values, writeable=True):
        self.memory = np.array(values)
        self.memory.flags.writeable = writeable


class Series(Owner):
    def __array__(self, dtype=None, copy=None):
        return self.memory


class OldTensor(Owner):
    """Knows nothing of NumPy 2, and its tensors on devices raise."""

    def __array__(self, dtype=None):
        return self.memory

    def __dlpack_device__(self):
        return 1, 0

    @property
    def __cuda_array_interface__(self):
        raise AttributeError("no CUDA tensor")


class Interface(Owner):
    @property
    def __array_interface__(self):
        return self.memory.__array_interface__


class Capsule(Owner):
    def __dlpack__(self, **arguments):
        return self.memory.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return 1, 0


class Plain(np.ndarray):
    """A subclass."""

    def __mul__(self, other):
        raise AssertionError("nothing of a subclass is run")

    __rmul__ = __mul__


def numbers_of_c():
    return (ctypes.c_double * 3)(1.0, 2.0, 3.0)


MAKERS = [
    lambda: Series([1.0, 2.0, 3.0]), lambda: OldTensor([1.0, 2.0, 3.0]), lambda: Interface([1.0, 2.0, 3.0]),
    lambda: Capsule([1.0, 2.0, 3.0]), lambda: array.array("d", [1.0, 2.0, 3.0]), numbers_of_c,
    lambda: memoryview(array.array("d", [1.0, 2.0, 3.0])), lambda: np.arange(1.0, 4.0).view(Plain),
]  # fmt: skip
each = pytest.mark.parametrize("make", MAKERS)


def seen(value):
    """The memory of one of these, now."""
    return value.memory.tolist() if isinstance(value, Owner) else np.asarray(value).tolist()


@each
def test_programs_that_convert_read_and_write_the_memory_itself(make):
    value = make()
    program = dcpy.program(doubled, convert=True)
    for _ in range(2):
        twice, rest, whole, total = program(value)
        assert [type(found) for found in (twice, rest, whole)] == [np.ndarray] * 3
        assert (twice.tolist(), rest.tolist(), total) == ([14.0, 4.0, 6.0], [2.0, 3.0], 12)
        assert whole.tolist() == seen(value) == [7.0, 2.0, 3.0]
    rest[0] = 5.0
    assert seen(value) == [7.0, 5.0, 3.0]
    assert program(np.arange(3.0))[3] == 10
    assert program.specializations == 1


@each
def test_compiled_programs_and_samples_convert_too(make):
    value = make()
    program = dcpy.program(doubled, convert=True)
    assert program.compile(value)(value)[0].tolist() == [14.0, 4.0, 6.0]
    assert program.to_sdfg(value).compile(convert=True)(value)[3] == 12
    with pytest.raises(ArgumentError):
        program.to_sdfg(value).compile()(value)


@each
def test_others_refuse_and_name_the_option(make):
    if make is numbers_of_c:
        return  # no array to anybody else
    with pytest.raises(ArgumentError) as caught:
        dcpy.program(doubled)(make())
    assert "or let the program do so: @dcpy.program(convert=True)" in caught.value.help


def test_bytes_are_numbers_of_one_byte():
    value = bytearray(b"\x01\x02")
    assert dcpy.program(lambda a: a + a, convert=True)(value).tolist() == [2, 4]
    value.append(3)  # nobody holds it


@pytest.mark.parametrize("kind", [Series, OldTensor])
def test_what_is_read_only_is_read_and_not_written(kind):
    value = kind([1.0, 2.0, 3.0], writeable=False)
    assert dcpy.program(lambda a: a.sum(), convert=True)(value) == 6
    with pytest.raises(ReadOnlyArgument, match="argument 'a' is read-only, but the program writes to it"):
        dcpy.program(doubled, convert=True)(value)
    assert value.memory.tolist() == [1.0, 2.0, 3.0]


class Lazy(Owner):
    def __array__(self, dtype=None, copy=None):
        return self.memory + 1.0


class Differentiated(Owner):
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("it requires grad")


class OfWords(Owner):
    def __array__(self, dtype=None, copy=None):
        return "words"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [(Lazy, "NumPy would make a copy of it"), (Differentiated, "it requires grad"), (OfWords, "gives a str")],
)
def test_what_has_no_memory_for_numpy_is_refused(kind, reason):
    with pytest.raises(ArgumentError, match="whose memory NumPy cannot read as it is") as caught:
        dcpy.program(doubled, convert=True)(kind([1.0]))
    assert reason in str(caught.value)
    assert "^" in str(caught.value)


def test_masks_are_not_dropped():
    with pytest.raises(ArgumentError, match="MaskedArray"):
        dcpy.program(doubled, convert=True)(np.ma.masked_array([1.0, 2.0], [True, False]))


@pytest.fixture(name="mapped")
def mapped_file(tmp_path):
    np.arange(1.0, 4.0).tofile(tmp_path / "numbers")
    return np.memmap(tmp_path / "numbers", np.float64, "r+")


def test_mapped_files_are_arrays_and_what_shares_their_memory_is_mapped(mapped):
    program = dcpy.program(doubled)
    expected = doubled(np.memmap(mapped.filename, np.float64, "c"))
    for _ in range(2):
        found = program(mapped)
        for mine, wanted in zip(found, expected, strict=True):
            assert type(mine) is type(wanted)
            np.testing.assert_array_equal(mine, wanted)
    assert found[2] is mapped
    assert found[1].filename == mapped.filename
    assert np.fromfile(mapped.filename).tolist() == [7.0, 2.0, 3.0]
    with pytest.raises(ReadOnlyArgument):
        program(np.memmap(mapped.filename, np.float64, "r"))


def test_mapped_files_go_to_compiled_programs_and_to_mmap(mapped):
    assert dcpy.program(doubled).compile(mapped)(mapped)[2] is mapped
    with open(mapped.filename, "r+b") as file, mmap.mmap(file.fileno(), 0) as pages:
        assert dcpy.program(lambda a: np.sum(a, dtype=np.int64), convert=True)(pages) == sum(mapped.tobytes())


def test_nothing_is_done_for_numpys_own():
    values = (np.ones(3), 1, 2.0, np.float64(1.0), "text", b"bytes", (np.ones(2),), [1], None, object(), len, {1: 2})
    assert borrowed(values, tuple, convert=True) is None
