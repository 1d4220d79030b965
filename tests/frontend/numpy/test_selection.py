"""Choices per element against NumPy."""

import numpy as np
import pytest

from tests.support.numpy_records import ALL, LAYOUTS, check, interpreted, op

VECTORS = ((5,), (1,), (0,))

RECORDS = [
    op(lambda a, c: np.where(a > 0, a, c), dtypes=("int8", "float32", "float64"), layouts=LAYOUTS),
    op(lambda a: np.where(a, 1, 0), dtypes=ALL),
    op(lambda a: np.where(a > 0, a, 0.5), dtypes=("int32", "float16", "float32")),
    op(lambda a: np.where(a > 0, a, 300), dtypes=("uint8", "int32"), shapes=((4,),)),
    op(lambda a, c: np.where(a > 0, a, c), shapes=(((3, 1), (4,)), ((), (3,))), name="broadcast"),
    op(lambda a: np.where(True, a, 0.0)),
    op(lambda a: np.where(a > 0), shapes=((5,), (3, 4))),
    op(lambda a: np.where(a[0] > 0, 1, 2.5), shapes=((3,),)),
    op(lambda a: np.clip(a, -1, 2), dtypes=("int8", "uint8", "int64", "float16", "float32")),
    op(lambda a: np.clip(a, 0.5, None), dtypes=("int32", "float32")),
    op(lambda a: a.clip(max=2), dtypes=("uint8", "float64"), layouts=LAYOUTS),
    op(lambda a: np.clip(a, -300, 300), dtypes=("int8", "uint8"), shapes=((4,),)),
    op(lambda a, c: np.clip(a, c - 1, c + 1, out=a), shapes=((4,), (2, 3))),
    op(lambda a: np.clip(a[0], 1, 2), shapes=((3,),), dtypes=("int32", "float32")),
    op(lambda a: np.clip(a), shapes=((3,),)),
    op(lambda a: np.select([a > 2, a > 0], [a, -a], 9), shapes=((5,), (2, 3)), dtypes=("int32", "float32")),
    op(lambda a, c: np.isclose(a, c), dtypes=("int32", "float32", "float64", "complex64")),
    op(lambda a: np.isclose(a, a + 1e-9), shapes=((5,), ())),
    op(lambda a: np.isclose(a / 0, a / 0, equal_nan=True), shapes=((5,),)),
    op(lambda a, c: np.allclose(a, c), shapes=((4,),)),
    op(lambda a: np.allclose(a, a), dtypes=("int32", "float32")),
    op(lambda a: np.array_equal(a, a + 1), dtypes=("int32", "float32")),
    op(lambda a: np.maximum(a, 0) + np.minimum(a, 1), dtypes=("int8", "float32"), shapes=((4,),)),
    op(lambda a: np.array_equal(a/a, a/a, equal_nan=True), shapes=((5,),)),
    op(lambda a: np.array_equal(a/a, a/a), shapes=((5,),)),
    op(lambda a: a.clip(0, max=2), shapes=VECTORS),
    op(lambda a: a.clip(min=0), shapes=VECTORS),
    op(lambda a: a.compress(a>0), shapes=VECTORS),
    op(lambda a,o: np.compress([True,False,True], a, axis=0, out=o), shapes=(((3,4),(2,4)),)),
    op(lambda a: np.piecewise(a, [a<0, a>1], [-1, lambda x: x*2, 7]), shapes=(*VECTORS, (3, 4))),
    op(lambda a: np.piecewise(a, a<0, [lambda x, k: x*k], 3), shapes=((5,), (1,))),
    op(lambda a: np.piecewise(a, [a<0, a>1], [-1]), shapes=VECTORS),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


def test_nan_goes_through():
    a = np.array([np.nan, 1.0, -1.0])
    assert np.isnan(interpreted(lambda a: np.clip(a, 0, 1), a)[0])
    assert np.isnan(interpreted(lambda a: np.maximum(a, 0), a)[0])
