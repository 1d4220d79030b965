"""Masks and index arrays in compiled programs: all densities, lengths around a block, several pieces, layouts."""

import numpy as np
import pytest

from dcpy.libraries.indexing.expand.cpu import FEW, GROUP
from tests.support.oracles import check_same

pytestmark = pytest.mark.cc
RNG = np.random.default_rng(5)


def rows(x, mask, values):
    x[mask] = values
    return x[mask], np.nonzero(mask), np.count_nonzero(mask)


def columns(x, mask, values):
    x[:, mask] = values
    return x[:, mask]


def indexed(x, i, values):
    x[1:, i] += values
    x[0, i] = 3
    return x[:, i] * values


@pytest.mark.parametrize("density", [0.0, 0.01, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("shape", [(0,), (63,), (64, 3), (1000,), (7, 9), (70000,), (300, 200), (2_100_000,)])
def test_masks(shape, density):
    x = RNG.random(shape)
    for flags in (RNG.random(shape) < density, RNG.random(shape[:1]) < density):
        for whole in (x, np.asfortranarray(x)):
            check_same(rows, whole.copy(order="K"), flags, RNG.random(np.shape(x[flags])))


@pytest.mark.parametrize("held", [FEW - 1, FEW, FEW + 1])
@pytest.mark.parametrize("spread", [1, GROUP // (FEW + 1)])
def test_as_many_as_few_are(held, spread):
    """Of each group: in blocks that are full, or some of each block; the last group is cut off."""
    flags = np.zeros(3 * GROUP + 300, bool)
    for first in range(0, flags.size, GROUP):
        flags[first : first + spread * held : spread] = True
    x = RNG.random(flags.size)
    check_same(rows, x, flags, RNG.random(np.count_nonzero(flags)))


@pytest.mark.parametrize("size", [5, 64, 40000])
def test_masks_of_an_inner_dimension(size):
    flags = RNG.random(size) < 0.3
    check_same(columns, RNG.random((3, size)), flags, RNG.random((3, flags.sum())))
    check_same(columns, RNG.random((3, size)), flags, RNG.random((3, 1)))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64])
@pytest.mark.parametrize("bad", [0, 101, -100])
def test_index_arrays(dtype, bad):
    i = RNG.integers(0, 100, 77).astype(dtype)
    i[40] = np.array(bad).astype(dtype)
    check_same(indexed, RNG.random((2, 100)), i, RNG.random((1, 77)))


def of_a_window(x, i, j):
    part = x[i:j]
    mask = part > 0
    part[mask] = 7
    return part[mask], np.count_nonzero(mask), np.sum(mask), np.nonzero(mask), mask


@pytest.mark.parametrize(("i", "j"), [(10, 390), (390, 10), (200, 190), (399, 0), (7, 7)])
def test_windows_that_are_inside_out(i, j):
    """Their sizes are computed as negative numbers: ``size // 64`` blocks of flags, and what is left, were counted."""
    check_same(of_a_window, np.arange(-200.0, 200.0), i, j)
