"""Quantiles by all methods, and reductions of what is not NaN, against NumPy."""

import numpy as np
import pytest

from tests.support.numpy_records import Record, check, op

MATRIX = ((3, 4),)
CUBE = ((2, 3, 4),)
FLOATS = ("float32", "float64")
METHODS = (
    "linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased",
)  # fmt: skip
REDUCTIONS = (np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmin, np.nanmax, np.nanmedian)

RECORDS = [
    op(lambda a: np.quantile(a, 1), shapes=((5,), (3, 4)), dtypes=("int32", "float32")),
    op(lambda a: np.percentile(a, 50), shapes=((5,), (3, 4)), dtypes=("int32", "float32", "float16")),
    op(lambda a: np.quantile(a, a[0] * 0 + 0.5), shapes=((5,),), dtypes=FLOATS),
    op(lambda a: np.quantile(a, [0.5, 0.2], axis=(0, 2), keepdims=True), shapes=CUBE),
    op(lambda a: np.quantile(a, [[0.5, 0.2]], axis=1), shapes=MATRIX),
    op(lambda a: np.quantile(a, 1.5), shapes=((5,),)),
    op(lambda a: np.quantile(a, 0.5, method="middle"), shapes=((5,),)),
    op(lambda a: np.quantile(np.sqrt(a), 0.5, axis=0), shapes=MATRIX),
    op(lambda a, w: np.quantile(a, 0.5, axis=0, weights=w * w, method="inverted_cdf"), shapes=((3, 4), ((3, 4), (3,)))),
    op(lambda a, w: np.quantile(a, [0, 1], 1, weights=w * w, method="inverted_cdf"), shapes=((3, 4), ((3, 4), (4,)))),
    op(lambda a, w: np.percentile(a, [0, 50.0, 99], weights=w * w, method="inverted_cdf"), shapes=((5,),)),
    op(lambda a, o: np.quantile(a, 0.5, axis=1, out=o), shapes=(((3, 4), (3,)),)),
    op(lambda a: np.nancumsum(np.sqrt(a)), shapes=((5,), (3, 4))),
    op(lambda a: np.nancumprod(np.sqrt(a), axis=1), shapes=MATRIX),
    op(lambda a: np.nansum(np.sqrt(a), 0, np.float64, where=a < 3, initial=2), shapes=MATRIX, dtypes=("float32",)),
    op(lambda a: np.nanmean(np.sqrt(a), axis=0, where=a < 3), shapes=MATRIX, dtypes=("float32",)),
    op(lambda a: np.nanvar(np.sqrt(a), axis=0, where=a < 3, ddof=1), shapes=MATRIX),
    op(lambda a: np.nanvar(np.sqrt(a), axis=0, correction=1), shapes=MATRIX),
    op(lambda a: np.nanstd(a, mean=np.mean(a)), shapes=MATRIX),
    op(lambda a: np.nanmax(np.sqrt(a), axis=0, where=a < 3, initial=1), shapes=MATRIX),
    op(lambda a: np.nanargmin(np.sqrt(a)), shapes=((5,), (3, 4), (0,)), dtypes=("float32", "int32")),
    op(lambda a: np.nanargmax(np.sqrt(a + 3), axis=1, keepdims=True), shapes=MATRIX),
    op(lambda a: np.quantile(a, np.float32(0.25), axis=0), shapes=MATRIX, dtypes=("int8", "int32", "float16")),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.parametrize("method", METHODS)
def test_methods(method):
    records = [
        Record(lambda a: np.quantile(a, 0.3, method=method), ((4,),), ("int32", "float32")),
        Record(lambda a: np.quantile(a, [0.0, 0.1, 0.5, 1], axis=1, method=method), MATRIX, ("int32", "float32")),
        Record(lambda a: np.percentile(a, np.array([10, 50], np.float32), 0, method=method), MATRIX, ("float32",)),
        Record(lambda a: np.nanpercentile(np.sqrt(a), 30, axis=0, method=method), MATRIX, FLOATS),
        Record(lambda a: np.nanquantile(np.sqrt(a), [0.2, 0.7], axis=1, method=method), MATRIX, FLOATS),
    ]
    for record in records:
        for arguments in record.cases():
            check(record, arguments)


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
def test_without_nan(function):
    plain = ("int32",) if function is np.nanmedian else ("bool", "uint8", "complex64")
    records = [
        Record(lambda a: function(np.sqrt(a)), ((5,), (3, 4), (0,), ()), ("float32", "bool")),
        Record(lambda a: function(np.sqrt(a), axis=1, keepdims=True), MATRIX, FLOATS),
        Record(lambda a: function(a, axis=0), ((3, 4), (0, 3)), plain),
        Record(lambda a, o: function(np.sqrt(a), axis=0, out=o), (((3, 4), (4,)),)),
    ]
    for record in records:
        for arguments in record.cases():
            check(record, arguments)
