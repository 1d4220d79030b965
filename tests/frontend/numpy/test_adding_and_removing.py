"""Elements put in and left out, and arrays in parts, against NumPy."""

import numpy as np
import pytest

from tests.support.numpy_records import check, op

VECTORS = ((5,), (1,), (0,))


def unstacked(a):
    x, y = np.unstack(np.array([a, a * 2]))
    (z,) = np.unstack(a[None], axis=0)
    return x + y + z


RECORDS = [
    op(unstacked, shapes=((5,), (3, 4)), name="unstacked"),
    op(lambda a: np.resize(a, (2, 7)), shapes=(*VECTORS, (3, 4))),
    op(lambda a: np.resize(a, 3), shapes=(*VECTORS, (3, 4))),
    op(lambda a: np.delete(a, 1), shapes=((5,), (3, 4))),
    op(lambda a: np.delete(a, -1, axis=1), shapes=((5,), (3, 4))),
    op(lambda a: np.delete(a, [0, 2, 0], axis=0), shapes=((5,), (3, 4))),
    op(lambda a: np.delete(a, np.s_[::2], 1), shapes=((3, 4),)),
    op(lambda a: np.delete(a, slice(1, 3)), shapes=((3, 4),)),
    op(lambda a: np.delete(a, a > 0), shapes=((5,),)),
    op(lambda a: np.delete(a, 9), shapes=((5,),)),
    op(lambda a: np.insert(a, 1, 9), shapes=((5,), (3, 4))),
    op(lambda a: np.insert(a, -1, [8, 9]), shapes=((5,), (3, 4)), dtypes=("int32", "float64")),
    op(lambda a: np.insert(a, 1, 9, axis=1), shapes=((3, 4),)),
    op(lambda a: np.insert(a, 1, [7, 8, 9], axis=1), shapes=((3, 4),)),
    op(lambda a: np.insert(a, [1], [[7], [8], [9]], axis=1), shapes=((3, 4),)),
    op(lambda a: np.insert(a, [1, 3], [8, 9], axis=1), shapes=((3, 4),)),
    op(lambda a: np.insert(a, [2, 0, 2], [7, 8, 9]), shapes=((5,),)),
    op(lambda a: np.insert(a, [2, 0, 2], 1), shapes=((5,),)),
    op(lambda a: np.insert(a, [2, 0], a[:2], axis=0), shapes=((3, 4),)),
    op(lambda a: np.insert(a, slice(1, 3), [8, 9]), shapes=((5,),)),
    op(lambda a: np.insert(a, 9, 1), shapes=((5,),)),
    op(lambda a: np.insert(a, a[0] > 0, 1), shapes=((5,),)),
    op(lambda a: np.insert(a, np.array([[1], [2]]), 1), shapes=((5,),)),
    op(lambda a: np.insert(a, np.array([1.5]), 1), shapes=((5,),)),
    op(lambda a: np.trim_zeros(a), shapes=(*VECTORS, (3, 4)), dtypes=("int32", "float64"), copies=True),
    op(lambda a: np.trim_zeros(np.array([0, 0, 1, 0, 2, 0]), "f"), shapes=((1,),)),
    op(lambda a: np.trim_zeros(np.array([0, 0, 1, 0, 2, 0]), trim="B"), shapes=((1,),)),
    op(lambda a: np.trim_zeros(np.zeros(4)), shapes=((1,),)),
    op(lambda a: np.trim_zeros(np.array([[0, 0], [0, 1], [0, 0]]), axis=0), shapes=((1,),)),
    op(lambda a: np.insert(a, [1, 3], a[:, :2], axis=-1), shapes=((3, 4),)),
    op(lambda a: tuple(np.array_split(a, 3)), shapes=(*VECTORS, (3, 4))),
    op(lambda a: tuple(np.array_split(a, [1, 3], axis=-1)), shapes=(*VECTORS, (3, 4))),
    op(lambda a: tuple(np.hsplit(a, 2)), shapes=((4,), (3, 4), (2, 3, 4), (5,))),
    op(lambda a: tuple(np.vsplit(a, [1, 2])), shapes=((4,), (3, 4), (2, 3, 4))),
    op(lambda a: tuple(np.dsplit(a, [1, 2])), shapes=((4,), (3, 4), (2, 3, 4))),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)
