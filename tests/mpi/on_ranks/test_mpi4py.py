"""Programs in mpi4py's spelling: undecorated, which is mpi4py itself, and compiled, give the same."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError, InvalidSdfg
from dcpy.ir.interp.virtual_ranks import run_ranks

pytestmark = pytest.mark.mpi
MPI = pytest.importorskip("mpi4py.MPI", exc_type=ImportError)
WORLD = MPI.COMM_WORLD
N, M = dcpy.symbol("N"), dcpy.symbol("M")


@pytest.fixture(params=["undecorated", "compiled"])
def run(request):
    """A program as a function, or compiled."""
    return (lambda program: program.function) if request.param == "undecorated" else (lambda program: program)


@dcpy.program
def sum_of_pieces(big, own, total):
    """The lesson's program: pieces of what rank 0 has, and the sum over all ranks."""
    WORLD.Scatter([big, MPI.DOUBLE], [own, MPI.DOUBLE], root=0)
    total[0] = np.sum(own)
    WORLD.Allreduce(MPI.IN_PLACE, total, op=MPI.SUM)


def test_pieces_and_their_sum(run):
    rank, ranks = WORLD.rank, WORLD.size
    big = np.arange(4.0 * ranks) if rank == 0 else np.empty(0)
    own, total = np.empty(4), np.zeros(1)
    run(sum_of_pieces)(big, own, total)
    np.testing.assert_array_equal(own, np.arange(4.0 * ranks)[4 * rank : 4 * rank + 4])
    assert total[0] == np.arange(4.0 * ranks).sum()


