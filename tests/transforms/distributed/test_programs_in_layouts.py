"""The table of programs in layouts on virtual ranks: as NumPy has it, on each of them (under MPI: `tests.mpi`)."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from dcpy.base.errors import PerformanceWarning
from tests.support.programs_of_ranks import GRIDS, LAYOUTS, PROGRAMS, SIZES, cases, layout_of
from tests.support.virtual_calls import VirtualProgram

FEW = [pytest.param(name, layout, (ranks,), id=f"{name}-{'-'.join(layout).replace(' ', '')}-{ranks}")
       for ranks in GRIDS for name, layout in cases(ranks, 1)]  # fmt: skip
ALL = [pytest.param(name, layout, tuple(GRIDS), id=f"{name}-{'-'.join(layout).replace(' ', '')}")
       for name, layout in cases(2, len(LAYOUTS))]  # fmt: skip


@pytest.mark.parametrize(("name", "layout", "counts"), FEW)
def test_programs_equal_numpy(name, layout, counts):
    compare(name, layout, counts)


@pytest.mark.heavy
@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize(("name", "layout", "counts"), ALL)
def test_all_programs_in_all_layouts_equal_numpy(name, layout, counts, optimized):
    compare(name, layout, counts, auto_optimize=optimized)


def compare(name, layout, counts, **options):
    program = PROGRAMS[name]
    sample = program.arguments(SIZES[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)
        layouts = [layout_of(value, layout) for value in sample]
        made = VirtualProgram(program.function, sample, len(layout), layouts, **options)
    for ranks in counts:
        for size in SIZES:
            results, after = made.run(program.arguments(size), GRIDS[ranks] if len(layout) > 1 else (ranks,))
            expected, wanted = program.expected(size)
            for value, want in zip(after, wanted, strict=True):
                np.testing.assert_allclose(value, want, rtol=1e-12, atol=1e-12, err_msg=f"{size} on {ranks} ranks")
            for found in results:
                for value, want in zip(found, expected, strict=False):
                    if value is not None:
                        np.testing.assert_allclose(np.reshape(value, np.shape(want)), want, rtol=1e-12, atol=1e-12)
