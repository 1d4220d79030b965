"""Collectives and messages under MPI, with operands of any stride: what virtual ranks say is what is there.

One program has all of them: it is compiled once.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from dcpy import driver, plugins
from dcpy.base.options import resolve_options
from dcpy.codegen.signature import default_signature
from dcpy.distributed import world
from dcpy.ir.interp.virtual_ranks import run_ranks, symbols_of_ranks
from dcpy.ir.text import parse_sdfg
from dcpy.programs.ranks.compilation import expand_messages
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.distributed.shared_compilation import load_everywhere

pytestmark = pytest.mark.mpi
BODY = """
  data q: i64[2] transient
  comm.barrier () -> ()
  comm.bcast (x <- a[0:4, 1:6:2]) -> (out -> o0[0:4, 0:3]) {root = P - 1}
  comm.reduce (x <- a[0:4, 0:6]) -> (out -> o1[0:4, 0:6]) {op = "max"}
  comm.allreduce (x <- a[0:4, 1]) -> (out -> o2[0:4, 2])
  comm.allreduce (x <- a[1:3, 0:6:5]) -> (out -> o2[0:2, 0:2]) {op = "mul"}
  comm.allreduce (x <- o3[0:4, 0:3]) -> (out -> o3[0:4, 0:3]) {op = "min"}
  comm.scan (x <- a[0:4, 2]) -> (out -> o4[0:4, 0])
  comm.exscan (x <- a[0:4, 3]) -> (out -> o4[0:4, 1])
  comm.scatter (x <- rows[0:m, 0:2]) -> (out -> s[0:n, 0:2])
  comm.gather (x <- mine[0:n, 1:3]) -> (out -> g0[0:m, 0:2]) {root = P - 1}
  comm.allgather (x <- mine[0:n, 0:3:2]) -> (out -> g1[0:m, 0:2])
  comm.alltoall (x <- t[0:2 * P, 0:2]) -> (out -> t[0:2 * P, 0:2])
  comm.reduce_scatter (x <- rows[0:m, 1]) -> (out -> s[0:n, 2])
  comm.allreduce (x <- k[0:3]) -> (out -> k[0:3]) {op = "bitor"}
  comm.allreduce (x <- a[0:4, 0]) -> (out -> h0[0:4]) {grid = "h", along = (1,)}
  comm.bcast (x <- a[0, 0:6]) -> (out -> h1[0:6]) {grid = "h", along = (0,), root = 0}
  comm.sendrecv (x <- a[0:4, 5]) -> (out -> r0[0:4, 1]) {to = (g_c0 + 1) % P, source = (g_c0 + P - 1) % P}
  comm.recv () -> (out -> r1[0:2, 0:6:2]) {source = g_c0 - 1, tag = 4}
  comm.send (x <- a[2:4, 1:6:2]) -> () {to = (g_c0 + 2) % (P + 1) - 1, tag = 4}
  comm.irecv () -> (out -> r2[0:4], request -> q[1]) {source = (g_c0 + 1) % P, tag = 3}
  comm.isend (x <- a[0:4, 4]) -> (request -> q[0]) {to = (g_c0 + P - 1) % P, tag = 3}
  comm.wait (requests <- q[0:2], b0 <- a[0:4, 4], b1 <- r2[0:4]) -> (b1 -> r2[0:4])
"""
HEAD = """sdfg @f(a: f64[4, 6], o0: f64[4, 3], o1: f64[4, 6], o2: f64[4, 3], o3: f64[4, 3], o4: f64[4, 2],
  rows: f64[m, 2], s: f64[n, 3], mine: f64[n, 3], g0: f64[m, 2], g1: f64[m, 2], t: f64[2 * P, 2],
  k: i64[3], h0: f64[4], h1: f64[6], r0: f64[4, 2], r1: f64[2, 6], r2: f64[4])
  symbols(n: size, m: size, P: size, Px: size, Py: size, g_c0: i64, h_c0: i64, h_c1: i64) grids(g[P], h[Px, Py])"""


def program():
    plugins.load()
    return parse_sdfg(f"{HEAD} {{ {BODY} }}")


@cache
def compiled():
    options = resolve_options({})

    def compiles():
        local = program()
        expand_messages(local, alone=False)
        return driver.compile_sdfg(local, default_signature(local), options)

    loaded = load_everywhere(world(), options, compiles)
    loaded.library.dcpy_ranks_attach(world().handle)
    return compiled_function(loaded)


def drawn(rank, ranks):
    """Arguments of one rank; pieces have as many rows as its number says."""
    draw, m = np.random.default_rng(rank), sum(range(1, ranks + 1))
    shapes = {
        "a": (4, 6), "o0": (4, 3), "o1": (4, 6), "o2": (4, 3), "o3": (4, 3), "o4": (4, 2), "rows": (m, 2),
        "s": (rank + 1, 3), "mine": (rank + 1, 3), "g0": (m, 2), "g1": (m, 2), "t": (2 * ranks, 2), "k": (3,),
        "h0": (4,), "h1": (6,), "r0": (4, 2), "r1": (2, 6), "r2": (4,),
    }  # fmt: skip
    found = {name: draw.integers(1, 9, shape).astype(float) for name, shape in shapes.items()}
    return found | {"k": draw.integers(0, 64, 3)}


def test_all_of_them():
    ranks, me = world().size, world().rank
    grid = {"P": ranks, "Px": ranks // 2 or 1, "Py": min(ranks, 2), "m": sum(range(1, ranks + 1))}
    expected = [drawn(rank, ranks) for rank in range(ranks)]
    run_ranks(program(), expected, grid)
    mine = drawn(me, ranks)
    symbols = symbols_of_ranks(program(), ranks, grid)[me] | {"n": me + 1}
    compiled()(**mine, **{name: symbols[name] for name in program().symbols})
    for name, values in mine.items():
        np.testing.assert_array_equal(values, expected[me][name], err_msg=name)
