"""`einsum` and `tensordot` against NumPy."""

import numpy as np
import pytest

from dcpy.base.errors import FrontendError
from tests.support.numpy_records import check, interpreted, op

MATRICES = (((2, 3), (3, 4)), ((0, 3), (3, 2)))

RECORDS = [
    op(lambda a, c: np.einsum("ik,kj->ij", a, c), shapes=MATRICES, dtypes=("int32", "float32", "complex128")),
    op(lambda a, c: np.einsum("ik,kj", a, c), shapes=MATRICES),
    op(lambda a, c: np.einsum("ik,kj->ji", a, c), shapes=MATRICES),
    op(lambda a, c: np.einsum("ij,kj->ik", a, c), shapes=(((2, 3), (4, 3)),)),
    op(lambda a, c: np.einsum("bik,bkj->bij", a, c), shapes=(((2, 3, 4), (2, 4, 5)),)),
    op(lambda a, c: np.einsum("abcd,cdef->abef", a, c), shapes=(((2, 3, 4, 5), (4, 5, 2, 2)),)),
    op(lambda a, c: np.einsum("i,j->ij", a, c), shapes=(((3,), (2,)),)),
    op(lambda a, c: np.einsum("i,i", a, c), shapes=((3,), (0,))),
    op(lambda a, c: np.einsum("ij,ij->i", a, c), shapes=((2, 3),)),
    op(lambda a, c: np.einsum("ij,j->i", a, c), shapes=(((2, 3), (3,)),)),
    op(lambda a, c: np.einsum("ij,ij->ij", a, c), shapes=((2, 3),)),
    op(lambda a: np.einsum("ii", a), shapes=((3, 3),)),
    op(lambda a: np.einsum("ii->i", a), shapes=((3, 3),)),
    op(lambda a: np.einsum("ij->ji", a), shapes=((2, 3),)),
    op(lambda a: np.einsum("ijk->k", a), shapes=((2, 3, 4),)),
    op(lambda a, c, d: np.einsum("ij,jk,kl->il", a, c, d), shapes=(((2, 3), (3, 4), (4, 2)),)),
    op(lambda a, c, o: np.einsum("ik,kj->ij", a, c, out=o), shapes=(((2, 3), (3, 4), (2, 4)),)),
    op(lambda a, c: np.tensordot(a, c, axes=1), shapes=MATRICES),
    op(lambda a, c: np.tensordot(a, c), shapes=(((2, 3, 4), (3, 4, 5)), ((2, 3), (2, 3)))),
    op(lambda a, c: np.tensordot(a, c, axes=([0, 1], [1, 0])), shapes=(((2, 3, 4), (3, 2, 2)),)),
    op(lambda a, c: np.tensordot(a, c, 0), shapes=(((2,), (3,)),)),
    op(lambda a: np.einsum("...i->...", a), shapes=((3,), (3, 4), (2, 3, 4))),
    op(
        lambda a, c: np.einsum("...ij,...jk->...ik", a, c),
        shapes=(((2, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2)), ((3, 4), (4, 2))),
        rtol=1e-10,
    ),
    op(lambda a, c: np.einsum("...ij,jk", a, c), shapes=(((2, 3, 4), (4, 5)), ((3, 4), (4, 2))), rtol=1e-10),
    op(lambda a: np.einsum("...ii->...i", a), shapes=((3, 3), (2, 3, 3))),
    op(lambda a: np.einsum("i...->...i", a), shapes=((3,), (2, 3, 4))),
    op(lambda a: np.einsum("i...->i", a), shapes=((2, 3, 4),)),
    op(lambda a, c: np.einsum(a, [0, 1], c, [1, 2], [0, 2]), shapes=(((3, 4), (4, 2)),), rtol=1e-10),
    op(lambda a, c: np.einsum(a, [0, 1], c, [1, 2]), shapes=(((3, 4), (4, 2)),), rtol=1e-10),
    op(lambda a: np.einsum(a, [..., 0], [0, ...]), shapes=((3, 4), (2, 3, 4))),
    op(lambda a: np.einsum("ij->"), shapes=((3, 4),)),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


def test_letters_must_fit():
    with pytest.raises(FrontendError, match="2 groups of letters, but 1 operands"):
        interpreted(lambda a: np.einsum("ij,jk", a), np.ones((2, 2)))
    with pytest.raises(FrontendError, match="output letters"):
        interpreted(lambda a: np.einsum("ij->z", a), np.ones((2, 2)))
