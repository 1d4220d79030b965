"""packbits and unpackbits: eight bits in a byte, of all lengths, axes and orders."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.numpy_records import interpreted

ORDERS = pytest.mark.parametrize("order", ["big", "little"])


def agrees(function, a):
    for mine, theirs in zip(interpreted(function, a), function(a), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert (mine.dtype, mine.strides) == (theirs.dtype, theirs.strides)


@ORDERS
@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 64, 1003])
@pytest.mark.parametrize("dtype", ["bool", "u1", "i8"])
def test_bits_of_any_length(length, order, dtype):
    def packed(a):
        return (np.packbits(a, bitorder=order),)

    agrees(packed, np.random.default_rng(length).integers(-1, 2, length).astype(dtype))


@ORDERS
def test_bits_along_axes(order):
    def packed(a):
        return np.packbits(a, axis=0, bitorder=order), np.packbits(a, axis=-1, bitorder=order)

    agrees(packed, np.random.default_rng(0).random((9, 21)) > 0.5)


@ORDERS
@pytest.mark.parametrize("count", [None, 0, 3, -3, 40])
def test_bytes(order, count):
    def unpacked(a):
        b = a.reshape(64, 4)
        whole = np.unpackbits(a, count=count, bitorder=order)
        return whole, np.unpackbits(b, 0, count, bitorder=order), np.unpackbits(b, 1, count, bitorder=order)

    agrees(unpacked, np.arange(256).astype(np.uint8))
