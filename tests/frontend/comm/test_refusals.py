"""What programs of the local view may not say, and what the errors say instead."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

import dcpy
from dcpy import comm
from dcpy.base.errors import FrontendError, InvalidSdfg
from dcpy.frontend.comm.mpi4py_names import refusal_of_mpi4py

N = dcpy.symbol("N")


def refused(body, message, error=FrontendError):
    """The error of a program of two arrays."""
    body.__annotations__ = {"x": dcpy.float64[N], "y": dcpy.float64[N]}
    with pytest.raises(error, match=message) as found:
        dcpy.program(body).to_sdfg()
    assert "test_refusals.py" in str(found.value)
    return str(found.value)


def test_any_source():
    def f(x, y):
        comm.Recv(x, comm.ANY_SOURCE)

    assert "receive from each rank in turn" in refused(f, "names the rank from which it receives")


def test_another_dtype():
    def f(x, y):
        comm.Allreduce(np.zeros(3, dtype=np.float32), y, comm.SUM)

    assert "x.astype(out.dtype)" in refused(f, "comm.Allreduce moves float32 into an array of float64")


def test_locations_are_of_pairs():
    def f(x, y):
        comm.Allreduce(np.zeros(3), np.zeros(3), comm.MINLOC)

    assert "np.array([[value, rank]])" in refused(f, "comm.MINLOC combines pairs")


def test_a_number_cannot_be_received_into():
    def f(x, y):
        comm.Recv(x[0], 1)

    refused(f, "comm.Recv writes into an array, not")


def test_none_is_no_operand():
    def f(x, y):
        comm.Scatter(None, y)

    assert "those that give nothing, empty ones" in refused(f, "comm.Scatter takes an array, not None")


def test_an_operation_is_needed():
    def f(x, y):
        comm.Allreduce(x, y, 3)

    assert "comm.Allreduce(x, out, comm.SUM)" in refused(f, r"comm.Allreduce takes \(buffer, op\), or \(x, out, op\)")


class TestRequests:
    def test_nothing_was_started(self):
        def f(x, y):
            requests = np.empty((2,), dtype=comm.Request)
            comm.Waitall(requests)

        refused(f, "messages that this function has not started before it")

    def test_a_wait_in_another_loop(self):
        """It would wait for one message several times."""

        def f(x, y):
            request = comm.Isend(x, 1)
            for _ in range(3):
                comm.Wait(request)

        refused(f, "waited for in a loop or branch in which it was not started")

    def test_a_wait_for_the_iteration_before(self):
        """Which memory it is about would depend on the iteration."""

        def f(x, y):
            requests = np.empty((1,), dtype=comm.Request)
            for _ in range(3):
                comm.Waitall(requests)
                comm.Isend(x, 1, 0, requests[0])

        refused(f, "messages that this function has not started before it")

    def test_one_request_for_two_messages(self):
        def f(x, y):
            requests = np.empty((1,), dtype=comm.Request)
            comm.Isend(x, 1, 0, requests[0])
            comm.Irecv(y, 1, 0, requests[0])
            comm.Waitall(requests)

        assert "another element" in refused(f, "two messages of other memory")

    def test_a_message_that_nobody_waits_for(self):
        """Its memory would be gone while it is sent."""

        def f(x, y):
            requests = np.empty((2,), dtype=comm.Request)
            comm.Isend(x + y, 1, 0, requests[0])
            comm.Irecv(y, 1, 0, requests[1])
            comm.Wait(requests[1])

        assert "comm.Isend(x + y" in refused(f, "a message is started that the function does not wait for")

    def test_a_number_that_is_not_known(self):
        def f(x, y):
            requests = np.empty((4,), dtype=comm.Request)
            for k in range(4):
                comm.Isend(x, k, 0, requests[k])
            comm.Waitall(requests)

        refused(f, "by a number that is known")


@pytest.mark.cc
class TestDivergence:
    """All ranks reach a collective, or none does: said before anything is compiled."""

    def test_a_condition_on_the_rank(self):
        @dcpy.program
        def f(x: dcpy.float64[N]):
            if comm.rank() == 0:
                comm.Allreduce(x, comm.SUM)

        with pytest.raises(InvalidSdfg, match=r"a comm.allreduce is in a branch that may run otherwise on other ranks"):
            f(np.zeros(3))

    def test_a_trip_count_of_the_rank(self):
        @dcpy.program
        def f(x: dcpy.float64[N]):
            for _ in range(comm.rank() + 1):
                comm.Barrier()

        with pytest.raises(InvalidSdfg, match=r"a comm.barrier is in a loop that may run otherwise"):
            f(np.zeros(3))

    def test_what_a_message_brought(self):
        @dcpy.program
        def f(x: dcpy.float64[N]):
            comm.Recv(x, comm.PROC_NULL)
            if x[0] > 0:
                comm.Barrier()

        with pytest.raises(InvalidSdfg, match="take the condition from an array into which"):
            f(np.zeros(3))


def test_what_is_written_in_place_of_methods_of_mpi4py():
    """tests/mpi/on_ranks/test_mpi4py.py has those that are taken."""
    pickles = refusal_of_mpi4py("mpi4py.MPI.Comm.allreduce")
    assert pickles is not None
    assert "as a pickle; Allreduce sends arrays" in pickles.reason
    assert "write Allreduce(...)" in pickles.help
    assert "docs/how-to/local-view.md" in refusal_of_mpi4py("mpi4py.MPI.Comm.Spawn").help
    assert refusal_of_mpi4py("scipy.Send") is None


def test_numbers_of_mpi4py_are_those_of_programs():
    """By name: PROC_NULL of one MPI is ANY_SOURCE of another one."""
    mpi = ModuleType("mpi4py.MPI")
    mpi.PROC_NULL, mpi.UNDEFINED = -2, -32766

    def f(x, y):
        comm.Send(x, mpi.PROC_NULL)
        comm.Recv(y, mpi.PROC_NULL)

    def g(x, y):
        y[0] = mpi.UNDEFINED

    f.__annotations__ = {"x": dcpy.float64[N], "y": dcpy.float64[N]}
    assert "{to = -1}" in str(dcpy.program(f).to_sdfg())
    assert "write dcpy.comm.UNDEFINED" in refused(g, "mpi4py's 'UNDEFINED' is not supported")
