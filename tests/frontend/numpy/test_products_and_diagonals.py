"""Products of vectors and matrices, diagonals, norms, against NumPy."""

import numpy as np
import pytest

from dcpy.base.errors import FrontendError
from tests.support.numpy_records import ALL, LAYOUTS, check, interpreted, op

PRODUCTS = (
    ((3, 4), (4, 2)),
    ((3, 4), (4,)),
    ((3,), (3, 2)),
    ((4,), (4,)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((1, 1), (1, 1)),
)
STACKS = (
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4), (4,)),
)
INNER = (((3,), (3,)), ((2, 3), (4, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((), (3,)))
FEW = ("bool", "int32", "float32", "complex128")
SQUARE = ((3, 3), (2, 4), (4, 2), (0, 3))

STACKS = (
    ((2, 3, 4), (4,)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((4,), (2, 4, 5)), ((2, 2, 4), (3, 4, 2)),
    ((2, 3, 4), (5,)), ((3, 4), (4, 2)), ((4,), (4,)),
)  # fmt: skip

RECORDS = [
    op(lambda a, c: a @ c, shapes=PRODUCTS, dtypes=ALL),
    op(lambda a, c: a @ c, shapes=(((3, 4), (4, 2)), ((3, 4), (4,))), layouts=LAYOUTS, name="layouts"),
    op(lambda a, c: a @ c, shapes=STACKS, dtypes=("int32", "float64"), name="stacks"),
    op(lambda a: a.T @ a, shapes=((3, 4),)),
    op(lambda a: a @ a.astype(np.float32), dtypes=("int8", "int64", "float16", "complex64"), shapes=((3, 3),)),
    op(lambda a, c, o: np.matmul(a, c, out=o), shapes=(((3, 4), (4, 2), (3, 2)),)),
    op(lambda a, c: np.matmul(a, c), shapes=(((), (3,)), ((3,), ()))),
    op(lambda a, c: np.dot(a, c), shapes=(*PRODUCTS, ((), (3,)), ((2, 2), ())), dtypes=FEW),
    op(lambda a: a.dot(a.T), shapes=((2, 3), (3,))),
    op(lambda a, c: np.inner(a, c), shapes=INNER),
    op(lambda a, c: np.vdot(a, c), shapes=(((3,), (3,)), ((2, 3), (3, 2))), dtypes=("float64", "complex64")),
    op(lambda a, c: np.outer(a, c), shapes=(((3,), (2,)), ((2, 2), (3,)), ((), (3,))), dtypes=("int32", "float32")),
    op(lambda a, c: np.kron(a, c), shapes=(((2, 3), (2, 2)), ((3,), (2,)))),
    op(lambda a: np.trace(a), shapes=SQUARE, dtypes=ALL),
    op(lambda a: a.trace(1), shapes=SQUARE),
    op(lambda a: np.diagonal(a, -1), shapes=SQUARE),
    op(lambda a: np.diagonal(a, 0, 0, 2), shapes=((2, 3, 4),)),
    op(lambda a: np.diag(a), shapes=((3,), (0,), (3, 4)), dtypes=("int8", "float64")),
    op(lambda a: np.diag(a, 1) + np.diag(a, k=-1), shapes=((3,),)),
    op(lambda a: np.tril(a) - np.triu(a, 1), shapes=((3, 4), (2, 3, 3)), dtypes=("int8", "float64")),
    op(lambda a, c: np.dot(a, c), shapes=STACKS, dtypes=("int32", "float64"), rtol=1e-10),
    op(lambda a, c: np.inner(a, np.moveaxis(c, max(c.ndim - 2, 0), -1)), shapes=STACKS, rtol=1e-10),
    op(lambda a,c: np.kron(a,c), shapes=(((2,),(2,3)),((2,3),(2,)),((),(2,)),((2,2,2),(3,)))),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


def test_mismatch_raises_as_numpy_at_run_time():
    with pytest.raises(ValueError, match=r"core dimension 0, .* \(size 2 is different from 3\)"):
        interpreted(lambda a, c: a @ c, np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"shapes \(2,3\) and \(2,3\) not aligned: 3 \(dim 1\) != 2 \(dim 0\)"):
        interpreted(lambda a, c: np.dot(a, c), np.ones((2, 3)), np.ones((2, 3)))


def test_known_mismatch_suggests_a_transposition():
    def product():
        return np.ones((2, 3)) @ np.ones((4, 3))

    with pytest.raises(FrontendError) as refusal:
        interpreted(product)
    assert refusal.value.help == "did you mean `A @ B.T`?"


def test_numbers_have_no_matrix_product():
    with pytest.raises(FrontendError, match="does not have enough dimensions"):
        interpreted(lambda a, x: a @ x, np.ones(3), 2.0)
