"""How often numbers occur, used inside of programs, against NumPy."""

import numpy as np
import pytest

import dcpy
from tests.support.numpy_records import check, interpreted, op


def counted(a):
    counts = np.bincount(a * a)
    return counts[0], counts.sum(), len(counts), counts.dtype.itemsize


def weighted(a, c):
    sums = np.bincount(np.abs(a), weights=c, minlength=9)
    return sums.size, sums[0], sums.max()


RECORDS = [
    op(counted, shapes=((5,), (1,)), dtypes=("int8", "uint8", "int64"), name="counted"),
    op(weighted, shapes=((5,), (1,)), dtypes=("int32", "int64"), name="weighted"),
    op(lambda a: np.bincount(a, minlength=256), shapes=((0,), (5,)), dtypes=("uint8", "int16"), name="all bytes"),
    op(lambda a: (np.bincount(a, minlength=2), np.bincount(a)), shapes=((0,), (5,)), dtypes=("bool",), name="truths"),
    op(lambda a: np.bincount(a, minlength=3).sum(), shapes=((0,), (3,)), dtypes=("uint8", "int64")),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.parametrize(("dtype", "length", "looks"), [("uint8", 256, 0), ("uint8", 255, 1), ("int8", 256, 1)])
def test_numbers_are_looked_at_first_where_they_may_be_others(dtype, length, looks):
    program = dcpy.program(lambda a: np.bincount(a, minlength=length))
    assert str(program.to_sdfg(np.ones(5, dtype))).count("reduce") == looks


def test_negative_numbers_are_not_counted():
    with pytest.raises(ValueError, match="no negative elements"):
        interpreted(lambda a: np.bincount(a).sum(), np.array([1, -1]))


@pytest.mark.cc
def test_sums_of_no_weights_are_integers_as_in_numpy():
    program = dcpy.program(lambda a, c: np.bincount(a, weights=c, minlength=2))
    for size in (0, 3, 0, 70):
        found = program(np.ones(size, int), np.ones(size))
        assert found.dtype == np.bincount(np.ones(size, int), np.ones(size)).dtype
        assert found.tolist() == [0, size]


def test_sums_of_no_weights_of_a_part_are_integers():
    found = interpreted(lambda a: np.bincount(a[:0], a[:0] * 0.5), np.array([1, 1]))
    assert found.dtype == np.int64


@pytest.mark.parametrize("largest", [2**63 - 1, 2**63 - 2, 2**40])
def test_a_length_beyond_all_memory_is_no_length_from_below_zero(largest):
    program = dcpy.program(lambda a: np.bincount(a, minlength=3))
    with pytest.raises((MemoryError, ValueError)):
        program(np.array([1, largest]))


def test_counts_of_one_array_look_for_its_largest_number_once():
    program = dcpy.program(lambda a, w: np.bincount(a, weights=w) / np.maximum(np.bincount(a), 1))
    a, w = np.array([3, 0, 3, 1]), np.arange(4.0)
    text = str(program.to_sdfg(a, w))
    assert text.count("reduce ") == 2
    sdfg = program.to_sdfg(a, w)
    sdfg.auto_optimize()
    assert str(sdfg).count("reduce ") == 1
    assert "wrap(" not in str(sdfg)
    assert np.array_equal(program(a, w), [1.0, 3.0, 0.0, 1.0])
