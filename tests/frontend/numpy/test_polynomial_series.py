"""Values of the series of `numpy.polynomial`, against NumPy."""

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from tests.support.numpy_records import Record, check, op

SERIES = [
    polynomial.polyval,
    chebyshev.chebval,
    legendre.legval,
    hermite.hermval,
    hermite_e.hermeval,
    laguerre.lagval,
]


def records(series: Any) -> list[Record]:
    """Few and many coefficients; points of all ranks; several series at once; dtypes that NumPy widens, and others."""
    return [
        op(lambda x, c: series(x, c), shapes=tuple((x, (n,)) for x in ((), (3,), (2, 3)) for n in (1, 2, 5))),
        op(lambda x, c: series(x, c), shapes=(((3,), (4,)),), dtypes=("bool", "int32", "float32", "complex64")),
        op(lambda x, c: series(x, c), shapes=(((3,), (4, 2)), ((), (4, 2)))),
        op(lambda x, c: series(x, c, tensor=False), shapes=(((2,), (4, 2)),)),
        op(lambda x: series(0.5, x), shapes=((4,),), dtypes=("float32", "int64")),
        op(lambda x: series([0.5, 2.0], x), shapes=((4,),)),
    ]


@pytest.mark.parametrize("series", SERIES, ids=lambda series: series.__name__)
def test_as_numpy(series):
    for record in records(series):
        for arguments in record.cases():
            check(record, arguments)


@pytest.mark.parametrize("series", SERIES, ids=lambda series: series.__name__)
def test_infinite_points_are_as_numpy(series):
    for n in (1, 2, 3):
        check(op(lambda x, c: series(x, c)), (np.array([np.inf, -np.inf, np.nan]), np.ones(n)))


@pytest.mark.parametrize("series", SERIES, ids=lambda series: series.__name__)
def test_no_coefficients_raise_numpys_exception(series):
    check(op(lambda x, c: series(x, c)), (np.ones(2), np.ones(0)))
