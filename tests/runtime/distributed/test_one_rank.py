"""A rank alone needs no MPI: the same calls, compiled without messages."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentShapeError, FrontendError, GridError

pytestmark = pytest.mark.cc
SCALE = np.arange(3.0)


@dcpy.program(distributed=True)
def relax(A, B):
    B[1:-1] = (A[:-2] + A[2:]) / 2


@dcpy.program(distributed=True)
def scaled(A):
    A[:] = A * SCALE


def test_a_program_of_one_rank():
    a = np.arange(9.0) ** 2
    A, B = dcpy.distribute(a, dcpy.grid(dims=1)), dcpy.zeros(9, on=dcpy.on(dcpy.grid(1), "block"))
    relax(A, B)
    np.testing.assert_array_equal(B.gather()[1:-1], (a[:-2] + a[2:]) / 2)
    kept = copy.copy(B)  # as pickles do: by its part
    np.testing.assert_array_equal(kept.local, B.local)


@dcpy.program(distributed=True, auto_optimize=True)
def product(A, B, C):
    C[:] = A @ B


def test_a_product_on_a_grid_of_one():
    """Its broadcasts are to nobody."""
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    A, B, C = (dcpy.distribute(x, dcpy.grid(), ("block", "block")) for x in (a, b, np.zeros((2, 4))))
    product(A, B, C)
    np.testing.assert_array_equal(C.local, a @ b)


N = dcpy.symbol("N")
BLOCKS = dcpy.on(dcpy.grid(1), "block")


@dcpy.program(distributed=True)
def annotated(A: dcpy.float64[N] @ BLOCKS):
    A[:] = 2 * A


def test_annotations_say_where_arrays_are():
    A = dcpy.distribute(np.arange(3.0), BLOCKS)
    annotated(A)
    np.testing.assert_array_equal(A.local, [0, 2, 4])
    with pytest.raises(GridError, match="argument 'A' is no DistArray"):
        annotated(np.arange(3.0))
    with pytest.raises(GridError, match=r"argument 'A' is \(cyclic 0\) on 1, and its annotation says \(block 0\) on 1"):
        annotated(A.redistribute(dcpy.on(dcpy.grid(1), "cyclic")))


def test_a_plan_of_placements():
    """Text and placements say the same."""
    plain = dcpy.program(annotated.function).to_sdfg()
    placed = str(plain.distribute({"A": BLOCKS}))
    assert placed == str(dcpy.program(annotated.function).to_sdfg().distribute({"A": "g0(block 0)"}, {"g0": [1]}))


def test_sizes_that_contradict_each_other():
    grid = dcpy.grid(dims=1)
    relax(dcpy.distribute(np.zeros(9), grid), dcpy.distribute(np.zeros(9), grid))
    with pytest.raises(ArgumentShapeError, match="is 5, and 9 by dimension 0 of 'A'"):
        relax(dcpy.distribute(np.zeros(9), grid), dcpy.distribute(np.zeros(5), grid))


def test_global_arrays_are_no_arguments():
    with pytest.raises(FrontendError, match="uses the global array 'SCALE'"):
        scaled(dcpy.distribute(np.zeros((2, 3)), dcpy.grid()))
