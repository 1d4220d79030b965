"""Sorting, searching and membership, against NumPy."""

import numpy as np
import pytest

import dcpy
from tests.support.numpy_records import check, op

VECTORS = ((5,), (1,), (0,))
MATRIX = ((3, 4),)

RECORDS = [
    op(
        lambda a: np.sort(a),
        shapes=((5,), (1,), (0,), (3, 4), (2, 0)),
        dtypes=("bool", "int8", "uint64", "float32", "float64"),
    ),
    op(lambda a: np.sort(a, axis=0), shapes=((3, 4), (2, 3, 4))),
    op(lambda a: np.sort(a, axis=None), shapes=MATRIX),
    op(lambda a: np.argsort(a, kind="stable"), shapes=((5,), (3, 4)), dtypes=("int32", "float64")),
    op(lambda a: a.argsort(axis=0, kind="stable"), shapes=MATRIX),
    op(lambda a: np.searchsorted(np.sort(a), a), shapes=VECTORS, dtypes=("int32", "float64")),
    op(lambda a: np.searchsorted(np.sort(a), 0.75, side="right"), shapes=((5,),)),
    op(lambda a: np.searchsorted(np.sort(a), np.sort(a)[::2], side="right"), shapes=VECTORS),  # numbers that rise
    op(lambda a: np.searchsorted(np.sort(a), np.array([0, np.nan, 1, 1, np.nan])), shapes=VECTORS, dtypes=("float64",)),
    op(lambda a: np.searchsorted(np.append(np.sort(a), np.nan), [1.0, np.nan]), shapes=VECTORS, dtypes=("float64",)),
    op(lambda a: np.isin(a, [0, 1.5]), shapes=((5,), (3, 4))),
    op(lambda a: np.interp(0.4, np.sort(a), a, left=-9, right=9), shapes=((5,),)),
    op(lambda a: np.sort(a), shapes=(*VECTORS, (3, 4)), dtypes=("bool", "int8", "float32", "complex128")),
    op(lambda a: np.sort(a, stable=True, kind="stable"), shapes=(*VECTORS, (3, 4))),
    op(lambda a: np.argsort(a, axis=None, stable=True), shapes=MATRIX),
    op(lambda a: np.sort_complex(a), shapes=(*VECTORS, (3, 4)), dtypes=("bool", "int8", "float32", "complex64")),
    op(lambda a: np.partition(a, 2)[2], shapes=((5,), (3,))),
    op(lambda a: np.sort(np.partition(a, (0, 2), axis=0)[:, 1]), shapes=MATRIX),
    op(lambda a: a[np.argpartition(a, -1)][-1], shapes=VECTORS),
    op(lambda a: np.argpartition(a, 7), shapes=VECTORS),
    op(lambda a: np.partition(a, 1.5), shapes=((5,),)),
    op(lambda a: np.partition(a, True), shapes=((5,),)),
    op(lambda a, c: np.lexsort((a, c)), shapes=((5,), (3, 4)), dtypes=("int8", "float64")),
    op(lambda a: np.lexsort(a), shapes=((3, 4),), dtypes=("int8", "float64")),
    op(lambda a: np.lexsort((a,), axis=0), shapes=((3, 4),)),
    op(lambda a: np.searchsorted(a, a, sorter=np.argsort(a, kind="stable")), shapes=VECTORS),
    op(lambda a: np.sort(a).searchsorted([0, 1.5], side="right"), shapes=VECTORS),
    op(lambda a: np.digitize(a, [-1.0, 0, 1.5]), shapes=(*VECTORS, (3, 4)), dtypes=("int32", "float64")),
    op(lambda a: np.digitize(a, np.array([2.0, 0, -1.5]), right=True), shapes=(*VECTORS, (3, 4))),
    op(lambda a: np.digitize(0.4, [0.0, 1]), shapes=((1,),)),
    op(lambda a: np.digitize(a, [0.0, 2, 1]), shapes=((1,),)),
    op(lambda a: np.isin(a, [0, 1.5]), shapes=(*VECTORS, (3, 4), ()), dtypes=("int32", "float64", "complex64")),
    op(lambda a: np.isin(a, [0, 1.5], invert=True, assume_unique=True, kind="sort"), shapes=(*VECTORS, (3, 4))),
    op(lambda a: np.isin(a, [3, -1, 100, 3]), shapes=((5,), (0,), (3, 4), ()), dtypes=("bool", "int8", "uint64")),
    op(lambda a, c: np.isin(a, c, invert=True), shapes=((5,), (3, 4)), dtypes=("int8", "uint16", "int64")),
    op(lambda a: np.isin(a, a[:0]), shapes=(*VECTORS, (3, 4))),
    op(lambda a: np.take_along_axis(a, np.argsort(a, axis=0, kind="stable"), axis=0), shapes=((3, 4), (5,))),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.cc
@pytest.mark.parametrize("far", [4, 1000, 2**62])
def test_integers_among_few_and_many_places(far):
    numbers = np.array([-far, 2, far - 1, 2, 7])
    elements = np.array([2, 7, 0, far, far - 1, -far, -far - 1, 2**63 - 1, -(2**63)])
    program = dcpy.program(lambda a, b: (np.isin(a, b), np.isin(a, b, invert=True)))
    wanted = np.isin(elements, numbers), np.isin(elements, numbers, invert=True)
    for got, expected in zip(program(elements, numbers), wanted, strict=True):
        np.testing.assert_array_equal(got, expected)
