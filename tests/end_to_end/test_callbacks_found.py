"""``allow_callbacks=True`` (FINDINGS, section 3): callbacks found by themselves, and what Python keeps to itself."""

import sys

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.cc
N = dcpy.symbol("N")
LOG = []
SEEN = {}
A = np.array([3.0, 1.0, 2.0])


class Recorder:
    def __init__(self):
        self.seen = []

    def add(self, x):
        self.seen.append(float(x))


def found(function):
    return dcpy.program(function, allow_callbacks=True)


def test_variables_of_enclosing_functions_are_written_by_python():
    count, last = 0, None

    def note(x):
        nonlocal count, last
        count += 1
        last = np.copy(x)

    def reordered(a):
        a[:] = sorted(a, key=lambda v: -v)

    @found
    def program(a):
        note(a)
        for i in range(2):
            note(a[i])
        for i in dcpy.map[0:3]:
            note(i)
        reordered(a)
        return a * 2

    assert np.array_equal(program(A.copy()), [6, 4, 2])
    assert count == 6
    assert last == 2


def test_lists_and_dictionaries_of_the_module_change():
    recorder = Recorder()

    def add(x):
        return LOG.append(x)

    @found
    def program(a):
        LOG.append(5)
        for i in range(2):
            LOG.append(i)
            add(a[i])
        SEEN.update({"last": 3})
        recorder.add(a[2])
        return a

    LOG.clear()
    program(A.copy())
    assert LOG == [5, 0, 3.0, 1, 1.0]
    assert SEEN == {"last": 3}
    assert recorder.seen == [2.0]


def sized(x):
    return sys.getsizeof(x) * 0 + 7


def ordered(x):
    return np.array(sorted(x))


def test_annotations_say_what_comes_back():
    @found
    def program(a: dcpy.float64[N]):
        k: dcpy.int64 = sized(a)
        x: float = float.fromhex("0x1p3")
        b: dcpy.float64[N] = ordered(a)
        return k, x, b

    k, x, b = program(A.copy())
    assert (k, type(k)) == (7, np.int64)
    assert (x, type(x)) == (8.0, float)
    assert np.array_equal(b, [1, 2, 3])


def test_without_an_annotation_the_error_says_so():
    @found
    def program(a):
        k = sized(a)
        return k

    with pytest.raises(dcpy.FrontendError, match=r"x: dcpy\.float64 = \.\.\.` where it is called"):
        program(A.copy())


def test_lists_of_the_program_are_its_own():
    @found
    def program(a):
        values = [1.0, 2.0]
        values.append(3.0)
        return a + values[2]

    assert np.array_equal(program(A.copy()), A + 3)
