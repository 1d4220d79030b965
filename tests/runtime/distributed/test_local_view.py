"""The local view of one rank, without any MPI: undecorated, and compiled."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import comm
from dcpy.base.errors import CommunicationError, FrontendError
from tests.support.local_view import global_sums, pagerank, pagerank_of_numpy, relax, relax_of_numpy


@pytest.fixture(params=["undecorated", pytest.param("compiled", marks=pytest.mark.cc)])
def run(request):
    """A program as a function, or compiled."""
    return (lambda program: program.function) if request.param == "undecorated" else (lambda program: program)


def test_a_stencil(run):
    whole = np.random.default_rng(0).random((6, 5))
    found = whole.copy()
    run(relax)(4, found, np.zeros_like(found))
    relax_of_numpy(4, whole)
    np.testing.assert_array_equal(found, whole)


def test_collectives_are_copies(run):
    x, out = np.arange(6.0), np.zeros((6, 6))
    run(global_sums)(x, out)
    for k in (0, 1, 2, 4, 5):
        np.testing.assert_array_equal(out[k], x)
    np.testing.assert_array_equal(out[3], np.full(6, -1.0))


@pytest.mark.cc
def test_pagerank():
    links = np.random.default_rng(1).random((9, 9))
    links /= links.sum(axis=0)
    found = np.zeros(9)
    pagerank(links, np.zeros(9), found)
    np.testing.assert_allclose(found, pagerank_of_numpy(links), rtol=1e-12)


def test_nobody_is_there():
    x = np.zeros(3)
    with pytest.raises(CommunicationError, match="there is no rank 1: there are 1"):
        comm.Send(x, 1)
    with pytest.raises(CommunicationError, match="there is no rank 1: there are 1"):
        comm.Bcast(x, 1)
    with pytest.raises(CommunicationError, match="moves 2 elements, and there is room for 3"):
        comm.Gather(np.zeros(2), x)
    comm.Send(x, comm.PROC_NULL)
    comm.Sendrecv(np.ones(3), 0, x, 0)
    np.testing.assert_array_equal(x, np.ones(3))


@dcpy.program
def around(x, y, z):
    """A ring, which of one rank is that rank."""
    rank, ranks = comm.rank(), comm.size()
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    requests = np.empty((4,), dtype=comm.Request)
    comm.Isend(x[::2], after, 1, requests[0])
    comm.Isend(x[1::2], after, 2, requests[1])
    comm.Irecv(z[:3], before, 2, requests[2])
    comm.Irecv(y, before, comm.ANY_TAG, requests[3])
    comm.Waitall(requests)
    taken = comm.Irecv(z[3:], before, 3)
    comm.Send(y, after, 3)
    comm.Wait(taken)
    given = comm.Isend(z[:2], after)
    comm.Recv(x[:2], before)
    comm.Wait(given)


def test_a_rank_alone_sends_to_itself(run):
    for _ in range(2):
        x, y, z = np.arange(6.0), np.zeros(3), np.zeros(6)
        run(around)(x, y, z)
        assert (x[:2].tolist(), y.tolist(), z.tolist()) == ([1, 3], [0, 2, 4], [1, 3, 5, 0, 2, 4])


def test_a_rank_alone_does_not_wait_for_itself():
    x, y = np.zeros(3), np.zeros(3)
    for forever in (lambda: comm.Send(x, 0), lambda: comm.Recv(y, 0), lambda: comm.Wait(comm.Irecv(y, 0, 5))):
        with pytest.raises(CommunicationError, match="a rank alone waits for a message to itself"):
            forever()
    with pytest.raises(CommunicationError, match=r"sends float64\[3\] to itself, and receives float64\[2\]"):
        comm.Sendrecv(x, 0, y[:2], 0, 9)
    comm.Isend(x, 0, 5)  # what the last one but one waited for


def test_a_request_is_started_once():
    requests = np.empty((1,), comm.Request)
    requests[0]["request"] = ("under way",)
    with pytest.raises(RuntimeError, match="started again that was not waited for"):
        comm.Isend(np.zeros(1), comm.PROC_NULL, 0, requests[0])


def test_distributed_programs_do_not_send_by_themselves():
    @dcpy.program(distributed=True)
    def f(A):
        comm.Allreduce(A, comm.SUM)

    with pytest.raises(FrontendError, match=r"f\(\) is distributed, and sends by itself \(comm.allreduce\)"):
        f(dcpy.zeros(3, on=dcpy.on(dcpy.grid(1), "block")))
