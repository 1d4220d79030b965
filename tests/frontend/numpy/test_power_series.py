"""Derivatives of power series, against NumPy."""

import numpy as np
import pytest
from numpy.polynomial import polynomial

from tests.support.numpy_records import check, op

RECORDS = [
    op(lambda c: polynomial.polyder(c), shapes=(((1,),), ((2,),), ((5,),))),
    op(lambda c: polynomial.polyder(c), shapes=(((4,),),), dtypes=("bool", "int32", "float32", "complex64")),
    op(lambda c: polynomial.polyder(c, 2), shapes=(((1,),), ((2,),), ((3,),), ((6,),))),
    op(lambda c: polynomial.polyder(c, 3, 2.0), shapes=(((7,),), ((4, 2),))),
    op(lambda c: polynomial.polyder(c, m=0), shapes=(((3,),),)),
    op(lambda c: polynomial.polyder(c, axis=1), shapes=(((2, 4),),)),
]


@pytest.mark.parametrize("record", RECORDS)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


def test_negative_orders_raise_numpys_exception():
    check(op(lambda c: polynomial.polyder(c, -1)), (np.ones(3),))


def test_constants_and_nothing():
    for c in (np.array([-1.0]), np.array([-1.0, np.nan]), np.array([np.inf, 1.0]), np.ones(0)):
        check(op(lambda c: polynomial.polyder(c, 2)), (c,))
