"""Padding, taking, rotating, against NumPy."""

import numpy as np
import pytest

from tests.support.numpy_records import Record, check, interpreted, op

RECORDS = [
    op(lambda a: np.pad(a, 2), shapes=((4,), (2, 3), (0,)), dtypes=("bool", "int8", "float32")),
    op(lambda a: np.pad(a, (1, 3), constant_values=7), shapes=((4,), (2, 3)), dtypes=("int8", "float64")),
    op(lambda a: np.pad(a, ((1, 0), (2, 1))), shapes=((2, 3),)),
    op(lambda a: np.pad(a, ((0, 0), (1, 1)), mode="edge"), shapes=((2, 3), (2, 1), (0, 3))),
    op(lambda a: np.pad(a, 5, mode="wrap"), shapes=((3,), (1,))),
    op(lambda a: np.pad(a, 5, "reflect"), shapes=((3,), (1,), (2, 3))),
    op(lambda a: np.pad(a, (2, 7), "symmetric"), shapes=((3,), (1,))),
    op(lambda a: np.pad(a, ((1, 2), (0, 0)), constant_values=((1, 2), (3, 4))), shapes=((3, 4),)),
    op(lambda a: np.pad(a, 1, "empty")[1:-1], shapes=((4,), (0,))),
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


MODES = [
    ("edge", {}), ("wrap", {}), ("reflect", {}), ("symmetric", {}), ("linear_ramp", {}), ("maximum", {}), ("mean", {}),
    ("median", {}), ("minimum", {}), ("constant", {"constant_values": (4, 5)}), ("no such mode", {}),
    ("constant", {"constant_values": ((4, 5),)}), ("linear_ramp", {"end_values": (4, -5)}),
    ("maximum", {"stat_length": 2}), ("mean", {"stat_length": (2, 1)}), ("edge", {"stat_length": 1}),
    ("reflect", {"reflect_type": "odd"}), ("symmetric", {"reflect_type": "odd"}),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "keywords"), MODES)
def test_modes(mode, keywords):
    records = [
        Record(lambda a: np.pad(a, 2, mode, **keywords), ((5,), (1,), (3, 4)), ("int32", "float64")),
        Record(lambda a: np.pad(a, ((1, 0), (2, 7)), mode, **keywords), ((3, 4),), ("int32",)),
    ]
    for record in records:
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
