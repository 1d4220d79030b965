"""Programs that deal arrays out themselves, on real ranks."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.distributed import world

pytestmark = pytest.mark.mpi
RANKS = world().size
LINE, GRID = dcpy.grid(RANKS), dcpy.grid()
ROWS, CYCLES = dcpy.on(LINE, "block", None), dcpy.on(LINE, None, dcpy.cyclic(2))


@dcpy.program(distributed=True, auto_optimize=True)
def scores(A, B, C):
    rows = dcpy.distribute(A, ROWS)
    columns = dcpy.distribute(B, CYCLES)
    sums = dcpy.zeros((A.shape[0], 1), on=ROWS)
    sums[:, 0] = np.sum(rows, axis=1)
    C[:] = rows @ columns + sums


@pytest.mark.parametrize("dealt", ["nothing", "rows", "tiles"])
@pytest.mark.parametrize("size", [1, 5, 40])
def test_results_are_those_of_one_rank(dealt, size):
    draw = np.random.default_rng(size)
    a, b, c = draw.random((size, 7)), draw.random((7, size + 2)), np.zeros((size, size + 2))
    expected = a @ b + a.sum(axis=1, keepdims=True)
    grid = {"rows": LINE, "tiles": GRID}.get(dealt)
    A, B, C = (x if grid is None else dcpy.distribute(x, grid) for x in (a, b, c))
    for _ in range(2):  # the second call finds its program
        scores(A, B, C)
    np.testing.assert_allclose(c if grid is None else C.allgather(), expected, rtol=1e-12)


@dcpy.program(distributed=True)
def shifted(A):
    T = dcpy.distribute(A, GRID)
    A[1:] = T[:-1]


def test_one_program_for_one_kind_of_grid():
    """A grid with the sizes that the program names is that grid; another one of as many axes is not."""
    a = np.arange(30.0).reshape(6, 5)
    for sizes in (GRID.sizes, GRID.sizes[::-1], (1, RANKS)):
        A = dcpy.distribute(a, dcpy.grid(*sizes))
        shifted(A)
        np.testing.assert_array_equal(A.allgather(), np.concatenate([a[:1], a[:-1]]))
