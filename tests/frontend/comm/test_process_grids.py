"""Programs on process grids: each gives on 1 to 8 virtual ranks what NumPy gives on one."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import dcpy
from dcpy import comm
from dcpy.base.errors import CommunicationError, FrontendError
from dcpy.ir.interp.virtual_ranks import run_ranks
from dcpy.ir.verify import WELL_FORMED, verify
from tests.support import process_grids as programs
from tests.support.process_grids import K, M, N, P

RANKS = (1, 2, 3, 4, 5, 7, 8)


@functools.cache
def sdfg_of(program):
    """The graph of a program."""
    made = program.to_sdfg()
    verify(made, WELL_FORMED)
    return made


def on_ranks(program, calls, strict=True, **symbols):
    """Runs a program on virtual ranks; returns what they sent."""
    return run_ranks(sdfg_of(program), calls, symbols, strict=strict, seed=len(calls))


@pytest.mark.parametrize("ranks", [*RANKS, 6])
def test_the_papers_program(ranks):
    """``j2d_dist`` of section 4.3, to the bit; a message each way along each border, in every half step."""
    draw, size = np.random.default_rng(ranks), 13 + ranks % 2  # each rank has rows: who has none is nobody's neighbour
    A, B = draw.random((size, size)), draw.random((size, size))
    calls = [
        {"TSTEPS": np.int32(3), "A": A.copy(), "B": B.copy(), **programs.of_rank(rank, ranks, size)}
        for rank in range(ranks)
    ]
    steps = 2 * 2
    traffic = on_ranks(programs.j2d_dist, calls, N=size)
    neighbours = sum(call[name] >= 0 for call in calls for name in ("nn", "ns", "nw", "ne"))
    scattered, gathered = 2 * (ranks - 1), 2 * ranks * (ranks - 1)
    assert traffic.messages == steps * neighbours + scattered + gathered
    programs.jacobi_2d(3, A, B)
    for call in calls:
        np.testing.assert_array_equal(call["A"], A)
        np.testing.assert_array_equal(call["B"], B)


@pytest.mark.parametrize("program", programs.WHOLE, ids=lambda program: program.__name__)
@pytest.mark.parametrize("shape", [(7, 5), (1, 9), (0, 3)])
def test_blocks_go_and_come_back(program, shape):
    """Only what the first rank has counts; sizes of 0 and 1, remainders, and ranks that have nothing."""
    for ranks in (1, 2, 3, 4, 7) if program is not programs.doubled_on_four else (4, 5, 7):
        whole = np.random.default_rng(ranks).random(shape)
        calls = [{"A": whole.copy() if rank == 0 else np.zeros(shape), "B": np.zeros(shape)} for rank in range(ranks)]
        on_ranks(program, calls, N=shape[0], M=shape[1])
        for call in calls if program is programs.doubled else calls[:1]:
            np.testing.assert_array_equal(call["B"], 2 * whole)
        if program is not programs.doubled:
            assert not any(call["B"].any() for call in calls[1:])


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_blocks_are_dealt_out_anew(ranks):
    whole = np.random.default_rng(ranks).random((7, 5))
    calls = [{"A": whole.copy(), "B": np.zeros((7, 5))} for _ in range(ranks)]
    on_ranks(programs.dealt_anew, calls, N=7, M=5)
    np.testing.assert_array_equal(calls[0]["B"], 2 * whole)


def of_halves(rank, draw):
    """An array of 5, and room for the half of it that a rank of two gets."""
    return {"x": draw.random(5), "own": np.zeros(2 if rank % 2 else 3), "back": np.zeros(5)}


@pytest.mark.parametrize("ranks", [4, 5])
class TestPartsOfGrids:
    def test_rows_have_arrays_of_their_own(self, ranks):
        draw = np.random.default_rng(0)
        calls = [of_halves(rank, draw) for rank in range(ranks)]
        on_ranks(programs.of_each_row, calls, N=5)
        for first in (0, 2):
            np.testing.assert_array_equal(calls[first]["back"], calls[first]["x"] + 1)
            np.testing.assert_array_equal(calls[first + 1]["own"], calls[first]["x"][3:] + 1)
        assert not any(calls[rank]["back"].any() for rank in range(ranks) if rank not in (0, 2))

    def test_copies_along_columns_and_sums_of_them(self, ranks):
        draw = np.random.default_rng(0)
        calls = [of_halves(rank, draw) for rank in range(ranks)]
        on_ranks(programs.with_copies, calls, N=5)
        for rank in range(4):
            np.testing.assert_array_equal(calls[rank]["own"], calls[0]["x"][3 * (rank % 2) :][:3] + 1)
        np.testing.assert_array_equal(calls[0]["back"], 2 * (calls[0]["x"] + 1))
        assert not any(call["back"].any() for call in calls[1:])

    def test_where_ranks_are(self, ranks):
        calls = [{"found": np.zeros(12, np.int64)} for _ in range(ranks)]
        on_ranks(programs.places, calls)
        assert [call["found"].tolist() for call in calls] == programs.PLACES[:ranks]


def test_a_grid_from_outside():
    """Its sizes are constants of the program; where a rank is on it, the program asks when it runs."""
    grid = comm.Cart_create([1, 1])
    column = comm.Cart_sub(grid, [True, False])

    @dcpy.program
    def f(x: dcpy.float64[N], y: dcpy.float64[N]):
        own = comm.BlockScatter(x, None, column, comm.Cart_sub(grid, [False, True]))
        comm.BlockGather(own + comm.coords(grid)[0], y, column)

    calls = [{"x": np.arange(3.0), "y": np.zeros(3)} for _ in range(2)]
    on_ranks(f, calls, N=3)
    np.testing.assert_array_equal(calls[0]["y"], np.arange(3.0))
    assert not calls[1]["y"].any()


def test_a_grid_of_a_computed_size_passed_to_a_function():
    def of(grid, x):
        return comm.BlockScatter(x, None, grid)

    @dcpy.program
    def f(x: dcpy.float64[N], y: dcpy.float64[1]):
        own = of(comm.Cart_create([comm.size() // 2]), x)
        y[0] = own.sum() * 100 + own.size

    calls = [{"x": np.ones(4), "y": np.zeros(1)} for _ in range(5)]
    on_ranks(f, calls, N=4)
    assert [call["y"][0] for call in calls] == [202, 202, 0, 0, 0]


# -- what does not fit -------------------------------------------------------------------------------------------------


def refused(program, calls, message, error=ValueError, **symbols):
    with pytest.raises(error, match=message):
        on_ranks(program, calls, **symbols)


class TestWhatDoesNotFit:
    def test_a_grid_of_more_ranks_than_there_are(self):
        calls = [{"A": np.zeros((4, 4)), "B": np.zeros((4, 4))} for _ in range(3)]
        refused(programs.doubled_on_four, calls, "a grid has 4 ranks, and there are 3", N=4, M=4)

    def test_a_block_of_another_size(self):
        calls = [of_halves(rank, np.random.default_rng(0)) for rank in range(4)]
        calls[3]["own"] = np.zeros(3)
        message = "the block of rank 3 has|block of rank 3 has not the shape"
        refused(programs.with_copies, calls, message, N=5)

    def test_arrays_of_other_shapes(self):
        calls = [{"A": np.zeros((4, 4 + rank)), "B": np.zeros((4, 4 + rank))} for rank in range(2)]
        refused(programs.doubled, calls, "pass arrays of other shapes: 4 and 5 elements", N=4)

    def test_blocks_of_a_gather_that_are_not_balanced(self):
        @dcpy.program
        def f(own: dcpy.float64[N]):
            return comm.BlockGather(own)

        refused(f, [{"own": np.zeros(1)}, {"own": np.zeros(3)}], "the block of rank [01] has")

    def test_blocks_that_do_not_hold_an_array(self):
        @dcpy.program
        def f(x: dcpy.float64[N], y: dcpy.float64[N]):
            where = comm.Subarray((N,), (2,), comm.Cart_create([2]))
            comm.Redistribute(x, where, y, where)

        refused(f, [{"x": np.zeros(5), "y": np.zeros(5)} for _ in range(2)], "2 blocks of 2 elements do not hold 5")

    def test_a_rank_outside_of_the_grid(self):
        @dcpy.program
        def f(x: dcpy.int64[2], rank: dcpy.int64):
            x[0], x[1] = comm.coords(comm.Cart_create([2, 2]), rank)

        calls = [{"x": np.zeros(2, np.int64), "rank": 4} for _ in range(5)]
        refused(f, calls, "rank 4 is not on the grid, which has 4")

    def test_blocks_of_nothing(self):
        @dcpy.program
        def f(x: dcpy.float64[N], k: dcpy.int64):
            own = comm.BCScatter(x, None, (k,))
            x[0] = own.size

        refused(f, [{"x": np.zeros(4), "k": 0}], "blocks of 0 elements hold nothing")

    def test_another_order_of_grids(self):
        @dcpy.program
        def f(x: dcpy.float64[N], k: dcpy.int64):
            own = comm.BlockScatter(x, None, comm.Cart_create([k]))
            x[0] = own.size

        calls = [{"x": np.ones(4), "k": 2 - rank} for rank in range(2)]
        refused(f, calls, "do not agree", CommunicationError, N=4)


class TestWhatIsRefusedBeforeItRuns:
    def refused(self, body, message):
        body.__annotations__ = {"x": dcpy.float64[N, M], "y": dcpy.float64[N, M]}
        with pytest.raises(FrontendError, match=message) as found:
            dcpy.program(body).to_sdfg()
        assert "test_process_grids.py" in str(found.value)

    def test_another_dtype(self):
        def f(x, y):
            comm.BlockScatter(x, np.zeros((2, 2), np.float32))

        self.refused(f, "comm.BlockScatter moves float64 into an array of float32")

    def test_another_number_of_dimensions(self):
        def f(x, y):
            comm.BlockScatter(x, np.zeros(3))

        self.refused(f, "moves an array of 2 dimensions into one of 1")

    def test_a_number(self):
        def f(x, y):
            comm.BlockScatter(x[0, 0])

        self.refused(f, "a number has no dimensions")

    def test_no_grid(self):
        def f(x, y):
            comm.BlockScatter(x, y, 3)

        self.refused(f, "the grid of comm.BlockScatter is a grid of ranks")

    def test_grids_of_two_grids(self):
        def f(x, y):
            row = comm.Cart_sub(comm.Cart_create([1, 1]), [True, False])
            comm.BlockScatter(x, y, row, comm.Cart_sub(comm.Cart_create([1, 2]), [False, True]))

        self.refused(f, "are not parts of one grid")

    def test_an_axis_twice(self):
        def f(x, y):
            grid = comm.Cart_create([1, 1])
            comm.BlockScatter(x, y, grid, comm.Cart_sub(grid, [False, True]))

        self.refused(f, "have an axis in common")

    def test_no_axis(self):
        def f(x, y):
            comm.Cart_create([])

        self.refused(f, "a grid has one axis at least")

    def test_no_axis_remains(self):
        def f(x, y):
            comm.Cart_sub(comm.Cart_create([1, 1]), [False, False])

        self.refused(f, "a part of a grid has one axis at least")

    def test_other_periods(self):
        def f(x, y):
            comm.Cart_create([1, 1], [True])

        self.refused(f, "periods says yes or no to each of 2 axes")

    def test_a_direction_that_there_is_not(self):
        def f(x, y):
            comm.Cart_shift(comm.Cart_create([1, 1]), 2)

        self.refused(f, "direction 2 is out of bounds")

    def test_axes_that_there_are_not(self):
        def f(x, y):
            comm.BlockScatter(x, y, comm.Cart_create([1]), None, [0, 1])

        self.refused(f, "correspondence")

    def test_block_sizes_of_other_dimensions(self):
        def f(x, y):
            comm.BCScatter(x, y, (3,))

        self.refused(f, "the sizes of blocks, one for each of 2 dimensions")

    def test_a_part_has_no_whole(self):
        def f(x, y):
            comm.BlockGather(x, None, comm.Cart_sub(comm.Cart_create([1, 1]), [True, False]))

        self.refused(f, "on a part of a grid writes into an array")

    def test_no_subarray(self):
        def f(x, y):
            comm.Redistribute(x, x, y, y)

        self.refused(f, "takes what comm.Subarray makes")

    def test_where_one_rank_is(self):
        grid = comm.Cart_create([1, 1])

        def f(x, y):
            x[0, 0] = grid.coords[0]

        self.refused(f, "'coords' of a grid is that of one rank")

    def test_a_negative_size(self):
        def f(x, y):
            comm.Cart_create([-1, 2])

        self.refused(f, "negative dimensions are not allowed")


def test_collectives_on_some_ranks_only():
    @dcpy.program
    def f(x: dcpy.float64[N], y: dcpy.float64[K], p: dcpy.int64[P]):
        if comm.coords(comm.Cart_create([0]))[0] == 0:
            comm.BlockScatter(x, y)

    with pytest.raises(dcpy.InvalidSdfg, match="may run otherwise on other ranks"):
        verify(f.to_sdfg(), WELL_FORMED)
