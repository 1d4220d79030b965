"""Programs on process grids on real ranks: undecorated through mpi4py, and compiled, each as NumPy on one rank."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import comm
from dcpy.base.errors import GridError
from tests.support import process_grids as programs

pytestmark = pytest.mark.mpi
RANK, SIZE = comm.rank(), comm.size()


@pytest.fixture(params=["undecorated", "compiled"])
def run(request):
    """A program as a function, or compiled."""
    return (lambda program: program.function) if request.param == "undecorated" else (lambda program: program)


def test_the_papers_program():
    draw = np.random.default_rng(0)
    A, B = draw.random((13, 13)), draw.random((13, 13))
    mine = A.copy(), B.copy()
    programs.j2d_dist(np.int32(4), *mine, **programs.of_rank(RANK, SIZE, 13))
    programs.jacobi_2d(4, A, B)
    for found, expected in zip(mine, (A, B), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("program", programs.WHOLE, ids=lambda program: program.__name__)
def test_blocks_go_and_come_back(run, program):
    if program is programs.doubled_on_four and SIZE < 4:
        pytest.skip("needs four ranks")
    for shape in ((7, 5), (1, 9)):
        whole, found = np.random.default_rng(1).random(shape), np.zeros(shape)
        run(program)(whole if RANK == 0 else np.zeros(shape), found)
        has = RANK == 0 or program is programs.doubled
        np.testing.assert_array_equal(found, 2 * whole if has else np.zeros(shape))


def test_blocks_are_dealt_out_anew(run):
    whole, found = np.random.default_rng(2).random((7, 5)), np.zeros((7, 5))
    run(programs.dealt_anew)(whole, found)
    np.testing.assert_array_equal(found, 2 * whole if RANK == 0 else np.zeros((7, 5)))


def test_parts_of_grids(run):
    if SIZE < 4:
        pytest.skip("needs four ranks")
    draws = np.random.default_rng(0).random((SIZE, 5))
    own, back = np.zeros(2 if RANK % 2 else 3), np.zeros(5)
    run(programs.of_each_row)(draws[RANK].copy(), own, back)
    if RANK < 4:
        np.testing.assert_array_equal(own, draws[RANK // 2 * 2][3 * (RANK % 2) :][:3] + 1)
    np.testing.assert_array_equal(back, draws[RANK] + 1 if RANK in (0, 2) else np.zeros(5))
    own[:], back[:] = 0, 0
    run(programs.with_copies)(draws[RANK].copy(), own, back)
    if RANK < 4:
        np.testing.assert_array_equal(own, draws[0][3 * (RANK % 2) :][:3] + 1)
    np.testing.assert_array_equal(back, 2 * (draws[0] + 1) if RANK == 0 else np.zeros(5))


def test_where_ranks_are(run):
    if SIZE < 4:
        pytest.skip("needs four ranks")
    found = np.zeros(12, np.int64)
    run(programs.places)(found)
    assert found.tolist() == programs.PLACES[min(RANK, 4)]


def test_a_grid_from_outside():
    grid = comm.Cart_create([0])

    @dcpy.program
    def f(x: dcpy.float64[programs.N], y: dcpy.float64[programs.N]):
        own = comm.BlockScatter(x, None, grid)
        own += comm.coords(grid)[0]
        comm.BlockGather(own, y, grid)

    found = np.zeros(9)
    f(np.zeros(9), found)
    block = -(-9 // SIZE)
    np.testing.assert_array_equal(found, np.arange(9) // block if RANK == 0 else np.zeros(9))


class TestWhatDoesNotFit:
    """Raised on all ranks, which go on afterwards."""

    def test_a_block_of_another_size(self, run):
        @dcpy.program
        def f(x: dcpy.float64[programs.N], own: dcpy.float64[programs.K]):
            comm.BlockScatter(x, own)

        for last in (True, False):
            own = np.zeros(2 + (last and RANK == SIZE - 1))
            if last:
                with pytest.raises(ValueError, match=rf"the block of rank {SIZE - 1} has"):
                    run(f)(np.ones(2 * SIZE), own)
            else:
                run(f)(np.ones(2 * SIZE), own)
                np.testing.assert_array_equal(own, np.ones(2))

    def test_arrays_of_other_shapes(self, run):
        with pytest.raises(ValueError, match="pass arrays of other shapes"):
            run(programs.doubled)(np.ones((3, 3 + RANK)), np.ones((3, 3 + RANK)))

    def test_a_grid_of_more_ranks_than_there_are(self, run):
        if SIZE < 4:
            with pytest.raises((ValueError, GridError), match=f"4 ranks, and there are {SIZE}"):
                run(programs.doubled_on_four)(np.ones((3, 3)), np.ones((3, 3)))
        with pytest.raises(GridError, match="ranks, and there are"):
            comm.Cart_create([SIZE + 1])