@dcpy.program
def relax(steps: dcpy.int64, A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    """Rows and columns are sent as they lie, without a copy."""
    rank, ranks = WORLD.Get_rank(), WORLD.Get_size()
    above = rank - 1 if rank > 0 else MPI.PROC_NULL
    below = rank + 1 if rank < ranks - 1 else MPI.PROC_NULL
    for _ in range(steps):
        requests = [WORLD.Isend(A[1], dest=above, tag=0), WORLD.Isend(A[-2], dest=below, tag=1)]
        requests.append(WORLD.Irecv(A[0], source=above, tag=1))
        requests.append(WORLD.Irecv(A[-1], source=below))
        MPI.Request.Waitall(requests)
        B[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        A[1:-1, 1:-1] = B[1:-1, 1:-1]


def test_a_stencil(run):
    rank, ranks = WORLD.rank, WORLD.size
    whole = np.random.default_rng(0).random((3 * ranks + 2, 5))
    part = whole[3 * rank : 3 * rank + 5].copy()
    run(relax)(4, part, np.zeros_like(part))
    for _ in range(4):
        whole[1:-1, 1:-1] = 0.25 * (whole[:-2, 1:-1] + whole[2:, 1:-1] + whole[1:-1, :-2] + whole[1:-1, 2:])
    np.testing.assert_array_equal(part[1:-1], whole[3 * rank + 1 : 3 * rank + 4])


def test_a_stencil_on_virtual_ranks():
    whole = np.random.default_rng(0).random((14, 5))
    parts = [whole[3 * rank : 3 * rank + 5].copy() for rank in range(4)]
    calls = [{"steps": 2, "A": part, "B": np.zeros_like(part)} for part in parts]
    traffic = run_ranks(relax.to_sdfg(), calls, {"N": 5, "M": 5}, strict=True)
    assert traffic.messages == 2 * 2 * 3


@dcpy.program
def all_of_them(rows, own, every, most, sums, before, turned, mine):
    WORLD.Scatter(rows, own, root=0)  # a row of a matrix each
    WORLD.Allgather(own, every)
    WORLD.Reduce(own, most, op=MPI.MAX, root=0)
    WORLD.Bcast([most, MPI.DOUBLE])
    WORLD.Scan(own, sums)
    WORLD.Exscan(own, before, MPI.SUM)
    WORLD.Alltoall(rows, turned)
    WORLD.Reduce_scatter_block(rows, mine, op=MPI.PROD)
    WORLD.Barrier()


def test_collectives(run):
    rank, ranks = WORLD.rank, WORLD.size
    rows = np.random.default_rng(1).random((ranks, 3))
    own, most, sums, before, mine = (np.full(3, -1.0) for _ in range(5))
    every, turned = np.zeros((ranks, 3)), np.zeros((ranks, 3))
    run(all_of_them)(rows, own, every, most, sums, before, turned, mine)
    np.testing.assert_array_equal(own, rows[rank])
    np.testing.assert_array_equal(every, rows)
    np.testing.assert_array_equal(most, rows.max(axis=0))
    np.testing.assert_allclose(sums, rows[: rank + 1].sum(axis=0))
    np.testing.assert_allclose(before, rows[:rank].sum(axis=0) if rank else -1.0)
    np.testing.assert_array_equal(turned, np.repeat(rows[rank : rank + 1], ranks, axis=0))
    np.testing.assert_allclose(mine, rows[rank] ** ranks)


@dcpy.program
def least(pairs, found):
    WORLD.Allreduce([pairs, MPI.TWOINT], [found, MPI.TWOINT], op=MPI.MINLOC)


def test_where_extrema_are(run):
    values = np.random.default_rng(4).integers(0, 3, (WORLD.size, 5), dtype=np.int32)
    pairs = np.column_stack([values[WORLD.rank], np.full(5, WORLD.rank, np.int32)])
    found = np.zeros((5, 2), np.int32)
    run(least)(pairs, found)
    np.testing.assert_array_equal(found, np.column_stack([values.min(axis=0), values.argmin(axis=0)]))


@dcpy.program
def around(x, y, z):
    after, before = (WORLD.rank + 1) % WORLD.size, (WORLD.rank - 1) % WORLD.size
    WORLD.Sendrecv(x, dest=after, sendtag=11, recvbuf=y, source=before, recvtag=11)
    taken = WORLD.Irecv(z, before)
    given = WORLD.Isend([y, MPI.DOUBLE], after, tag=3)
    taken.Wait()
    given.Wait()


def test_a_ring(run):
    rank, ranks = WORLD.rank, WORLD.size
    x, y, z = np.full(3, float(rank)), np.zeros(3), np.zeros(3)
    run(around)(x, y, z)
    assert (y.tolist(), z.tolist()) == ([(rank - 1) % ranks] * 3, [(rank - 2) % ranks] * 3)


def test_grids():
    cart = WORLD.Create_cart(MPI.Compute_dims(WORLD.size, 2), periods=[True, False])

    @dcpy.program
    def neighbours(out):
        out[0], out[1] = cart.Shift(0, 1)
        out[2], out[3] = cart.Shift(1, 1)
        out[4], out[5] = cart.coords
        out[6] = cart.Get_coords(cart.rank)[1]

    found = np.zeros(7, np.int64)
    neighbours(found)
    told = [*cart.Shift(0, 1), *cart.Shift(1, 1), *cart.coords, cart.coords[1]]
    assert found.tolist() == [dcpy.comm.PROC_NULL if number < 0 else number for number in told]
    cart.Free()


class TestRefusals:
    def refused(self, program, message, error=FrontendError):
        with pytest.raises(error, match=message) as found:
            program(np.zeros(3))
        return str(found.value)

    def test_pickles(self):
        @dcpy.program
        def f(x):
            WORLD.bcast(x)

        assert "write Bcast(...)" in self.refused(f, "as a pickle; Bcast sends arrays")

    def test_whoever_is_first(self):
        @dcpy.program
        def f(x):
            WORLD.Recv(x)

        self.refused(f, "a program names the rank from which it receives")

    def test_another_datatype(self):
        @dcpy.program
        def f(x):
            WORLD.Send([x, MPI.FLOAT], 0)

        self.refused(f, "an array of float64 is said to be of MPI_FLOAT")

    def test_counts(self):
        @dcpy.program
        def f(x):
            WORLD.Send([x, 2, MPI.DOUBLE], 0)

        assert "[x[:count], MPI.DOUBLE]" in self.refused(f, "counts and displacements follow from the array")

        @dcpy.program
        def g(x):
            WORLD.Reduce_scatter(x, x[:1], [1, 1, 1])

        self.refused(g, "counts follow from the arrays of the ranks")

    def test_an_operation_of_their_own(self):
        @dcpy.program
        def f(x):
            WORLD.Allreduce(MPI.IN_PLACE, x, MPI.BXOR)

        self.refused(f, "an operation that programs do not take")

    def test_ranks_of_other_numbers(self):
        @dcpy.program
        def f(x):
            WORLD.Create_cart([1, 1], reorder=True)

        self.refused(f, "ranks keep their numbers")

    def test_what_has_no_counterpart(self):
        @dcpy.program
        def f(x):
            WORLD.Spawn(x)

        self.refused(f, "programs take messages, collectives and grids of all ranks")

    def test_some_of_the_ranks(self):
        if WORLD.size == 1:
            pytest.skip("needs two ranks")
        some = WORLD.Split(WORLD.rank % 2)

        @dcpy.program
        def f(x):
            some.Allreduce(MPI.IN_PLACE, x)

        assert "dcpy.comm.Cart_sub" in self.refused(f, "among all ranks, in their order")
        some.Free()

    def test_a_condition_on_the_rank(self):
        @dcpy.program
        def f(x):
            if WORLD.rank == 0:
                WORLD.Bcast(x)

        self.refused(f, "in a branch that may run otherwise on other ranks", InvalidSdfg)
