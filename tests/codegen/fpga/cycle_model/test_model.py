"""The cycle model: integers of LIR, loops, and networks that are written by hand."""

from __future__ import annotations

import pytest

from dcpy.base.options import resolve_options
from dcpy.codegen.fpga.cycle_model.guarded_iterations import when
from dcpy.codegen.fpga.cycle_model.integer_evaluation import value_of
from dcpy.codegen.fpga.cycle_model.resources import Memory
from dcpy.codegen.fpga.program import predicted
from dcpy.codegen.lir.expr import Infix, Literal, Name, Operation
from dcpy.codegen.lir.types import INDEX, TRUTH
from dcpy.ir.fpga.boards import board
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


GUARDED = """x: f32[64], y: f32[8]) {
    stream s: f32 capacity 2 transient
    dataflow {
      process give {
        loop i = 0:8 { loop j = 0:8 @pipelined{ii = 1, style = stp} { if j == 7 { copy x[8*i + j] -> s } } }
      }
      process take { loop k = 0:8 @pipelined{ii = 1, style = stp} { copy s -> y[k] } }
    }
  }"""


def test_what_only_some_iterations_do():
    """A token each 8 cycles, from the 8th one on; and no other is read."""
    (kernel,) = time_of(GUARDED).kernels.values()
    give, take = kernel.longest.processes
    (pushed,) = give.course.pushes.values()
    assert (pushed.tokens, pushed.first, pushed.last) == (8, 7 + give.pipelines[0].depth, 63 + give.pipelines[0].depth)
    assert give.course.read == 8 * 4
    assert take.starts == pushed.first + 1


def test_conditions_on_variables_are_bursts():
    rows, columns = Name("i", INDEX), Name("j", INDEX)
    axes = (("i", range(4)), ("j", range(8)))
    late = (Infix(">=", columns, Literal(6, INDEX), TRUTH), True)
    last = (Infix("==", rows, Literal(3, INDEX), TRUTH), True)
    found = when((late,), axes, {})
    assert (found.tokens, found.points[:4]) == (8, ((0, 6), (1, 7), (2, 14), (3, 15)))
    assert when((last,), axes, {}).points == ((0, 24), (7, 31))
    assert when((last, (last[0], False)), axes, {}) is None
    assert when(((Name("data", TRUTH), True),), axes, {}).tokens == 32, "as if it held always"


def test_memories_are_blocks_and_shallow_queues_are_tables():
    chosen = board("u250")
    assert (Memory(1, 1024, 4).rams(chosen), Memory(1, 1153, 4).rams(chosen)) == (1, 2)
    assert Memory(4, 256, 8).rams(chosen) == 4, "each piece has ports of its own"
    assert (Memory(3, 32, 4, is_queue=True).rams(chosen), Memory(3, 32, 4, is_queue=True).luts(chosen)) == (0, 96)
    assert (Memory(3, 512, 4, is_queue=True).rams(chosen), Memory(3, 512, 4, is_queue=True).luts(chosen)) == (3, 0)


def test_what_a_process_declares():
    text = """x: f32[64], y: f32[64]) {
        stream s: f32 capacity 64 transient
        dataflow {
          process give { loop i = 0:64 @pipelined{ii = 1, style = stp} { copy x[i] -> s } }
          process take {
            data kept: f32[64] transient @local @bram partition cyclic 0 by 2
            loop j = 0:64 @pipelined{ii = 1, style = frp} { copy s -> kept[j] }
            loop k = 0:64 @pipelined{ii = 1, style = stp} {
              tasklet (v <- kept[k]) -> (o -> y[k]) { o = v * f32(3.0) + f32(1.0) }
            }
          }
        }
      }"""
    (kernel,) = time_of(text).kernels.values()
    _, take = kernel.longest.processes
    assert take.memories == (Memory(2, 32, 4),)
    assert kernel.longest.queues == (Memory(1, 64, 4, is_queue=True),)
    assert {name for name, dtype in take.operators if dtype.kind == "f"} == {"mul", "add"}
