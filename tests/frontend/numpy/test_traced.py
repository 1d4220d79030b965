"""Functions that are Python functions: sorting, statistics, solvers, calculus on samples, against NumPy."""

import numpy as np
import pytest

from tests.support.numpy_records import check, interpreted, op

VECTOR = ((5,), (1,), (0,))
MATRIX = ((3, 4),)
SQUARE = ((3, 3), (1, 1))
SORTED = ("bool", "int8", "uint64", "float32", "float64")
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
    op(lambda a: np.sort(a), shapes=((5,), (1,), (0,), (3, 4), (2, 0)), dtypes=SORTED),
    op(lambda a: np.sort(a, axis=0), shapes=((3, 4), (2, 3, 4))),
    op(lambda a: np.sort(a, axis=None), shapes=MATRIX),
    op(lambda a: np.argsort(a, kind="stable"), shapes=((5,), (3, 4)), dtypes=("int32", "float64")),
    op(lambda a: a.argsort(axis=0, kind="stable"), shapes=MATRIX),
    op(sort_in_place, shapes=((5,), (3, 4)), layouts=("C", "reversed"), name="sort_in_place"),
    op(lambda a: np.searchsorted(np.sort(a), a), shapes=VECTOR, dtypes=("int32", "float64")),
    op(lambda a: np.searchsorted(np.sort(a), 0.75, side="right"), shapes=((5,),)),
    op(lambda a: np.isin(a, [0, 1.5]), shapes=((5,), (3, 4))),
    op(lambda a: np.median(a), shapes=((5,), (4,), (3, 4)), dtypes=("int32", "float32", "float64")),
    op(lambda a: np.median(a, axis=1), shapes=MATRIX),
    op(lambda a: np.median(a, axis=0, keepdims=True), shapes=MATRIX),
    op(lambda a: np.average(a), shapes=MATRIX),
    op(lambda a: np.average(a, weights=a * a), shapes=MATRIX),
    op(lambda a, c: np.average(a, axis=1, weights=c * c), shapes=(((3, 4), (4,)),)),
    op(lambda a: np.nansum(a / a), shapes=((5,), (3, 4))),
    op(lambda a: np.nanmean(a / a, axis=0), shapes=((3, 4),)),
    op(lambda a: np.nanmin(a / a + a, axis=0), shapes=((5,), (3, 4))),
    op(lambda a: np.nanmax(a / a + a, axis=-1), shapes=((5,), (3, 4))),
    op(lambda a: np.cov(a), shapes=((3, 4), (5,)), dtypes=("int32", "float64")),
    op(lambda a: np.cov(a, rowvar=False, bias=True), shapes=MATRIX),
    op(lambda a: np.corrcoef(a), shapes=MATRIX),
    op(lambda a: np.histogram(a), shapes=((5,), (3, 4), (0,))),
    op(lambda a: np.histogram(a, bins=4, range=(-1, 2)), shapes=((5,), (3, 4))),
    op(lambda a: np.histogram(a, 3, weights=a * a), shapes=((5,), (3, 4)), dtypes=("int32", "float32", "float64")),
    op(lambda a: np.histogram(a, 3, weights=a > 1, density=False), shapes=((5,), (3, 4))),
    op(lambda a: np.histogram(a, 3, density=True, weights=a * a), shapes=((5,), (3, 4))),
    op(lambda a: np.histogram(a, 3, weights=a[1:]), shapes=((5,),)),
    op(positive_definite, shapes=((3, 3),), dtypes=("int32", "float64", "complex128"), name="positive_definite"),
    op(inverse, shapes=SQUARE, dtypes=("float32", "float64", "complex128"), name="inverse", rtol=1e-10),
    op(lambda a, c: np.linalg.solve(a + 9 * np.eye(3), c), shapes=(((3, 3), (3, 2)), ((3, 3), (3,))), rtol=1e-10),
    op(change, shapes=((3, 3), (3, 4)), name="change"),
    op(lambda a, c: np.cross(a, c), shapes=((3,), ((4, 3), (3,))), dtypes=("int32", "float64")),
    op(lambda a: np.trapezoid(a), shapes=((5,), (3, 4)), dtypes=("int32", "float32", "float64")),
    op(lambda a: np.trapezoid(a, dx=0.5, axis=0), shapes=MATRIX),
    op(lambda a, c: np.trapezoid(a, c), shapes=((5,), ((3, 4), (4,)))),
    op(lambda a: np.gradient(a), shapes=((5,), (2,), (1,))),
    op(lambda a: np.gradient(a, 0.5, axis=1), shapes=MATRIX),
    op(lambda a, c: np.convolve(a, c), shapes=(((5,), (3,)), ((2,), (4,)), ((0,), (2,))), dtypes=("int32", "float64")),
    op(lambda a, c: np.convolve(a, c, mode="same"), shapes=(((5,), (3,)), ((2,), (4,)))),
    op(lambda a, c: np.convolve(a, c, "valid"), shapes=(((5,), (3,)), ((2,), (4,)))),
    op(interpolate, shapes=((5,), (0,), (2, 3)), name="interpolate"),
    op(lambda a: np.interp(0.4, np.sort(a), a, left=-9, right=9), shapes=((5,),)),
    op(lambda a, c: np.polyval(a, c), shapes=(((3,), (4,)), ((3,), ()))),
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
