"""The local view on real ranks: undecorated through mpi4py, and compiled, each as NumPy on one rank."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy import comm
from dcpy.base.errors import CommunicationError
from tests.support.local_view import (
    extrema,
    extrema_of_numpy,
    global_sums,
    pagerank,
    pagerank_of_numpy,
    pairs_of,
    relax,
    relax_of_numpy,
    rows_of,
)

pytestmark = pytest.mark.mpi


@pytest.fixture(params=["undecorated", "compiled"])
def run(request):
    """A program as a function, or compiled."""
    return (lambda program: program.function) if request.param == "undecorated" else (lambda program: program)


def test_a_stencil(run):
    rank, ranks = comm.rank(), comm.size()
    whole = np.random.default_rng(0).random((3 * ranks + 2, 5))
    part = whole[3 * rank : 3 * rank + 5].copy()
    run(relax)(4, part, np.zeros_like(part))
    relax_of_numpy(4, whole)
    np.testing.assert_array_equal(part[1:-1], whole[3 * rank + 1 : 3 * rank + 4])


def test_pagerank():
    """Blocks of other sizes on each rank: each compiles for symbols."""
    links = np.random.default_rng(1).random((17, 17))
    links /= links.sum(axis=0)
    rows, found = links[rows_of(comm.rank(), comm.size(), 17)].copy(), np.zeros(17)
    pagerank(rows, np.zeros(len(rows)), found)
    np.testing.assert_allclose(found, pagerank_of_numpy(links), rtol=1e-12)


def test_collectives(run):
    rank, ranks = comm.rank(), comm.size()
    draw = np.random.default_rng(2).random((ranks, 6))
    out = np.zeros((6, 6))
    run(global_sums)(draw[rank].copy(), out)
    np.testing.assert_allclose(out[0], draw.sum(axis=0))
    np.testing.assert_array_equal(out[1], draw.max(axis=0))
    np.testing.assert_allclose(out[2], draw[: rank + 1].sum(axis=0))
    np.testing.assert_allclose(out[3], draw[:rank].sum(axis=0) if rank else np.full(6, -1.0))
    np.testing.assert_array_equal(out[4], draw[ranks - 1])
    np.testing.assert_allclose(out[5], draw.prod(axis=0) if rank == 0 else np.full(6, -2.0))


def test_where_extrema_are(run):
    pairs, k = pairs_of(comm.rank())
    out, last = np.zeros((3, 4, 2)), np.zeros(2, int)
    run(extrema)(pairs, k, out, last)
    expected, expected_last = extrema_of_numpy(comm.rank(), comm.size())
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(last, expected_last)


def test_undecorated_rows():
    """Pieces of other lengths on each rank; columns are sent without a copy of the user's."""
    rank, ranks = comm.rank(), comm.size()
    mine = np.full((rank + 1, 2), float(rank))
    count = ranks * (ranks + 1) // 2
    everything = np.zeros((count, 2))
    comm.Allgather(mine, everything)
    np.testing.assert_array_equal(everything[:, 1], np.repeat(np.arange(ranks), np.arange(ranks) + 1))
    back = np.zeros((rank + 1, 2))
    comm.Scatter(everything, back, 0)
    np.testing.assert_array_equal(back, mine)
    gathered = np.zeros((count if rank == 0 else 0, 2))
    comm.Gather(mine, gathered, 0)
    np.testing.assert_array_equal(gathered, everything[: len(gathered)])
    total = np.zeros(1)
    comm.ReduceScatter(np.arange(float(ranks)), total)
    assert total[0] == rank * ranks
    square = np.arange(9.0).reshape(3, 3) + rank
    column = np.zeros((3, 3))
    comm.Sendrecv(square[:, 1], (rank + 1) % ranks, column[:, 2], (rank - 1) % ranks)
    np.testing.assert_array_equal(column[:, 2], np.array([1, 4, 7]) + (rank - 1) % ranks)
    with pytest.raises(CommunicationError, match="there is no rank"):
        comm.Send(total, ranks)
