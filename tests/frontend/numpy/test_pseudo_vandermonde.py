"""The pseudo-Vandermonde matrices of `numpy.polynomial`, against NumPy."""

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from tests.support.numpy_records import Record, check, op

MATRICES = [
    polynomial.polyvander,
    chebyshev.chebvander,
    legendre.legvander,
    hermite.hermvander,
    hermite_e.hermevander,
    laguerre.lagvander,
]


def records(matrix: Any) -> list[Record]:
    """Points of all ranks, numbers and lists; few and many degrees, known and not; dtypes, widened and not."""
    return [
        op(lambda x: matrix(x, 0), shapes=((), (3,))),
        op(lambda x: matrix(x, 1), shapes=((3,), (0,))),
        op(lambda x: matrix(x, 5), shapes=((), (3,), (2, 3))),
        op(lambda x: matrix(x, 3), shapes=((3,),), dtypes=("bool", "int32", "float32", "complex64")),
        op(lambda x: matrix([0.5, 2.0], 2) + x, shapes=((3,),)),
    ]


@pytest.mark.parametrize("matrix", MATRICES, ids=lambda matrix: matrix.__name__)
def test_as_numpy(matrix):
    for record in records(matrix):
        for arguments in record.cases():
            check(record, arguments)


@pytest.mark.parametrize("matrix", MATRICES, ids=lambda matrix: matrix.__name__)
def test_degrees_that_the_run_brings(matrix):
    for degree in (0, 1, 4):
        check(op(lambda x, n: matrix(x, n)), (np.array([0.5, -1.0, np.inf]), np.int64(degree)))


@pytest.mark.parametrize("matrix", MATRICES, ids=lambda matrix: matrix.__name__)
def test_negative_degrees_raise_numpys_exception(matrix):
    check(op(lambda x, n: matrix(x, n)), (np.ones(2), np.int64(-1)))
