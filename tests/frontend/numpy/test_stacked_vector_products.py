"""Products of stacks of vectors and matrices, and tensors as matrices, against NumPy."""

import numpy as np
import pytest

from dcpy.base.errors import FrontendError
from tests.support.numpy_records import check, interpreted, op

FEW = ("bool", "int32", "float32", "complex128")
CUBE = ((2, 3, 3), (3, 3))
PAIRS = (((4,), (4,)), ((3, 4), (4,)), ((2, 3, 4), (3, 4)), ((3,), (4,)), ((0,), (0,)))

RECORDS = [
    op(lambda a, c: np.linalg.matmul(a, c), shapes=(((3, 4), (4, 2)), ((2, 3, 4), (4, 2))), dtypes=FEW),
    op(lambda a, c: np.linalg.outer(a, c), shapes=(((3,), (4,)),), dtypes=FEW),
    op(lambda a, c: np.linalg.tensordot(a, c, axes=1), shapes=(((2, 3), (3, 4)),)),
    op(lambda a: np.linalg.diagonal(a, offset=1), shapes=CUBE),
    op(lambda a: np.linalg.trace(a), shapes=CUBE, dtypes=FEW),
    op(lambda a: np.linalg.trace(a, offset=-1, dtype=np.float32), shapes=CUBE),
    op(lambda a: np.matrix_transpose(a) + np.linalg.matrix_transpose(a), shapes=CUBE),
    op(lambda a, c: np.vecdot(a, c), shapes=PAIRS, dtypes=FEW),
    op(lambda a, c: np.linalg.vecdot(a, c, axis=0), shapes=(((3,), (3,)), ((3, 2), (3, 2))), dtypes=FEW),
    op(lambda a, c: np.matvec(a, c), shapes=(((3, 4), (4,)), ((2, 3, 4), (2, 4)), ((3, 4), (2, 4))), dtypes=FEW),
    op(lambda a, c: np.vecmat(a, c), shapes=(((3,), (3, 4)), ((2, 3), (2, 3, 4))), dtypes=FEW),
    op(lambda a, c: np.linalg.cross(a, c), shapes=(((3,), (3,)), ((2, 3), (2, 3)))),
    op(lambda a, c: np.linalg.cross(a, c, axis=0), shapes=(((3, 2), (3, 2)),)),
    op(lambda a: np.linalg.tensorinv(a + 6 * np.eye(4).reshape(2, 2, 2, 2)), shapes=((2, 2, 2, 2),)),
    op(lambda a: np.linalg.tensorinv(a + 6 * np.eye(4).reshape(4, 2, 2), ind=1), shapes=((4, 2, 2),)),
    op(lambda a, c: np.linalg.tensorsolve(a, c), shapes=(((2, 3, 6), (2, 3)), ((4, 2, 2), (4,)))),
    op(lambda a, c: np.linalg.tensorsolve(a, c, axes=(0, 2)), shapes=(((2, 4, 2), (4,)),)),
    op(lambda a: np.cross(a, a[::-1], axis=0), shapes=((3, 4),)),
    op(lambda a, c: np.cross(a, c, axisa=0, axisc=0), shapes=(((3, 4), (4, 3)),)),
    op(lambda a, c: np.linalg.cross(a, c, axis=0), shapes=(((3, 4), (3, 4)),)),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


def test_tensors_that_are_no_square_matrices_raise():
    with pytest.raises(np.linalg.LinAlgError, match="must satisfy the requirement"):
        interpreted(lambda a, c: np.linalg.tensorsolve(a, c), np.ones((2, 3, 5)), np.ones((2, 3)))


def test_refusals():
    with pytest.raises(FrontendError, match="one-dimensional"):
        interpreted(lambda a: np.linalg.outer(a, a), np.ones((2, 2)))
    with pytest.raises(FrontendError, match="at least 2-dimensional"):
        interpreted(lambda a: np.matrix_transpose(a), np.ones(2))
    with pytest.raises(FrontendError, match="Invalid ind"):
        interpreted(lambda a: np.linalg.tensorinv(a, 0), np.ones((2, 2)))
