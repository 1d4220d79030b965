"""Programs that send: each gives on 1 to 8 virtual ranks what NumPy gives on one, also if all sends are synchronous."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import comm
from dcpy.base.errors import CommunicationError
from dcpy.ir.interp.virtual_ranks import run_ranks
from tests.support.local_view import (
    N,
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

RANKS = (1, 2, 3, 4, 5, 7, 8)


def on_ranks(program, arguments, strict=False, **symbols):
    """What virtual ranks sent; results are in the arguments."""
    return run_ranks(program.to_sdfg(), arguments, symbols, strict=strict, seed=len(arguments))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("ranks", RANKS)
class TestEqualsOneRank:
    def test_a_stencil_with_messages_that_are_started(self, ranks, strict):
        """The paper's j2d_dist: halos of rows as slices, requests in an array, one wait for all."""
        whole = np.random.default_rng(ranks).random((3 * ranks + 2, 5))
        parts = [whole[3 * r : 3 * r + 5].copy() for r in range(ranks)]
        calls = [{"T": 4, "A": part, "B": np.zeros_like(part)} for part in parts]
        traffic = on_ranks(relax, calls, strict, N=5, M=5)
        assert (traffic.messages, traffic.bytes) == (4 * 2 * (ranks - 1), 4 * 2 * (ranks - 1) * 3 * 8)
        relax_of_numpy(4, whole)
        for r, part in enumerate(parts):
            np.testing.assert_array_equal(part[1:-1], whole[3 * r + 1 : 3 * r + 4])

    def test_pagerank(self, ranks, strict):
        links = np.random.default_rng(1).random((17, 17))
        links /= links.sum(axis=0)
        expected = pagerank_of_numpy(links)
        calls = [{"rows": links[rows_of(r, ranks, 17)], "found": np.zeros(17)} for r in range(ranks)]
        for call in calls:
            call["mine"] = np.zeros(len(call["rows"]))
        for each in calls:  # sizes differ between ranks: no symbol of all
            each["rows"] = np.ascontiguousarray(each["rows"])
        on_ranks(pagerank, calls, strict, N=17)
        for call in calls:
            np.testing.assert_allclose(call["found"], expected, rtol=1e-12)

    def test_collectives(self, ranks, strict):
        draw = np.random.default_rng(2).random((ranks, 6))
        calls = [{"x": row.copy(), "out": np.zeros((6, 6))} for row in draw]
        on_ranks(global_sums, calls, strict)
        for r, call in enumerate(calls):
            out = call["out"]
            np.testing.assert_allclose(out[0], draw.sum(axis=0))
            np.testing.assert_array_equal(out[1], draw.max(axis=0))
            np.testing.assert_allclose(out[2], draw[: r + 1].sum(axis=0))
            np.testing.assert_allclose(out[3], draw[:r].sum(axis=0) if r else np.full(6, -1.0))
            np.testing.assert_array_equal(out[4], draw[ranks - 1])
            np.testing.assert_allclose(out[5], draw.prod(axis=0) if r == 0 else np.full(6, -2.0))

    def test_where_extrema_are(self, ranks, strict):
        calls = [
            {"x": pairs, "k": k, "out": np.zeros((3, 4, 2)), "last": np.zeros(2, int)}
            for pairs, k in map(pairs_of, range(ranks))
        ]
        on_ranks(extrema, calls, strict)
        for r, call in enumerate(calls):
            expected, expected_last = extrema_of_numpy(r, ranks)
            np.testing.assert_array_equal(call["out"], expected)
            np.testing.assert_array_equal(call["last"], expected_last)


@dcpy.program
def rotated(x: dcpy.float64[N], y: dcpy.float64[N]):
    right, left = (comm.rank() + 1) % comm.size(), (comm.rank() - 1) % comm.size()
    comm.Sendrecv(x, right, y, left, 3)


@dcpy.program
def rearranged(x: dcpy.float64[N, 2], y: dcpy.float64[N, 2], z: dcpy.float64[2]):
    comm.Alltoall(x, y)
    comm.ReduceScatter(x[:, 0] + 0.0, z[:1], comm.SUM)
    comm.Barrier()


def test_to_the_neighbour():
    calls = [{"x": np.full(2, float(r)), "y": np.zeros(2)} for r in range(3)]
    on_ranks(rotated, calls, True, N=2)
    assert [call["y"].tolist() for call in calls] == [[2.0, 2.0], [0.0, 0.0], [1.0, 1.0]]


def test_rows_change_places():
    calls = [{"x": np.arange(6.0).reshape(3, 2) + 10 * r, "y": np.zeros((3, 2)), "z": np.zeros(2)} for r in range(3)]
    on_ranks(rearranged, calls, N=3)
    for r, call in enumerate(calls):
        np.testing.assert_array_equal(call["y"][:, 0], [2 * r, 10 + 2 * r, 20 + 2 * r])
        assert call["z"][0] == 30 + 6 * r


class TestWhatVirtualRanksFind:
    def refused(self, program, message, ranks=2, strict=False, size=4):
        calls = [{"x": np.zeros(size), "y": np.zeros(size)} for _ in range(ranks)]
        with pytest.raises(CommunicationError, match=message) as found:
            on_ranks(program, calls, strict, N=size)
        return str(found.value)

    def test_two_sends_that_wait_for_each_other(self):
        """An MPI lets short ones pass; here they wait, and the error says where."""

        @dcpy.program
        def ring(x: dcpy.float64[N], y: dcpy.float64[N]):
            comm.Send(x, (comm.rank() + 1) % comm.size())
            comm.Recv(y, (comm.rank() - 1) % comm.size())

        on_ranks(ring, [{"x": np.ones(4), "y": np.zeros(4)} for _ in range(2)], N=4)
        text = self.refused(ring, "deadlock: no rank can go on", strict=True)
        assert "rank 0" in text
        assert "rank 1" in text
        assert "test_local_view.py" in text

    def test_another_length(self):
        @dcpy.program
        def cut(x: dcpy.float64[N], y: dcpy.float64[N]):
            if comm.rank() == 0:
                comm.Send(x, 1)
            else:
                comm.Recv(y[:2], 0)

        text = self.refused(cut, r"rank 0 sends float64\[4\], and rank 1 receives float64\[2\]")
        assert text.count("test_local_view.py") >= 2

    def test_another_root(self):
        @dcpy.program
        def of_two(x: dcpy.float64[N], y: dcpy.float64[N]):
            comm.Bcast(x, comm.rank())

        self.refused(of_two, "the ranks of a comm.bcast do not agree: the root is 0 on rank 0, 1 on rank 1")

    def test_what_is_sent_is_changed_before_the_wait(self):
        @dcpy.program
        def hasty(x: dcpy.float64[N], y: dcpy.float64[N]):
            request = np.empty((2,), dtype=comm.Request)
            other = 1 - comm.rank()
            comm.Isend(x, other, 0, request[0])
            comm.Irecv(y, other, 0, request[1])
            x[0] = 7.0
            comm.Waitall(request)

        self.refused(hasty, "what was sent was changed before the wait")

    def test_memory_is_touched_while_it_is_received_into(self):
        @dcpy.program
        def hasty(x: dcpy.float64[N], y: dcpy.float64[N]):
            request = np.empty((2,), dtype=comm.Request)
            other = 1 - comm.rank()
            comm.Isend(x, other, 0, request[0])
            comm.Irecv(y, other, 0, request[1])
            y[0] = 7.0
            comm.Waitall(request)

        self.refused(hasty, "memory was written while it was received into")
