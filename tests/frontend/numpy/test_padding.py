"""Padding, taking, rotating, against NumPy."""

import numpy as np
import pytest

from tests.support.numpy_records import check, interpreted, op

RECORDS = [
    op(lambda a: np.pad(a, 2), shapes=((4,), (2, 3), (0,)), dtypes=("bool", "int8", "float32")),
    op(lambda a: np.pad(a, (1, 3), constant_values=7), shapes=((4,), (2, 3)), dtypes=("int8", "float64")),
    op(lambda a: np.pad(a, ((1, 0), (2, 1))), shapes=((2, 3),)),
    op(lambda a: np.pad(a, ((0, 0), (1, 1)), mode="edge"), shapes=((2, 3), (2, 1), (0, 3))),
    op(lambda a: np.pad(a, 5, mode="wrap"), shapes=((3,), (1,))),
    op(lambda a: np.pad(a, 5, "reflect"), shapes=((3,), (1,), (2, 3))),
    op(lambda a: np.pad(a, (2, 7), "symmetric"), shapes=((3,), (1,))),
    op(lambda a: np.take(a, [0, -1, 1]), shapes=((4,), (2, 3))),
    op(lambda a: a.take(np.array([[1, 0]]), axis=1), shapes=((2, 3),)),
    op(lambda a: np.take(a, 1, axis=-1), shapes=((4,), (2, 3))),
    op(lambda a, c: np.append(a, c), shapes=(((2, 3), (4,)),)),
    op(lambda a, c: np.append(a, c, axis=0), shapes=(((2, 3), (1, 3)),)),
    op(lambda a, c: np.dstack((a, c)), shapes=((3,), (2, 3))),
    op(lambda a: np.rot90(a) + 0, shapes=((3, 3), (2, 3))),
    op(lambda a: (np.rot90(a, 2), np.rot90(a, -1), np.rot90(a, 4)[0]), shapes=((2, 3),)),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


def test_what_is_taken_is_a_copy():
    def first(a):
        b = np.take(a, 0, axis=0)
        b[0] = 7.0
        return a[0, 0] + b[0]

    assert interpreted(first, np.ones((2, 2))) == 8


def test_widths_known_at_run_time():
    assert interpreted(lambda a, n: np.pad(a, n).sum(), np.ones(3), 2) == 3
    assert interpreted(lambda a, n: np.pad(a, (n, 0), mode="edge"), np.arange(2.0), 2).tolist() == [0, 0, 0, 1]
