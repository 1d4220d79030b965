"""A rank alone needs no MPI: the same calls, compiled without messages."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentShapeError, FrontendError

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


def test_sizes_that_contradict_each_other():
    grid = dcpy.grid(dims=1)
    relax(dcpy.distribute(np.zeros(9), grid), dcpy.distribute(np.zeros(9), grid))
    with pytest.raises(ArgumentShapeError, match="is 5, and 9 by dimension 0 of 'A'"):
        relax(dcpy.distribute(np.zeros(9), grid), dcpy.distribute(np.zeros(5), grid))


def test_global_arrays_are_no_arguments():
    with pytest.raises(FrontendError, match="uses the global array 'SCALE'"):
        scaled(dcpy.distribute(np.zeros((2, 3)), dcpy.grid()))
