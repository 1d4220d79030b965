"""The table of programs in layouts under MPI: as NumPy has it, on each rank (virtual ranks run it, too)."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dcpy
from tests.support.programs_of_ranks import GRIDS, PROGRAMS, SIZES, cases, layout_of

CASES = [(ranks, name, layout) for ranks in GRIDS for name, layout in cases(ranks, 1)]


def dealt(value, layout, grid):
    """The part that this rank has, where an argument is dealt out."""
    axes = layout_of(value, layout)
    if axes is None:
        return value
    blocks = [None if axis == "whole" else dcpy.cyclic(2) if " by 2" in axis else axis.split()[0] for axis in axes]
    return dcpy.distribute(value, grid, tuple(blocks))


@pytest.mark.parametrize(("ranks", "name", "layout"), [
    pytest.param(*case, id=f"{case[1]}-{'-'.join(case[2]).replace(' ', '')}-{case[0]}", marks=pytest.mark.mpi(case[0]))
    for case in CASES
])  # fmt: skip
def test_programs_equal_numpy(ranks, name, layout):
    program = PROGRAMS[name]
    grid = dcpy.grid(*GRIDS[ranks]) if len(layout) > 1 else dcpy.grid(dims=1)
    compiled = dcpy.program(program.function, distributed=True, cpu_flags=("-O0",))
    for size in SIZES:
        arguments = [dealt(value, layout, grid) for value in program.arguments(size)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dcpy.PerformanceWarning)
            results = compiled(*arguments)
        results = results if isinstance(results, tuple) else () if results is None else (results,)
        expected, wanted = program.expected(size)
        for have, want in zip((*results, *arguments), (*expected, *wanted), strict=True):
            found = have.allgather() if isinstance(have, dcpy.DistArray) else have
            np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12, err_msg=f"size {size}")
