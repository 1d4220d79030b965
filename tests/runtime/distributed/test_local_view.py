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
    with pytest.raises(CommunicationError, match="a rank alone sends to nobody"):
        comm.Send(x, 0)
    with pytest.raises(CommunicationError, match="there is no rank 1: there are 1"):
        comm.Bcast(x, 1)
    with pytest.raises(CommunicationError, match="moves 2 elements, and there is room for 3"):
        comm.Gather(np.zeros(2), x)
    comm.Send(x, comm.PROC_NULL)
    comm.Sendrecv(np.ones(3), 0, x, 0)
    np.testing.assert_array_equal(x, np.ones(3))


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
