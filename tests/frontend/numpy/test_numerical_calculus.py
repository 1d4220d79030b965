"""Calculus on samples, convolution, interpolation and windows, against NumPy."""

import numpy as np
import pytest

from tests.support.numpy_records import check, op

VECTORS = ((5,), (1,), (0,))
MATRIX = ((3, 4),)

RECORDS = [
    op(lambda a: np.trapezoid(a), shapes=((5,), (3, 4)), dtypes=("int32", "float32", "float64")),
    op(lambda a: np.trapezoid(a, dx=0.5, axis=0), shapes=MATRIX),
    op(lambda a, c: np.trapezoid(a, c), shapes=((5,), ((3, 4), (4,)))),
    op(lambda a: np.gradient(a), shapes=((5,), (2,), (1,))),
    op(lambda a: np.gradient(a, 0.5, axis=1), shapes=MATRIX),
    op(lambda a, c: np.convolve(a, c), shapes=(((5,), (3,)), ((2,), (4,)), ((0,), (2,))), dtypes=("int32", "float64")),
    op(lambda a, c: np.convolve(a, c, mode="same"), shapes=(((5,), (3,)), ((2,), (4,)))),
    op(lambda a, c: np.convolve(a, c, "valid"), shapes=(((5,), (3,)), ((2,), (4,)))),
    op(
        lambda a: np.gradient(a),
        shapes=((5,), (2,), (1,), (3, 4), (2, 3, 4)),
        dtypes=("int32", "float32", "float64", "complex64"),
    ),
    op(lambda a: np.gradient(a, 0.5, axis=1), shapes=((3, 4),)),
    op(lambda a: np.gradient(a, 0.5, 2), shapes=((3, 4),)),
    op(lambda a: np.gradient(a, 0.5, axis=(1, 0), edge_order=2), shapes=((3, 4),)),
    op(lambda a: np.gradient(a, np.array([0, 1, 3]), [0.0, 1, 4, 6]), shapes=((3, 4),), dtypes=("float32", "float64")),
    op(lambda a: np.gradient(a, np.array([0, 1, 3]), [0.0, 1, 4, 6], edge_order=2), shapes=((3, 4),)),
    op(lambda a: np.gradient(a, 1, 2, 3), shapes=((3, 4),)),
    op(lambda a: np.gradient(a, edge_order=3), shapes=((3, 4),)),
    op(lambda a: np.ediff1d(a), shapes=(*VECTORS, (3, 4)), dtypes=("int32", "float64")),
    op(lambda a: np.ediff1d(a, to_end=[8, 9], to_begin=7), shapes=(*VECTORS, (3, 4)), dtypes=("int32", "float64")),
    op(lambda a: np.ediff1d(a, to_end=8.5), shapes=((5,),), dtypes=("int32",)),
    op(lambda a: np.unwrap(a * 3), shapes=(*VECTORS, (3, 4)), dtypes=("float32", "float64")),
    op(lambda a: np.unwrap(a, axis=0, period=4), shapes=((3, 4),), dtypes=("int32", "float64")),
    op(lambda a: np.unwrap(a, discont=2.5, period=5), shapes=((5,),), dtypes=("int32", "float64")),
    op(
        lambda a, c: np.correlate(a, c),
        shapes=(((5,), (3,)), ((2,), (4,)), ((0,), (2,))),
        dtypes=("int32", "float64", "complex128"),
    ),
    op(
        lambda a, c: np.correlate(a, c, "same"),
        shapes=(((5,), (3,)), ((2,), (4,)), ((2,), (5,)), ((3,), (4,)), ((3,), (5,))),
        dtypes=("int32", "float64", "complex128"),
    ),
    op(
        lambda a, c: np.correlate(a, c, mode="full"),
        shapes=(((5,), (3,)), ((2,), (4,))),
        dtypes=("int32", "complex128"),
    ),
    op(lambda a, c: np.convolve(a, c, mode="bad"), shapes=(((5,), (3,)),)),
    op(lambda a: np.interp(a, np.array([-1.0, 0, 2]), np.array([3.0, 5, -1]), period=3), shapes=((5,), (3, 4), ())),
    op(lambda a: np.interp(a, np.array([-1.0, 0, 2]), np.array([3.0, 5j, -1])), shapes=((5,), (3, 4), ())),
    op(lambda a: np.interp(a, [-1, 0, 2], [3, 5, -1], left=0), shapes=((5,),)),
    op(lambda a: np.interp(a, [-1, 0, 2], [3, 5]), shapes=((5,),)),
    op(lambda a: np.bartlett(len(a)), shapes=VECTORS),
    op(lambda a: np.hanning(len(a)), shapes=VECTORS),
    op(lambda a: np.hamming(len(a)), shapes=VECTORS),
    op(lambda a: np.blackman(len(a)), shapes=VECTORS),
    op(lambda a: np.kaiser(len(a), 8.5), shapes=VECTORS),
    op(lambda a: np.kaiser(7, a[0]), shapes=((5,),)),
    op(lambda a: np.i0(a * 10), shapes=(*VECTORS, (3, 4), ()), dtypes=("int32", "float32", "float64")),
    op(lambda a: np.sinc(a), shapes=(*VECTORS, (3, 4), ()), dtypes=("int32", "float32", "float64", "complex128")),
    op(lambda a: np.sinc(0.0) + np.sinc(a[0]), shapes=((5,),)),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)
