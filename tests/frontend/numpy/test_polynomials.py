"""Polynomials as vectors of coefficients, against NumPy."""

import numpy as np
import pytest

from tests.support.numpy_records import check, op

VECTORS = ((5,), (1,), (0,))

RECORDS = [
    op(lambda a, c: np.polyval(a, c), shapes=(((3,), (4,)), ((3,), ()))),
    op(
        lambda a, c: np.polyadd(a, c),
        shapes=(((3,), (5,)), ((5,), (3,)), ((3,), (3,)), ((), (2,))),
        dtypes=("int32", "float64"),
    ),
    op(lambda a, c: np.polysub(a, c), shapes=(((3,), (5,)), ((5,), (3,)))),
    op(lambda a, c: np.polymul(a, c), shapes=(((3,), (5,)), ((5,), (3,)), ((1,), (2,)))),
    op(lambda a: np.polymul([0, 0, 1.5], a), shapes=((3,),)),
    op(
        lambda a, c: np.polydiv(a, c),
        shapes=(((5,), (3,)), ((2,), (3,)), ((3,), (3,))),
        dtypes=("int32", "float64"),
        positive=True,
    ),
    op(lambda a: np.polyder(a), shapes=((5,), (1,), (3,)), dtypes=("int32", "float32")),
    op(lambda a: np.polyder(a, 2), shapes=((5,),)),
    op(lambda a: np.polyint(a), shapes=((5,), (1,)), dtypes=("int32", "float32")),
    op(lambda a: np.polyint(a, 2, [1, 2]), shapes=((5,),)),
    op(lambda a: np.polyint(a, m=2, k=3), shapes=((5,),)),
    op(lambda a: np.vander(a), shapes=VECTORS, dtypes=("int32", "float32", "bool")),
    op(lambda a: np.vander(a, 3, increasing=True), shapes=VECTORS),
    op(lambda a: np.vander(a, N=6), shapes=VECTORS),
    op(lambda a, c: np.polyfit(np.arange(7.0) + a, c, 2), shapes=((7,),), rtol=1e-8),
    op(lambda a, c: np.polyfit(np.arange(7.0), c, 1, full=True), shapes=((7,), ((7,), (7, 2))), rtol=1e-8),
    op(lambda a, c: np.polyfit(np.arange(7.0), c, 1, cov=True), shapes=((7,), ((7,), (7, 2))), rtol=1e-8),
    op(
        lambda a, c: np.polyfit(np.arange(7.0), c, 1, w=1 + a * a, cov="unscaled"),
        shapes=((7,), ((7,), (7, 2))),
        rtol=1e-8,
    ),
    op(lambda a: np.polyval([1, 2], a), shapes=((4,), ()), dtypes=("int8", "float32", "complex64")),
    op(lambda a: (np.polyval((2.5, a[0]), 3), np.polyval([[1, 2], [3, 4]], a)), shapes=((2,),)),
    op(lambda a: np.poly(a), shapes=((5,), (1,)), dtypes=("int32", "float32", "float64")),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)
