"""Comparisons of narrow integers with Python's and NumPy's numbers: exact, whatever the number is."""

import numpy as np
import pytest

import dcpy
from tests.support.lowering import body


def comparisons(a, k):
    return a > k, a < k, k < a, a <= k, a >= k, a == k, a != k, k != a, np.greater(a, k)


@pytest.mark.cc
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32"])
def test_numbers_inside_and_outside_of_the_range(dtype):
    ends = np.iinfo(dtype)
    low, high = int(ends.min), int(ends.max)
    a = np.array([low, low + 1, 0, 5, high - 1, high], dtype)
    program = dcpy.program(comparisons)
    for k in (low - 1, low, low + 1, 0, 5, high - 1, high, high + 1, -(2**63), 2**63 - 1):
        for number in (k, np.int64(k)):
            for got, expected in zip(program(a, number), comparisons(a, number), strict=True):
                np.testing.assert_array_equal(got, expected)


def test_vectors_hold_more_of_them_than_of_64_bits():
    text = body(lambda a, k: a > k, np.zeros(4, np.uint8), 7)
    assert "i16(a_in) > i16(min(@max(k, -1), 256))" in text
