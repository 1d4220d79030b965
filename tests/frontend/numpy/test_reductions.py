"""Reductions against NumPy: values, dtypes, shapes, classes, exceptions."""

import numpy as np
import pytest

from tests.support.numpy_records import ALL, LAYOUTS, REALS, check, op

FAST = ("bool", "int32", "uint8", "float16", "float64", "complex64")

RECORDS = [
    op(lambda a: np.sum(a), dtypes=ALL),
    op(lambda a: a.sum(), dtypes=FAST, layouts=LAYOUTS),
    op(lambda a: np.sum(a, axis=0), dtypes=FAST),
    op(lambda a: a.sum(-1), dtypes=FAST, layouts=LAYOUTS),
    op(lambda a: np.sum(a, axis=(0, -1), keepdims=True), shapes=((3, 4), (2, 3, 4), (2, 0, 3))),
    op(lambda a: np.sum(a, axis=(), dtype=np.float32)),
    op(lambda a: np.sum(a, dtype=np.int16), dtypes=("int8", "int64")),
    op(lambda a: np.sum(a, initial=3), dtypes=FAST),
    op(lambda a: np.sum(a, where=a > 0), dtypes=("int32", "float64")),
    op(lambda a, o: np.sum(a, axis=0, out=o), shapes=(((3, 4), (4,)),)),
    op(lambda a, o: np.sum(a, out=o), shapes=(((3, 4), ()), ((3, 4), (4,)), ((3, 4), (1,)))),
    op(lambda a, o: np.sum(a, axis=1, out=o), shapes=(((3, 4), (4,)), ((3, 4), (3,)))),
    op(lambda a: np.sum(a, axis=0, out=np.zeros(4, np.float32)), shapes=((3, 4),), dtypes=("int8", "float64")),
    op(lambda a: np.add.reduce(a, out=np.zeros((), np.int8)), shapes=((5,),), dtypes=("int8", "int64", "float64")),
    op(lambda a: np.any(a, axis=0, out=np.zeros(4)), shapes=((3, 4),)),
    op(lambda a: np.cumsum(a, out=np.zeros(5, np.int16)), shapes=((5,),), dtypes=("int8", "int64", "float64")),
    op(lambda a: np.max(a, axis=0, out=np.zeros(4)), shapes=((3, 4),), dtypes=("int8", "float32")),
    op(lambda a: np.prod(a), dtypes=FAST),
    op(lambda a: a.prod(axis=0), dtypes=("int8", "float32")),
    op(lambda a: np.min(a), dtypes=REALS),
    op(lambda a: np.max(a, axis=-1), dtypes=REALS, layouts=LAYOUTS),
    op(lambda a: a.max(axis=0, keepdims=True)),
    op(lambda a: np.amin(a, axis=None, initial=2.5)),
    op(lambda a: np.max(a, initial=-1, where=a < 3), dtypes=("int32", "float64")),
    op(lambda a: np.any(a), dtypes=ALL),
    op(lambda a: a.all(axis=-1), dtypes=FAST),
    op(lambda a: np.all(a > 0, axis=0, keepdims=True)),
    op(lambda a: np.mean(a), dtypes=ALL, shapes=((), (1,), (5,), (3, 4))),
    op(lambda a: a.mean(axis=0), dtypes=FAST, shapes=((5,), (3, 4), (2, 3, 4))),
    op(lambda a: np.mean(a, dtype=np.float32), dtypes=("int32", "float64"), shapes=((5,), (3, 4))),
    op(lambda a: np.mean(a, axis=1, keepdims=True, where=a > -9), shapes=((3, 4),), dtypes=("int32", "float32")),
    op(lambda a: np.var(a), dtypes=FAST, shapes=((), (1,), (5,), (3, 4))),
    op(lambda a: np.std(a, axis=0, ddof=1), dtypes=FAST, shapes=((5,), (3, 4))),
    op(lambda a: a.std(axis=-1, keepdims=True), shapes=((5,), (3, 4))),
    op(lambda a: np.argmax(a), dtypes=REALS),
    op(lambda a: a.argmin(axis=-1), dtypes=FAST[:5], layouts=LAYOUTS),
    op(lambda a: np.argmax(a, axis=0, keepdims=True)),
    op(lambda a: np.ptp(a, axis=-1), dtypes=("int32", "float32"), shapes=((5,), (3, 4))),
    op(lambda a: np.count_nonzero(a), dtypes=FAST),
    op(lambda a: np.count_nonzero(a, axis=0), shapes=((5,), (3, 4))),
    op(lambda a: np.add.reduce(a), dtypes=("int32", "float64")),
    op(lambda a: np.maximum.reduce(a, axis=1), shapes=((3, 4), (3, 0))),
    op(lambda a: np.logical_or.reduce(a), dtypes=("bool", "float64")),
    op(lambda a: np.cumsum(a), dtypes=FAST),
    op(lambda a: a.cumsum(axis=-1), dtypes=("int8", "float64"), layouts=LAYOUTS),
    op(lambda a: np.cumprod(a, axis=0, dtype=np.float32), shapes=((5,), (3, 4))),
    op(lambda a: np.maximum.accumulate(a, axis=0), shapes=((5,), (3, 4), (0,))),
    op(lambda a: np.diff(a), dtypes=("bool", "uint8", "float64"), shapes=((0,), (1,), (5,), (3, 4))),
    op(lambda a: np.diff(a, n=2, axis=0), shapes=((5,), (3, 4))),
    op(lambda a: np.linalg.norm(a), dtypes=("int32", "float32", "complex128"), shapes=((5,), (3, 4))),
    op(lambda a: np.linalg.norm(a, axis=1), shapes=((3, 4),)),
    op(lambda a: np.amax(a) - np.amin(a, axis=0), shapes=((5,), (3, 4))),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)
