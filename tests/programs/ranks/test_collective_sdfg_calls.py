"""Calls of distributed SDFGs: here of one rank; those of several are in tests/mpi."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, GridError

TEXT = """sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) {
  map i = 0:N { tasklet (a <- x[i]) -> (o -> y[i]) { o = a } } }"""


def program():
    return dcpy.parse(TEXT.replace("", "")).apply(dcpy.DistributeElementWiseArrayOp)


@pytest.mark.cc
def test_one_rank_runs_it_alone():
    x, y = np.arange(5.0), np.zeros(5)
    program()(x, y)
    np.testing.assert_array_equal(y, x)
    program()(x=x, y=y, g_p0=1)


def test_more_ranks_than_there_are():
    with pytest.raises(GridError, match="the grid 'g' has 2 ranks, and there are 1"):
        program()(np.zeros(3), np.zeros(3), g_p0=2)


def test_arguments_in_blocks_are_for_functions():
    sdfg = dcpy.parse(TEXT.replace("", "")).distribute({"x": "g(block 0)", "y": "g(block 0)"}, {"g": ["P"]})
    with pytest.raises(ArgumentError, match="has its argument 'x' on g"):
        sdfg(np.zeros(3), np.zeros(3))
