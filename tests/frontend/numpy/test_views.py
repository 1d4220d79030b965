"""The same memory as other numbers, in another order, in windows: views, against NumPy."""

import numpy as np
import pytest

from tests.support.lowering import refusal
from tests.support.numpy_records import check, op
from tests.support.oracles import check_same

MATRIX = ((3, 4),)


def write_through(a):
    bits = a.view(np.int64)
    bits[0] = 0
    parts = a.view(np.uint8)
    parts[-8:] = 255
    a.flat[1] = 5
    for k, x in enumerate(a.flat):
        if x == 5:
            a.flat[k] = 6


RECORDS = [
    op(lambda a: a[: int(np.argmax(a)) + 1], shapes=((5,), (1,))),  # the size of the view is known at run time only
    op(lambda a: a.view(np.int64), shapes=((5,), (3, 4), (0,), ())),
    op(lambda a: a[::2].view("u8"), shapes=((5,), (4, 4))),
    op(lambda a: a.view(np.int32), shapes=((5,), (3, 4)), dtypes=("float64", "float32", "complex64")),
    op(lambda a: a[:, ::2].copy().view(np.uint8), shapes=MATRIX, dtypes=("int32",)),
    op(lambda a: a.view(np.complex128), shapes=((4,), (3, 4), (5,))),
    op(lambda a: a.view(np.int64), shapes=((4,), (3, 8)), dtypes=("int8", "int32")),
    op(lambda a: a.view(), shapes=MATRIX),
    op(lambda a: (a.strides, a.T.strides, a[::2].strides), shapes=((5,), (3, 4))),
    op(lambda a: a.flat[3] + a.flat[-1], shapes=((5,), (3, 4)), layouts=("C", "F", "strided")),
    op(lambda a: a.flat[[1, 2]], shapes=((5,), (3, 4)), layouts=("C", "F", "strided")),
    op(lambda a: len(a.flat), shapes=((5,), (3, 4))),
    op(write_through, shapes=((5,),), name="write_through"),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.cc
def test_compiled():
    check_same(write_through, np.arange(5.0))


def test_what_cannot_be_a_view_is_refused():
    def parts(a):
        return a[:, ::2].view(np.int32)

    assert "last axis must be contiguous" in refusal(parts, np.ones((3, 4)))
