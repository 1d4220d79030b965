"""Writes to elements that arrays name, against NumPy: order, repetition, layouts."""

import numpy as np
import pytest

from tests.support.numpy_records import Record, check


def put(a):
    np.put(a, [1, -1, 1], [7, 8])
    a.put(2, 5)
    np.put(a, [30, -40], 1, mode="wrap")
    np.put(a, [30, -40], 2, mode="clip")


def put_outside(a):
    np.put(a, 12, 5)


def put_along_axis(a):
    np.put_along_axis(a, np.argmax(a, axis=1, keepdims=True), 99, axis=1)


def place(a):
    np.place(a, a > 0, [10, 20])


def putmask(a):
    np.putmask(a, a > 0, [10, 20])
    np.putmask(a, a < 0, a * 2)
    np.putmask(a, a > 0, a[::-1])
    np.putmask(a, [True, False] * 6, 3)


WRITES = (put, put_outside, put_along_axis, place, putmask)


@pytest.mark.parametrize("function", WRITES, ids=lambda f: f.__name__)
def test_as_numpy(function):
    record = Record(function, ((3, 4),), ("float64",), ("C", "F", "strided"))
    for arguments in record.cases():
        check(record, arguments)
