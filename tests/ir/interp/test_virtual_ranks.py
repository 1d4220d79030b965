"""Virtual ranks: what each node means for all of them, and what they find that an MPI would not."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import plugins
from dcpy.base.errors import CommunicationError
from dcpy.ir.files.json import from_json, to_json
from dcpy.ir.interp.virtual_ranks import run_ranks, symbols_of_ranks
from dcpy.ir.text import parse_sdfg, print_sdfg

plugins.load()
RANKS = (1, 2, 3, 4, 5, 7, 8)


def run(body, ranks, *, args="x: f64[n], y: f64[m]", grids="g[P]", x=None, y=None, strict=(False, True), **symbols):
    """Runs a body on ranks with these arrays; what is in ``y`` afterwards, for ordinary and strict runs alike."""
    head = f"sdfg @f({args}) symbols(n: size, m: size, P: size, g_c0: i64) grids({grids})"
    found = []
    for mode in strict:
        for seed in range(3 if mode else 1):
            sdfg = parse_sdfg(f"{head} {{ {body} }}")
            assert print_sdfg(from_json(to_json(sdfg))) == print_sdfg(parse_sdfg(print_sdfg(sdfg)))
            xs = [np.array(x(rank), float) for rank in range(ranks)]
            ys = [np.array(y(rank), float) for rank in range(ranks)]
            given = [{"x": a, "y": b} for a, b in zip(xs, ys, strict=True)]
            run_ranks(sdfg, given, {"P": ranks, **symbols}, strict=mode, seed=seed)
            found.append([b.tolist() for b in ys])
    assert all(each == found[0] for each in found)
    return found[0]


def collective(kind, options=""):
    return f"comm.{kind} (x <- x[0:n]) -> (out -> y[0:m]) {{{options}}}" if options else (
        f"comm.{kind} (x <- x[0:n]) -> (out -> y[0:m])"
    )  # fmt: skip


@pytest.mark.parametrize("ranks", RANKS)
class TestCollectives:
    def test_bcast(self, ranks):
        found = run(collective("bcast", "root = P - 1"), ranks, x=lambda r: [r, 2 * r], y=lambda r: [0, 0])
        assert found == [[ranks - 1, 2 * ranks - 2]] * ranks

    def test_reduce(self, ranks):
        found = run(collective("reduce", 'op = "max"'), ranks, x=lambda r: [r, -r], y=lambda r: [9, 9])
        assert found == [[ranks - 1, 0], *[[9, 9]] * (ranks - 1)]

    def test_allreduce(self, ranks):
        found = run(collective("allreduce"), ranks, x=lambda r: [r, 1], y=lambda r: [0, 0])
        assert found == [[sum(range(ranks)), ranks]] * ranks

    def test_scans(self, ranks):
        scan = run(collective("scan"), ranks, x=lambda r: [r + 1], y=lambda r: [0])
        assert scan == [[sum(range(r + 2))] for r in range(ranks)]
        before = run(collective("exscan"), ranks, x=lambda r: [r + 1], y=lambda r: [-1])
        assert before == [[-1], *[[sum(range(r + 1))] for r in range(1, ranks)]]

    def test_scatter_and_gather_take_as_much_as_there_is(self, ranks):
        rows = sum(range(ranks))
        found = run(collective("scatter"), ranks, x=lambda r: range(rows) if r == 0 else [], y=lambda r: [0] * r)
        assert [each for part in found for each in part] == list(range(rows))
        back = run(collective("gather"), ranks, x=lambda r: [r] * r, y=lambda r: [0] * rows if r == 0 else [7])
        assert back == [[r for r in range(ranks) for _ in range(r)], *[[7]] * (ranks - 1)]
        every = run(collective("allgather"), ranks, x=lambda r: [r] * r, y=lambda r: [0] * rows)
        assert every == [[r for r in range(ranks) for _ in range(r)]] * ranks

    def test_alltoall(self, ranks):
        found = run(
            collective("alltoall"), ranks, x=lambda r: [10 * r + k for k in range(ranks)], y=lambda r: [0] * ranks
        )
        assert found == [[10 * k + r for k in range(ranks)] for r in range(ranks)]

    def test_reduce_scatter(self, ranks):
        found = run(collective("reduce_scatter"), ranks, x=lambda r: range(2 * ranks), y=lambda r: [0, 0])
        assert found == [[ranks * 2 * r, ranks * (2 * r + 1)] for r in range(ranks)]

    def test_a_ring(self, ranks):
        body = "comm.sendrecv (x <- x[0:n]) -> (out -> y[0:n]) {to = (g_c0 + 1) % P, source = (g_c0 + P - 1) % P}"
        assert run(body, ranks, x=lambda r: [r], y=lambda r: [9]) == [[(r - 1) % ranks] for r in range(ranks)]

    def test_started_messages(self, ranks):
        body = """
          data r: i64[2] transient
          comm.irecv () -> (out -> y[0:n], request -> r[1]) {source = (g_c0 + 1) % P, tag = 3}
          comm.isend (x <- x[0:n]) -> (request -> r[0]) {to = (g_c0 + P - 1) % P, tag = 3}
          comm.wait (requests <- r[0:2], b0 <- x[0:n], b1 <- y[0:n]) -> (b1 -> y[0:n])"""
        assert run(body, ranks, x=lambda r: [r, 5], y=lambda r: [9, 9]) == [[(r + 1) % ranks, 5] for r in range(ranks)]

    def test_nobody_is_no_neighbour(self, ranks):
        body = """comm.sendrecv (x <- x[0:n]) -> (out -> y[0:n]) {
          to = g_c0 - 1, source = max(g_c0, (g_c0 + 1) % P) * min(1, (g_c0 + 1) % P) - 1 + min(1, (g_c0 + 1) % P)}"""
        assert run(body, ranks, x=lambda r: [r], y=lambda r: [9])[:-1] == [[r + 1] for r in range(ranks - 1)]


def test_collectives_along_an_axis_of_a_grid():
    body = 'comm.allreduce (x <- x[0:n]) -> (out -> y[0:m]) {grid = "g", along = (1,)}'
    found = run(body, 7, grids="g[2, 3]", x=lambda r: [r], y=lambda r: [-1])
    assert found == [[3], [3], [3], [12], [12], [12], [-1]]  # one rank is not on the grid


def test_ranks_of_grids():
    sdfg = parse_sdfg(
        "sdfg @f() symbols(P: size, Q: size) grids(g[P, 2], h[Q]) { }"
    )  # fmt: skip
    places = symbols_of_ranks(sdfg, 5, {})
    assert [(each["g_c0"], each["g_c1"], each["h_c0"]) for each in places] == [
        (0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 3), (2, 2, 4)
    ]  # fmt: skip
    assert places[0]["P"] == 2
    with pytest.raises(CommunicationError, match="the grid 'g' has 3 x 2 ranks, and there are 4"):
        symbols_of_ranks(sdfg, 4, {"P": 3})


def wrong(body, message, ranks=2, **rest):
    rest = {"x": lambda r: [r, r], "y": lambda r: [0, 0], "strict": (True,), **rest}
    with pytest.raises(CommunicationError) as caught:
        run(body, ranks, **rest)
    assert message in str(caught.value)
    return str(caught.value)


SEND, RECV = "comm.send (x <- x[0:n]) -> () {to = 1 - g_c0}", "comm.recv () -> (out -> y[0:n]) {source = 1 - g_c0}"


def test_deadlock_is_reported_with_who_waits_for_what():
    text = wrong(f"{SEND} {RECV}", "deadlock: no rank can go on")
    assert "rank 0 waits for the receive of rank 0: comm.send" in text
    assert "rank 1 waits for the receive of rank 1: comm.send" in text
    assert run(f"{SEND} {RECV}", 2, strict=(False,), x=lambda r: [r], y=lambda r: [0]) == [[1], [0]]  # as small ones do
    assert "rank 0 waits for a message to rank 0: comm.recv" in wrong(RECV, "deadlock")


def test_a_rank_that_ends_is_missed():
    body = f"if g_c0 == 0 {{ {collective('allreduce')} }}"
    text = wrong(body, "deadlock")
    assert "rank 0 waits for rank 1 at comm.allreduce" in text
    assert "rank 1 has ended" in text


def test_collectives_in_another_order():
    one, two = collective("bcast"), collective("allreduce")
    text = wrong(f"if g_c0 == 0 {{ {one} {two} }} else {{ {two} {one} }}", "is at a comm.")
    assert "rank 0: comm.bcast" in text
    assert "rank 1: comm.allreduce" in text


UNKNOWN = "data q: i64[1] transient tasklet () -> (o -> q[0]) { o = 7 } comm.wait (requests <- q[0:1])"


@pytest.mark.parametrize(
    ("body", "rest", "message"),
    [
        (collective("bcast"), {"x": lambda r: [0] * (4 + 4 * r)}, "the shape of 'x' is"),
        (collective("bcast", "root = g_c0"), {}, "the root is"),
        (collective("bcast", "root = 2"), {}, "the root of a comm.bcast is rank 2 of 2"),
        (collective("scatter"), {}, "moves 2 rows, and the ranks have 2 + 2"),
        (collective("alltoall"), {"x": lambda r: [0] * 3}, "3 rows of a comm.alltoall are not in 2 equal pieces"),
        (f"if g_c0 == 0 {{ {SEND} }} else {{ {RECV} }}", {"x": lambda r: [0] * (3 - r)}, "rank 0 sends float64[3]"),
        (SEND.replace("1 - g_c0", "5"), {}, "a comm.send is with rank 5 of 2"),
        (UNKNOWN, {}, "waits for a request that is not under way"),
    ],
)
def test_what_does_not_fit(body, rest, message):
    wrong(body, message, **rest)


def test_operations_that_differ():
    one, two = collective("allreduce"), collective("allreduce", 'op = "max"')
    wrong(f"if g_c0 == 0 {{ {one} }} else {{ {two} }}", "the operation is")


START = """data r: i64[1] transient
  if g_c0 == 0 {{ comm.isend (x <- x[0:n]) -> (request -> r[0]) {{to = 1}}
    {between} comm.wait (requests <- r[0:1], b0 <- x[0:n]) }}
  else {{ comm.irecv () -> (out -> y[0:n], request -> r[0]) {{source = 0}}
    {meanwhile} comm.wait (requests <- r[0:1], b0 <- y[0:n]) -> (b0 -> y[0:n]) }}"""


def test_memory_is_left_alone_while_it_is_sent():
    write = "tasklet () -> (o -> {}[1]) {{ o = 5.0 }}"
    wrong(START.format(between=write.format("x"), meanwhile=""), "what was sent was changed before the wait")
    wrong(START.format(between="", meanwhile=write.format("y")), "memory was written while it was received into")
    read = "tasklet (v <- y[1]) -> (o -> x[0]) { o = v }"
    sdfg = START.format(between="", meanwhile=read)
    assert run(sdfg, 2, x=lambda r: [r, 3], y=lambda r: [8, 8], strict=(True,)) == [[8, 8], [0, 3]]


def test_what_nobody_receives():
    body = "if g_c0 == 0 { comm.send (x <- x[0:n]) -> () {to = 1} }"
    wrong(body, "a message of rank 0 was not received", strict=(False,))


def test_an_exception_of_the_program_says_on_which_rank():
    body = f'check g_c0 != 1 else ValueError "too much" {collective("allreduce")}'
    with pytest.raises(ValueError, match="too much") as caught:
        run(body, 3, x=lambda r: [r], y=lambda r: [0], strict=(False,))
    assert "on rank 1" in caught.value.__notes__


def test_a_rank_alone_has_nobody_to_talk_to():
    sdfg = dcpy.parse(f"sdfg @f(x: f64[n], y: f64[m]) {{ {collective('allreduce')} }}")
    with pytest.raises(dcpy.InterpreterError, match=r"a comm\.allreduce needs the other ranks"):
        sdfg.interpret(np.zeros(2), np.zeros(2))


def test_a_run_can_be_repeated():
    body = """loop t = 0:4 {
      comm.sendrecv (x <- x[0:n]) -> (out -> y[0:n]) {to = (g_c0 + 1) % P, source = (g_c0 + P - 1) % P}
      copy y[0:n] -> x[0:n] }"""
    assert run(body, 3, x=lambda r: [r], y=lambda r: [0]) == [[(r - 4) % 3] for r in range(3)]
