"""Means, medians, covariances and histograms, against NumPy."""

import numpy as np
import pytest

from tests.support.lowering import same
from tests.support.numpy_records import check, op

MATRIX = ((3, 4),)

RECORDS = [
    op(lambda a: np.median(a), shapes=((5,), (4,), (3, 4)), dtypes=("int32", "float32", "float64")),
    op(lambda a: np.median(a, axis=1), shapes=MATRIX),
    op(lambda a: np.median(a, axis=0, keepdims=True), shapes=MATRIX),
    op(lambda a: np.average(a), shapes=MATRIX),
    op(lambda a: np.average(a, weights=a * a), shapes=MATRIX),
    op(lambda a, c: np.average(a, axis=1, weights=c * c), shapes=(((3, 4), (4,)),)),
    op(lambda a: np.cov(a), shapes=((3, 4), (5,)), dtypes=("int32", "float64")),
    op(lambda a: np.cov(a, rowvar=False, bias=True), shapes=MATRIX),
    op(lambda a: np.corrcoef(a), shapes=MATRIX),
    op(lambda a: np.histogram(a), shapes=((5,), (3, 4), (0,))),
    op(lambda a: np.histogram(a, bins=4, range=(-1, 2)), shapes=((5,), (3, 4))),
    op(lambda a: np.histogram(a, 3, weights=a * a), shapes=((5,), (3, 4)), dtypes=("int32", "float32", "float64")),
    op(lambda a: np.histogram(a, 3, weights=a > 1, density=False), shapes=((5,), (3, 4))),
    op(lambda a: np.histogram(a, 3, density=True, weights=a * a), shapes=((5,), (3, 4))),
    op(lambda a: np.histogram(a, 3, weights=a[1:]), shapes=((5,),)),
    op(
        lambda a: np.median(a),
        shapes=((5,), (4,), (3, 4), ()),
        dtypes=("bool", "int32", "float16", "float32", "float64"),
    ),
    op(lambda a: np.median(a, axis=(0, 2)), shapes=((2, 3, 4),)),
    op(lambda a: np.median(a, axis=(0, -1), keepdims=True), shapes=((2, 3, 4),)),
    op(lambda a, o: np.median(a, axis=1, out=o), shapes=(((3, 4), (3,)),)),
    op(lambda a: np.average(a), shapes=((5,), (3, 4)), dtypes=("int32", "float32", "complex64")),
    op(lambda a: np.average(a, returned=True), shapes=((5,), (3, 4)), dtypes=("int32", "float32")),
    op(lambda a: np.average(a, axis=1, keepdims=True, returned=True), shapes=((3, 4),), dtypes=("int32", "float32")),
    op(lambda a: np.average(a, weights=a * a, returned=True), shapes=((5,), (3, 4)), dtypes=("int32", "float32")),
    op(lambda a, c: np.average(a, axis=(2, 0), weights=c * c, keepdims=True), shapes=(((2, 3, 4), (4, 2)),)),
    op(
        lambda a, c: np.average(a, axis=1, weights=c * c, returned=True),
        shapes=(((3, 4), (4,)),),
        dtypes=("int32", "float32"),
    ),
    op(lambda a: np.average(a, weights=a - a), shapes=((5,),)),
    op(lambda a: np.cov(a), shapes=((3, 4), (5,)), dtypes=("int32", "float64", "complex128")),
    op(lambda a, c: np.cov(a, c), shapes=((3, 4), (5,)), dtypes=("int32", "float64")),
    op(lambda a: np.cov(a, fweights=np.array([1, 2, 0, 3])), shapes=((3, 4),), dtypes=("int32", "float64")),
    op(lambda a: np.cov(a, aweights=np.array([1, 2, 0, 0.5]), ddof=0), shapes=((3, 4),)),
    op(lambda a: np.cov(a, aweights=np.array([1, 2, 0, 0.5]), fweights=np.array([1, 2, 0, 3])), shapes=((3, 4),)),
    op(lambda a: np.cov(a, dtype=np.float32), shapes=((3, 4),)),
    op(lambda a: np.cov(a, fweights=np.array([1, 2, 0, 3.5])), shapes=((3, 4),)),
    op(lambda a: np.corrcoef(a), shapes=((3, 4),), dtypes=("float64", "complex128")),
    op(lambda a: np.corrcoef(a, dtype=np.float32), shapes=((3, 4),)),
    op(lambda a: np.histogram(a, [-2, 0, 1.5, 4]), shapes=((5,), (3, 4), (0,)), dtypes=("int32", "float64")),
    op(lambda a: np.histogram(a, [-2, 0, 1.5, 4.5], weights=a * a, density=True), shapes=((5,), (3, 4))),
    op(lambda a: np.histogram(a, [-2, 0, -1]), shapes=((5,),)),
    op(lambda a: np.histogram(a, 0), shapes=((5,),)),
    op(lambda a: np.histogram_bin_edges(a, 4), shapes=((5,), (0,)), dtypes=("int32", "float32")),
    op(lambda a: np.histogram_bin_edges(a, 4, range=(0, 3)), shapes=((5,),)),
    op(lambda a: np.histogram_bin_edges(a, [1, 2, 3]), shapes=((5,),)),
    op(lambda a, c: np.histogram2d(a, c, 3), packed=True, shapes=((5,),), dtypes=("int32", "float32", "float64")),
    op(lambda a, c: np.histogram2d(a, c, [3, 2], range=[[-1, 2], [0, 3]], density=True), shapes=((7,),)),
    op(lambda a, c: np.histogram2d(a, c, [-2, 0, 1.5, 4], weights=a * a), packed=True, shapes=((7,),)),
    op(lambda a: np.histogramdd((a[:, 0], a[:, 1]), 2)[0], packed=True, shapes=((6, 3),)),
    op(lambda a: np.histogramdd(a, (2, [-1.0, 0, 3.75], 3), density=True)[0], shapes=((6, 3),)),
    op(lambda a: tuple(np.histogramdd(a, (2, [-1.0, 0, 3.75], 3))[1]), shapes=((6, 3),)),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_beside_the_edges_of_a_histogram_are_counted_where_numpy_does(dtype):
    edges = np.linspace(-0.3, 1.1, 8).astype(dtype)
    x = np.concatenate([np.nextafter(edges, dtype(-9)), edges, np.nextafter(edges, dtype(9))])

    def counted(x):
        return np.histogram(x, 7, (-0.3, 1.1))[0]

    same(counted, x)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_edges_between_extrema_have_the_bits_of_numpy(dtype):
    def edges(x):
        return np.histogram(x, 7)[1], np.histogram_bin_edges(x, 5)

    def edges_of_points(x):
        return np.histogram2d(x, x[::-1], 6)[1]

    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=20).astype(dtype) * dtype(30)
        same(edges, x)
        same(edges_of_points, x)
    same(edges, np.zeros(0, dtype))
