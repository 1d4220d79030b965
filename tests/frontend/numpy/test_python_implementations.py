"""Functions that are Python functions: how they work together, and writes, against NumPy."""

from operator import attrgetter

import numpy as np
import pytest

import dcpy
from dcpy.frontend.implements import find, implemented
from dcpy.frontend.numpy.sorting.sort_and_search import sorted_rows
from tests.support.numpy_records import check, interpreted, op

SQUARE = ((3, 3), (1, 1))
NANS = np.array([3.0, np.nan, 1.0, np.nan, -2.0])


def sort_in_place(a):
    a.sort()
    return a


def add_at(a, c):
    np.add.at(a, np.array([0, 2, 0, 0]), 1.5)
    np.subtract.at(a, np.array([1, 1]), c[:2])
    np.maximum.at(a, np.array([3, 3]), c[:2])
    np.minimum.at(a, [[0, 4], [0, 1]], c[1])
    np.multiply.at(a, np.array([2, 2]), c[:2])


def add_rows(a):
    np.add.at(a, np.array([0, 1, 0]), a[1] * 2)
    np.add.at(a, (np.array([0, 2, 0]), np.array([1, 1, 1])), 10)
    np.subtract.at(a, (np.array([0, 0]), np.array([3, 3])), np.array([1.5, 2.5]))


def change(a):
    np.fill_diagonal(a, 7)
    np.copyto(a[0], a[1])


def positive_definite(a):
    return np.linalg.cholesky(a @ a.T + 9 * np.eye(3))


def inverse(a):
    m = a + 9 * np.eye(len(a))
    return np.linalg.inv(m), np.linalg.det(m), np.linalg.matrix_power(m, 3), np.linalg.matrix_power(m, -1)


def interpolate(a):
    return np.interp(a, np.array([-1.0, 0.0, 2.0]), np.array([3.0, 5.0, -1.0]))


RECORDS = [
    op(sort_in_place, shapes=((5,), (3, 4)), layouts=("C", "reversed"), name="sort_in_place"),
    op(positive_definite, shapes=((3, 3),), dtypes=("int32", "float64", "complex128"), name="positive_definite"),
    op(inverse, shapes=SQUARE, dtypes=("float32", "float64", "complex128"), name="inverse", rtol=1e-10),
    op(lambda a, c: np.linalg.solve(a + 9 * np.eye(3), c), shapes=(((3, 3), (3, 2)), ((3, 3), (3,))), rtol=1e-10),
    op(change, shapes=((3, 3), (3, 4)), name="change"),
    op(lambda a, c: np.cross(a, c), shapes=((3,), ((4, 3), (3,))), dtypes=("int32", "float64")),
    op(interpolate, shapes=((5,), (0,), (2, 3)), name="interpolate"),
    op(add_rows, shapes=((3, 4),), name="add_rows"),
    op(add_at, shapes=((5,),), name="add_at"),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.parametrize(
    "function", [np.sort, np.median, np.nansum, np.nanmean, np.nanmax, np.nanmin], ids=lambda f: f.__name__
)
def test_nan(function):
    np.testing.assert_array_equal(interpreted(lambda a: function(a), NANS), function(NANS))


def test_singular_matrices_raise():
    with pytest.raises(ValueError, match="Singular matrix"):
        interpreted(lambda a: np.linalg.inv(a), np.ones((3, 3)))
    with pytest.raises(ValueError, match="not positive definite"):
        interpreted(lambda a: np.linalg.cholesky(a), -np.eye(2))


def test_operations_of_dcpys_own_are_not_offered_to_users():
    assert find(sorted_rows) is not None
    assert not any("sorted_rows" in name for name in implemented())
    own = [name.removeprefix("dcpy.") for name in implemented() if "dcpy" in name]
    assert all(callable(attrgetter(name)(dcpy)) for name in own)
