"""Small functions of elements and arrays, and functions that are applied to lines, against NumPy."""

import numpy as np
import pytest

from tests.support.numpy_records import check, op

VECTORS = ((5,), (1,), (0,))
MATRIX = ((3, 4),)
KINDS = ("bool", "int8", "uint8", "int32", "float32", "complex64")

RECORDS = [
    op(lambda a: np.apply_along_axis(np.sum, 1, a), shapes=MATRIX),
    op(lambda a: np.apply_along_axis(lambda x, k: x[::2] * k, 0, a, 3), shapes=MATRIX),
    op(lambda a: np.apply_along_axis(np.diff, 1, a, n=2), shapes=((2, 4, 3),)),
    op(lambda a: np.apply_along_axis(np.diag, 0, a), shapes=((2, 3),)),
    op(lambda a: np.apply_over_axes(np.sum, a, [0, 2]), shapes=((2, 3, 4),)),
    op(lambda a: np.fromfunction(lambda i, j: i + 2 * j, (3, 2)), shapes=((1,),)),
    op(lambda a: np.fromfunction(lambda i: i == 1, (3,), dtype=int), shapes=((1,),)),
    op(lambda a: np.block([[a, a * 2], [np.zeros((1, 8))]]), shapes=MATRIX),
    op(lambda a: np.block([1, a, 2.5]), shapes=VECTORS),
    op(lambda a: np.block(a), shapes=VECTORS),
    op(lambda a: np.block([[1, 2], [3]]), shapes=VECTORS),
    op(lambda a: np.block([[1, 2], 3]), shapes=VECTORS),
    op(lambda a: np.atleast_3d(a), shapes=((), (2,), (3, 4), (2, 3, 4))),
    op(lambda a: np.rollaxis(a, 2), shapes=((2, 3, 4),)),
    op(lambda a: np.rollaxis(a, 0, 2), shapes=((2, 3, 4),)),
    op(lambda a: np.rollaxis(a, 1, -1), shapes=((2, 3, 4),)),
    op(lambda a: np.broadcast_shapes(a.shape, (3, 1, 1), 4), shapes=((3, 4),)),
    op(lambda a: np.isposinf(1 / (a - a[0])), shapes=((5,),)),
    op(lambda a: np.isneginf(np.log(a)), shapes=((5,), ()), dtypes=("float32",)),
    op(lambda a: np.iscomplex(a), shapes=((5,), ()), dtypes=KINDS),
    op(lambda a: np.isreal(a), shapes=((5,), ()), dtypes=KINDS),
    op(lambda a: (np.isreal(2), np.isreal(1j), np.isreal(a[0]), np.isreal([a[0], 1])), shapes=((5,),), dtypes=KINDS),
    op(lambda a: np.asarray_chkfinite(a), shapes=((5,),), dtypes=KINDS),
    op(lambda a: np.asarray_chkfinite(np.log(a)), shapes=((5,),)),
    op(lambda a: np.array_equiv(a, a[0]), shapes=((1,), (1, 4))),
    op(lambda a: np.cumulative_sum(a), shapes=(*VECTORS, (3, 4))),
    op(lambda a: np.cumulative_sum(a, include_initial=True), shapes=VECTORS, dtypes=("int8", "float32")),
    op(lambda a: np.cumulative_prod(a, axis=1, include_initial=True), shapes=MATRIX, dtypes=("int8", "float32")),
    op(lambda a, o: np.cumulative_sum(a, out=o), shapes=VECTORS),
    op(lambda a: np.diagflat(a, 1), shapes=(*VECTORS, (3, 4))),
    op(lambda a: np.logspace(0, 2, 5), shapes=((1,),)),
    op(lambda a: np.logspace(0, 3, num=4, endpoint=False, base=2, dtype=np.int64), shapes=((1,),)),
    op(lambda a: np.geomspace(1, 1000, num=4), shapes=((1,),)),
    op(lambda a: np.geomspace(-1, -1000.0, num=5, endpoint=False), shapes=((1,),)),
    op(lambda a: np.geomspace(1, 256, num=9, dtype=int), shapes=((1,),)),
    op(lambda a: np.geomspace(0, 256), shapes=((1,),)),
    op(lambda a: np.unpackbits(a), shapes=(*VECTORS, (3, 4)), dtypes=("uint8", "int8")),
    op(lambda a: np.unpackbits(a, axis=0, bitorder="little"), shapes=MATRIX, dtypes=("uint8",)),
    op(lambda a: np.unpackbits(a, axis=1, count=10), shapes=MATRIX, dtypes=("uint8",)),
    op(lambda a: np.unpackbits(a, count=-3), shapes=MATRIX, dtypes=("uint8",)),
    op(lambda a: np.packbits(a), shapes=(*VECTORS, (3, 4)), dtypes=("uint8", "int32", "bool", "float32")),
    op(lambda a: np.packbits(a, axis=0, bitorder="little"), shapes=MATRIX, dtypes=("bool",)),
    op(lambda a: np.array_equal(a, a[:2]), shapes=((5,), (2,))),
    op(lambda a: np.array_equal(a, a.copy()), shapes=((5,), (2, 0), (3, 4))),
    op(lambda a, c: np.array_equal(a, c), shapes=(((3, 4), (3, 4)), ((3, 4), (4, 3)))),
    op(lambda a, c: np.logspace(a, c, 3, base=2), shapes=((3,),)),
    op(lambda a, c: np.geomspace(abs(a) + 1, abs(c) + 2, 3), shapes=((3,),)),
    op(lambda a: np.array_equiv(a, a[:1]), shapes=((5,), (3, 4))),
    op(lambda a, c: np.array_equiv(a, c), shapes=(((3, 4), (4,)), ((3, 4), (3,)), ((0,), (2,)))),
    op(lambda a: np.geomspace(-1, 256, 3), shapes=((1,),)),
    op(lambda a: np.angle(a > 0), shapes=((5,),)),
    op(lambda a: np.tril(a, 1), shapes=((5,), (3, 4))),
    op(lambda a, c: np.geomspace(a + 1j, c - 9j, 4), shapes=((3,), ()), dtypes=("float64", "complex64")),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)
