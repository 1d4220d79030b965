"""The cycle model: integers of LIR, loops, and networks that are written by hand."""

from __future__ import annotations

import pytest

from dcpy.base.options import resolve_options
from dcpy.codegen.cycles.numbers import value_of
from dcpy.codegen.fpga import predicted
from dcpy.codegen.lir.expr import Infix, Literal, Name, Operation
from dcpy.codegen.lir.types import INDEX, TRUTH
from dcpy.ir.text import parse_sdfg
from dcpy.ir.types import int64

A, B = Name("a", INDEX), Name("b", INDEX)


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (Infix("-", A, B, INDEX), -10),
        (Infix("/", Literal(-7, INDEX), Literal(2, INDEX), INDEX), -3),
        (Infix("%", Literal(-7, INDEX), Literal(2, INDEX), INDEX), -1),
        (Operation("floordiv", (Literal(-7, INDEX), Literal(2, INDEX)), int64, int64), -4),
        (Operation("min", (A, B), int64, int64), 3),
        (Infix("<", A, B, TRUTH), 1),
        (Infix("/", A, Literal(0, INDEX), INDEX), None),
        (Name("c", INDEX), None),
        (Infix("&", A, B, INDEX), None),
    ],
)
def test_integers(expr, value):
    assert value_of(expr, {"a": 3, "b": 13}) == value


def time_of(text, **sizes):
    sdfg = parse_sdfg(f"sdfg @f({text}")
    return predicted(sdfg, sizes, options=resolve_options({"device": "fpga"}))


NETWORK = """x: f32[N], y: f32[N]) symbols(N: size) {
    stream s: f32 capacity 2 transient
    dataflow {
      process give { loop i = 0:N @pipelined{ii = 1, style = stp} { copy x[i] -> s } }
      process take { loop j = 0:N @pipelined{ii = 3, style = stp} { copy s -> y[j] } }
    }
  }"""


def test_the_slowest_process_is_what_a_network_takes():
    (kernel,) = time_of(NETWORK, N=50).kernels.values()
    give, take = kernel.longest.processes
    assert (give.course.cycles, take.course.cycles) == (49 + 20 + 1, 3 * 49 + 1 + 1)
    assert (take.starts, kernel.cycles) == (21, 21 + take.course.cycles)
    assert (give.course.read, take.course.written) == (200, 200)


def test_no_iterations_take_no_cycles():
    assert time_of(NETWORK, N=0).cycles == 0


def test_sizes_that_are_not_known():
    found = time_of(NETWORK)
    assert found.cycles is None
    assert "the bounds of i depend on data, or on sizes" in found.kernels["f_kernel"].unknown


def test_the_host_starts_kernels_in_loops():
    inside = NETWORK.partition("transient")[2].rpartition("}")[0]
    declared = "x: f32[N], y: f32[N]) symbols(N: size, T: i64) { stream s: f32 capacity 2 transient"
    text = f"{declared} loop t = 0:T {{ {inside} }} }}"
    once = time_of(NETWORK, N=50).cycles
    found = time_of(text, N=50, T=7)
    assert (found.cycles, found.kernels["f_kernel"].runs) == (7 * once, 7)
    assert "how often the host's loop t runs depends on data" in time_of(text, N=50).unknown
