"""Index arrays, and what NumPy writes in brackets, against NumPy."""

import numpy as np
import pytest

from tests.support.numpy_records import check, op

VECTORS = ((5,), (1,), (0,))
MATRIX = ((3, 4),)

RECORDS = [
    op(lambda a: np.take_along_axis(a, np.array([[1, 0, -1]]).T, 1), shapes=((3, 4),)),
    op(lambda a: np.take_along_axis(a, np.array([1, 0, -1]), None), shapes=((3, 4),)),
    op(lambda a: np.choose(np.array([0, 2, 1, 0]), [a[0], a[1], a[2]]), shapes=((3, 4),)),
    op(lambda a: np.choose(np.array([0, 2, 1, 0]), a), shapes=((3, 4),)),
    op(lambda a: np.choose(np.array([0, 2, 1, 5]), a), shapes=((3, 4),)),
    op(lambda a: np.choose(np.array([0, 2, -1, 5]), a, mode="clip"), shapes=((3, 4),)),
    op(lambda a: np.array([0, 2, -1, 5]).choose((a, 3.5, a * 2), mode="wrap"), shapes=((3, 4),)),
    op(lambda a: np.choose(1, (a, 3.5)), shapes=((3, 4),)),
    op(lambda a: np.choose([0, 1, 1], (a, 2)), shapes=((3,),), dtypes=("bool", "int8", "float32", "uint64")),
    op(lambda a: np.choose(1, [a[0], 300]), shapes=((3,),), dtypes=("int8", "int16")),
    op(lambda a: np.unravel_index(a > 0, (2, 3)), shapes=((4,),)),
    op(lambda a: a[np.ix_([0, 2], [1, 3, 1])], shapes=MATRIX),
    op(lambda a: (a[[]], a[:, []], a[[], 0], a[[[]]], a[1, ...][[]]), shapes=MATRIX),
    op(lambda a: (np.take(a, [], axis=1), a.take(()), a[0][np.array([], dtype=np.int8)]), shapes=MATRIX),
    op(lambda a: a[np.ix_([0, 2], a[0] > 0)], shapes=MATRIX),
    op(lambda a: np.ix_(a, a > 0, []), shapes=VECTORS),
    op(lambda a: np.tril_indices(len(a)), shapes=VECTORS),
    op(lambda a: np.triu_indices(4, 1, 3), shapes=((1,),)),
    op(lambda a: a[np.tril_indices_from(a, -1)], shapes=MATRIX),
    op(lambda a: np.triu_indices_from(a), shapes=MATRIX),
    op(lambda a: np.mask_indices(3, np.triu), shapes=((1,),)),
    op(lambda a: np.mask_indices(3, np.tril, -1), shapes=((1,),)),
    op(lambda a: np.diag_indices(3), shapes=((1,),)),
    op(lambda a: a[np.diag_indices_from(a)], shapes=((3, 3), (3, 4))),
    op(lambda a: np.unravel_index([0, 7, 11], (3, 4)), shapes=((1,),)),
    op(lambda a: np.unravel_index(np.argmax(a), a.shape), shapes=((3, 4), (2, 3, 4))),
    op(lambda a: np.unravel_index(np.array([[1, 2]]), a.shape, order="F"), shapes=((3, 4),), packed=True),
    op(lambda a: np.unravel_index(99, a.shape), shapes=((3, 4),)),
    op(lambda a: np.ravel_multi_index(([0, 1], [2, 3]), (3, 4)), shapes=((1,),)),
    op(lambda a: np.ravel_multi_index((np.array([0, 1]), np.array([2, 3])), a.shape, order="F"), shapes=((3, 4),)),
    op(lambda a: np.ravel_multi_index((5, -1), a.shape, mode=("wrap", "clip")), shapes=((3, 4),)),
    op(lambda a: np.ravel_multi_index((5, -1), a.shape), shapes=((3, 4),)),
    op(lambda a: np.r_[1:4, 0, a], shapes=VECTORS, dtypes=("int8", "float32", "complex64")),
    op(lambda a: np.r_[-1:1:5j, a], shapes=VECTORS),
    op(lambda a: np.r_[1, 2.5], shapes=VECTORS),
    op(lambda a: np.r_[a, a[:1]], shapes=MATRIX),
    op(lambda a: np.c_[a, a * 2], shapes=(*VECTORS, (3, 4))),
    op(lambda a: np.c_[1:4, [4, 5, 6]], shapes=((1,),)),
    op(lambda a: np.c_[1, 2, 3.0], shapes=((1,),)),
    op(lambda a: a[np.s_[1:3]], shapes=(*VECTORS, (3, 4))),
    op(lambda a: a[np.index_exp[0, ::2]], shapes=MATRIX),
    op(lambda a: np.take(a, [7, -9], mode="wrap"), shapes=((5,),)),
    op(lambda a: a.take([7, -9, 1], axis=1, mode="clip"), shapes=MATRIX),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)
