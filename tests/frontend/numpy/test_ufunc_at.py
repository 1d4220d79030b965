"""``at`` of ufuncs, against NumPy: repeated indices, masks, broadcast values, overlaps; as a node where it can be."""

import re

import numpy as np
import pytest

import dcpy
from tests.support.numpy_records import Record, check


def repeated(a):
    np.add.at(a, [0, 2, 0, -1], 2)
    np.multiply.at(a, (np.array([0, 0]), np.array([1, 1])), np.array([3, 2]))
    np.minimum.at(a, np.array([1, 1]), a[0])
    np.maximum.at(a, [[0], [1]], 1)


def masked(a):
    np.add.at(a, a > 0, 3)
    np.maximum.at(a, (a[:, 0] > 0, 1), -1)


def with_slices(a):
    np.add.at(a, (slice(None), [0, 0, 2]), [1, 2, 3])
    np.add.at(a, slice(0, 2), 1)
    np.add.at(a, (1, 2), 5)


def overlapping(a):
    np.add.at(a, [2, 2, 0], a[:, :1])
    np.add.at(a[0], [0, 1, 0], a[0, 1:4])


def outside(a):
    np.add.at(a, ([0, 7], [0, 0]), 1)


def of_another_shape(a):
    np.add.at(a, [0, 1], np.ones(3))


def wider(a):
    np.add.at(a, [0, 0, 1], np.ones((3, 4)) * 0.1)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "complex128"])
@pytest.mark.parametrize("function", [repeated, masked, with_slices, overlapping, outside], ids=lambda f: f.__name__)
def test_as_numpy(function, dtype):
    record = Record(function, ((3, 4),), (dtype,), ("C", "F", "strided"))
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.parametrize("function", [of_another_shape, wider], ids=lambda f: f.__name__)
def test_values_of_another_kind(function):
    record = Record(function, ((3, 4),), ("float64", "float32"), ("C",))
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.parametrize(
    ("name", "combination"), [("add", "add"), ("multiply", "mul"), ("minimum", "min"), ("maximum", "max")]
)
def test_sums_and_extremes_are_scattered(name, combination):
    ufunc = getattr(np, name)

    @dcpy.program
    def change(a: dcpy.float64[8], i: dcpy.int64[5]):
        ufunc.at(a, i, 2.0)

    text = str(change.to_sdfg())
    assert re.search(rf'indexing.scatter .*op = "{combination}"', text), text


def test_what_rounds_differently_is_a_loop():
    """float64 sums, each cast to float32: not the same as sums of float32."""

    @dcpy.program
    def change(a: dcpy.float32[8], i: dcpy.int64[5], b: dcpy.float64[5]):
        np.add.at(a, i, b)

    assert "indexing.scatter" not in str(change.to_sdfg())
