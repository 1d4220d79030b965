"""overlap-exchange: inner iterations between the start and the end of an exchange; the same results; refusals."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from dcpy.ir.communication import CommNode
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter, rewriting
from dcpy.ir.nodes import Map
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.distributed.halos.overlap_exchange import OverlapExchange
from dcpy.transforms.distributed.pipeline import OVERLAP
from dcpy.transforms.pass_manager import run_pipeline
from tests.support.ranks import check, distributed, localized
from tests.transforms.distributed.test_stencils import GRIDS, KERNELS, typed_program

LOCAL = """
sdfg @f(A: f64[n + 3], B: f64[n + 3], C: f64[n]) symbols(n: size, N: size, P: size{least = 1}, g_c0: i64) grids(g[P]) {
  comm.exchange (x0 <- A[0:n + 3]) -> (out0 -> A[0:n + 3]) {sections = ([N] at [0:N] on g(block 0 by 4) halo (2:1),)}
  BODY
}"""
SMOOTH = "map i = 2:n + 2 { tasklet (l <- A[i - 2], r <- A[i + 1]) -> (o -> B[i]) { o = l + r } }"


def overlapped(body):
    """The program behind the pass, and what it said."""
    sdfg = parse_sdfg(LOCAL.replace("BODY", body))
    with rewriting(sdfg, "overlap-exchange", check=True) as rw:
        rw.remarks = []
        OverlapExchange().decide(rw)
    (said,) = rw.remarks
    return sdfg, said


def test_inner_iterations_run_while_halos_are_under_way():
    sdfg, _ = overlapped(SMOOTH)
    told = [
        line.strip().removesuffix(" {") if "map" in line else line.split("(")[0].strip()
        for line in print_sdfg(sdfg).splitlines()
        if "map" in line or "comm" in line
    ]
    assert told == [
        "comm.begin_exchange", "map i = 4:n + 1", "comm.end_exchange",
        "map i_1 = 2:min(4, n + 2)", "map i_2 = max(4, n + 1):n + 2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("copy A[0:n] -> C[0:n]", "no map is behind it"),
        ("loop t = 0:3 { " + SMOOTH + " }", "no map is behind it"),
        ("map i = 2:n { tasklet (l <- A[i - 2]) -> (o -> A[i]) { o = l } }", "the map writes 'A'"),
        ("map i = 0:n { tasklet (l <- A[0]) -> (o -> C[i]) { o = l } }", "is not known to stay away"),
        ("map i = 0:n:2 { tasklet (l <- A[i]) -> (o -> C[i]) { o = l } }", "is not known to stay away"),
        ("map i = 0:n { tasklet (l <- A[n - i]) -> (o -> C[i]) { o = l } }", "is not known to stay away"),
        ("map i = 0:n { loop k = 0:2 { tasklet (l <- A[i + k]) -> (o -> C[i]) { o = l } } }", "is not known to stay"),
        ("map i = 0:n { tasklet (l <- B[i]) -> (o -> C[i]) { o = l } }", "the map reads nothing that arrives"),
    ],
)
def test_what_has_to_wait(body, reason):
    sdfg, said = overlapped(body)
    assert not said.applied
    assert reason in said.reason
    assert "comm.begin_exchange" not in print_sdfg(sdfg)


@functools.cache
def made(name, steps):
    """The kernel, its distributed form, and its local form, without and with overlap."""
    sdfg = typed_program(name)
    whole = distributed(sdfg, KERNELS[name][2], {"g": ("Px", "Py")}, steps)
    plain = localized(whole)
    local = copy_sdfg(plain)
    run_pipeline(local, OVERLAP, check=True)
    return sdfg, whole, plain, local


@pytest.mark.parametrize(("name", "steps"), [("jacobi_1d", -1), ("jacobi_2d", -1), ("jacobi_2d", 2), ("heat_3d", -1)])
def test_stencils_equal_one_rank(name, steps):
    """Where what has not arrived were read, it would have the values of the step before."""
    sdfg, whole, plain, local = made(name, steps)
    kinds = [node.kind for node in local.body.walk_nodes() if isinstance(node, CommNode)]
    assert kinds.count("comm.begin_exchange") == kinds.count("comm.end_exchange") >= 2
    assert "comm.exchange" not in kinds
    assert sum(isinstance(node, Map) for node in local.body.walk_nodes()) > 2 * kinds.count("comm.end_exchange")
    for grid in GRIDS if name != "heat_3d" else GRIDS[3:5]:
        for n in (3, 4, 9) if name != "heat_3d" else (6,):
            draw = np.random.default_rng(n)
            shape = (n,) * len(sdfg.desc("A").shape)
            arguments = {each: draw.uniform(size=shape) for each in "AB"} | {"TSTEPS": 4}
            symbols = {"N": n, "Px": grid[0], "Py": grid[1]}
            before, traffic = (
                check(sdfg, whole, arguments, symbols, grid[0] * grid[1], local=form, constant=True)
                for form in (plain, local)
            )
            assert (traffic.messages, traffic.bytes) == (before.messages, before.bytes)


def test_regions_without_blocks_have_nothing_to_overlap():
    sdfg = parse_sdfg("sdfg @f(x: f64[N]) symbols(N: size) { if N > 3 { } }")
    rw = Rewriter(sdfg, "overlap-exchange")
    OverlapExchange().run(rw)
    assert not rw.changed
