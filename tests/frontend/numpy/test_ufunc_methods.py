"""``reduce``, ``accumulate``, ``reduceat`` and ``at`` of ufuncs, against NumPy."""

import numpy as np
import pytest

import dcpy
from tests.support.numpy_records import Record, check, op

INTEGERS = ("int32", "int8", "bool")
NUMBERS = ("float64", "float32", "int32")
DTYPES = (
    dict.fromkeys((np.bitwise_or, np.bitwise_and, np.bitwise_xor), INTEGERS)
    | dict.fromkeys((np.gcd, np.lcm), INTEGERS[:2])
    | dict.fromkeys((np.fmax, np.fmin, np.hypot, np.logaddexp, np.subtract, np.true_divide, np.logical_xor), NUMBERS)
    | dict.fromkeys((np.floor_divide, np.remainder, np.copysign), NUMBERS)
    | dict.fromkeys((np.add, np.multiply, np.maximum, np.minimum, np.logical_and), ("float64", "int8"))
)
MATRIX = ((3, 4),)


def change(a):
    np.negative.at(a, [0, 2, 0])
    np.subtract.at(a, [1, 1], 2.5)
    np.power.at(a, [0, 0], 2)


def change_bits(a):
    np.bitwise_or.at(a, (np.array([0, 0]), np.array([1, 1])), np.array([1, 4]))


def fill_diagonal(a):
    np.fill_diagonal(a, [7, 8])


def fill_diagonal_with_one(a):
    np.fill_diagonal(a, a[0, 0] + 1)


def fill_diagonal_again(a):
    np.fill_diagonal(a, 7, wrap=True)


def copy_where(a):
    np.copyto(a[0], a[1], where=a[2] > 0)
    np.copyto(a[2], [1, 2, 3, 4])


def copy_anything(a):
    np.copyto(a, 2.5, casting="unsafe")


def copy_floats(a):
    np.copyto(a, 2.5 * a)


WRITES = [
    Record(change, ((5,),), name="change"),
    Record(change_bits, MATRIX, ("int32",), name="change_bits"),
    Record(fill_diagonal, ((3, 3), (5, 2), (2, 5), (3, 3, 3), (3, 2, 3), (3,)), name="fill_diagonal"),
    Record(
        fill_diagonal_with_one,
        ((1, 1), (1, 9), (9, 1), (4, 7), (7, 4)),
        name="fill_diagonal_with_one",
    ),
    Record(fill_diagonal_again, ((3, 3), (7, 2), (2, 5)), name="fill_diagonal_again"),
    Record(copy_where, MATRIX, name="copy_where"),
    Record(copy_anything, MATRIX, ("int32", "float32"), name="copy_anything"),
    Record(copy_floats, MATRIX, ("int32", "float32"), name="copy_floats"),
]
RECORDS = [
    op(lambda a: np.fmax.reduce(a, where=a > 0, initial=-1), shapes=MATRIX),
    op(lambda a: np.fmax.reduce(a, where=a > 0), shapes=MATRIX),
    op(lambda a: np.bitwise_or.reduce(a, where=a > 0, axis=None), shapes=MATRIX, dtypes=("int32",)),
    op(lambda a: np.subtract.reduce(a, axis=(0, 1)), shapes=MATRIX),
    op(lambda a: (np.subtract.reduce(a), np.subtract.reduce(a, keepdims=True)), shapes=((), (2,), (2, 3))),
    op(lambda a: np.diff(a, prepend=0), shapes=((5,), (0,), (3, 4)), dtypes=("int32", "float64")),
    op(lambda a: np.diff(a, append=a[:1], axis=0), shapes=((5,), (3, 4))),
    op(lambda a: np.diff(a, 2, prepend=[1, 2], append=3.5), shapes=((5,), (0,)), dtypes=("int32",)),
]


def test_diagonals_are_filled_in_parallel():
    """One store for each row, without a quotient that says where it is."""
    text = str(dcpy.program(fill_diagonal_with_one, auto_optimize=True).to_sdfg(np.ones((9, 7))))
    assert "//" not in text
    assert "loop" not in text


@pytest.mark.parametrize("function", DTYPES, ids=lambda f: f.__name__)
def test_methods(function):
    dtypes = DTYPES[function]
    records = [
        Record(lambda a: function.reduce(a), ((5,), (1,), (0,), (3, 4)), dtypes, positive=True),
        Record(lambda a: function.reduce(a, axis=1, keepdims=True), MATRIX, dtypes[:1], positive=True),
        Record(lambda a: function.reduce(a, axis=(0, 2), initial=2), ((2, 3, 4),), dtypes[:1], positive=True),
        Record(lambda a: function.accumulate(a, axis=-1), ((5,), (0,), (3, 4)), dtypes[:1], positive=True),
        Record(lambda a: function.reduceat(a, [0, 2, 1]), ((5,), (3, 4)), dtypes[:2], positive=True),
    ]
    for record in records:
        for arguments in record.cases():
            check(record, arguments)


@pytest.mark.parametrize("record", RECORDS + WRITES, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)
