"""Weight functions of orthogonal polynomials, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre

import dcpy
from tests.support.numpy_records import check, op

WEIGHTS = [
    chebyshev.chebweight,
    legendre.legweight,
    hermite.hermweight,
    hermite_e.hermeweight,
    laguerre.lagweight,
]


@pytest.mark.parametrize("weight", WEIGHTS, ids=lambda weight: weight.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_as_numpy(weight):
    shapes = ((), (3,), (2, 3))
    dtypes = ("bool", "int16", "int64", "float32", "float64", "complex128")
    if weight is laguerre.lagweight:  # NumPy negates no booleans
        dtypes = dtypes[1:]
    record = op(lambda x: weight(x), shapes=shapes, dtypes=dtypes)
    for arguments in record.cases():
        check(record, arguments)


def integral(coefficients, x):
    return np.sum(np.polynomial.hermite.hermval(x, coefficients) * np.polynomial.hermite.hermweight(x)) * (x[1] - x[0])


@pytest.mark.cc
def test_quadrature_in_a_program():
    x = np.linspace(-8, 8, 400)
    program = dcpy.program(integral)
    assert np.isclose(program(np.array([2.0, 1.0]), x), 2 * np.sqrt(np.pi))
