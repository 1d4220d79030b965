"""Effects that are declared: what no pass may drop, repeat or reorder, whatever it reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from dcpy import plugins
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dependence.loop_dependences import nodes_depend
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.effects import Effect, keep_order
from dcpy.ir.interp import interpret
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.nodes import Callback, ForeignCall, LibraryNode, Map
from dcpy.ir.region import Dataflow
from dcpy.ir.schedules import SEQUENTIAL
from dcpy.ir.symbolic import Ranges
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.libraries import api
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.auto.pipeline import auto_optimize
from dcpy.transforms.cpu.lowering import lower_for_cpu
from dcpy.transforms.expand import expand_library_nodes
from dcpy.transforms.fusion.map_fusion import MapFusion
from dcpy.transforms.loops.loop_to_map import LoopToMap
from dcpy.transforms.simplify.dataflow.check_motion import CheckMotion
from dcpy.transforms.simplify.dataflow.dead_dataflow_elimination import DeadDataflowElimination
from dcpy.transforms.simplify.pipeline import simplify
from tests.support.expect import expect, parse

sent: list[float] = []


@dataclass(eq=False)
class Send(LibraryNode):
    """Sends a number and writes nothing."""

    kind = "test.send"
    effects = Effect.ORDERED
    sends: ClassVar[list[float]] = sent

    def meaning(self, inputs, outputs):
        self.sends.append(float(inputs["x"]))


@dataclass(eq=False)
class Pure(LibraryNode):
    """Computes a number that nobody needs."""

    kind = "test.pure"

    def meaning(self, inputs, outputs):
        outputs["y"][...] = inputs["x"]


@pytest.fixture(autouse=True, scope="module")
def library():
    @api.expands(Send, "c", environment="test.wire")
    def send_in_c(node, f):
        f.add(ForeignCall("test_send", ("x",), {"x": f.input("x").memlet}, {}, "test.wire"))

    plugins.load()
    code = "static double last; static void test_send(double *x) { last = *x; }"
    wire = api.Environment("test.wire", declarations=code)
    for kind in (Send, Pure):
        if kind.kind not in LIBRARY_KINDS:
            api.register(nodes=[kind])
    api.register(expansions=[send_in_c], libraries=[api.ForeignLibrary("test.wire", lambda: wire)])


def program(body, data="", signature="A: f64[N], B: f64[N]"):
    return parse(f"sdfg @f({signature}) symbols(N: size) {{ {data} {body} }}")


def sends_of(sdfg, n=4):
    sent.clear()
    interpret(sdfg, {"A": np.arange(float(n)), "B": np.zeros(n)}, {"N": n})
    return list(sent)


TWO = """state { test.send (x <- A[0]) -> () }
         state { map i = 0:N { tasklet (a <- A[i]) -> (o -> B[i]) { o = a } }
                 test.send (x <- A[1]) -> () test.send (x <- B[2]) -> () }"""


def test_s5_a_node_that_writes_nothing_is_kept_in_its_order():
    """S5: `simplify` deleted a library node that sends, because it writes nothing."""
    for run in (simplify, auto_optimize):
        sdfg = program(TWO)
        run(sdfg, check=True)
        assert [node.kind for node in sdfg.body.walk_nodes()].count("test.send") == 3
        assert sends_of(sdfg) == sends_of(program(TWO)) == [0.0, 1.0, 2.0]


def test_s5_who_declares_nothing_is_dropped():
    sdfg = program("state { test.pure (x <- A[0]) -> (y -> t) }", "data t: f64 transient")
    assert simplify(sdfg, check=True).counts()["dead-dataflow-elimination"] == 1
    assert list(sdfg.body.walk_nodes()) == []


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ("test.send (x <- A[0]) -> ()", "the test.send has an effect that is seen outside"),
        ("foreign (x <- A[0]) -> (y -> t) from c { g(&x, &y) }", "the C function g runs code that may do more"),
        ('callback (x <- A[0]) -> (y -> t) {function = "m:g", call = "x", returns = "y"}', "the Python function m:g"),
        ("call @send (A = A[0:N]) with (N = N)", "send has an effect that is seen outside"),
        ("map i = 0:N { test.send (x <- A[i]) -> () }", "map i has an effect that is seen outside"),
        ("map i = 0:N { while A[i] > 0.0 { } }", "map i may never end"),
        ('map i = 0:N { check A[i] > 0.0 else ValueError "x" }', "map i may raise an exception"),
    ],
)
def test_s5_effects_keep_nodes_whose_results_nobody_reads(node, reason):
    text = f"""sdfg @f(A: f64[N]) symbols(N: size) {{ data t: f64 transient state {{ {node} }} }}
               sdfg @send(A: f64[N]) symbols(N: size) {{ state {{ test.send (x <- A[0]) -> () }} }}"""
    text = text if "@send (" in text else text[: text.index("sdfg @send")]
    expect(DeadDataflowElimination(), on=parse(text)).is_refused(reason)


def test_s5_loops_that_send_stay_loops():
    loop = program("loop i = 0:N { state { test.send (x <- A[i]) -> () } }")
    expect(LoopToMap(), on=loop).is_refused("the test.send inside has an effect that is seen outside, in the order")
    optimized = copy_sdfg(loop)
    auto_optimize(optimized, check=True)
    assert sends_of(optimized) == [0.0, 1.0, 2.0, 3.0]
    foreign = program("loop i = 0:N { state { foreign (x <- A[i]) -> () from c ordered { g(&x) } } }")
    expect(LoopToMap(), on=foreign).is_refused("the foreign inside has an effect")
    assert parse_sdfg(print_sdfg(foreign)).body.blocks[0].body.blocks[0].nodes[0].ordered


def test_s5_checks_do_not_pass_what_is_seen():
    body = 'state { test.send (x <- A[0]) -> () } check N > 1 else ValueError "small"'
    expect(CheckMotion(), on=program(body)).is_refused("no check can go further up")
    with pytest.raises(ValueError, match="small"):
        sends_of(program(body), n=1)
    assert sent == [0.0]


BETWEEN = """state { map i = 0:N { tasklet (a <- A[i]) -> (o -> tmp[i]) { o = a + 1 } %s }
                     %s
                     map j = 0:N { tasklet (a <- tmp[j]) -> (o -> B[j]) { o = a * 2 } %s } }"""


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("test.send (x <- A[i]) -> ()", "test.send (x <- A[j]) -> ()", "the order would change"),
        ('check A[i] >= 0.0 else ValueError "n"', "test.send (x <- A[j]) -> ()", "the order would change"),
        ('check A[i] >= 0.0 else ValueError "n"', "", "which the caller would see"),
    ],
)
def test_s5_maps_are_not_fused_across_effects(first, second, reason):
    sdfg = program(BETWEEN % (first, "", second), "data tmp: f64[N] transient")
    expect(MapFusion(), on=sdfg).is_refused(reason)


def test_s5_what_sends_between_two_maps_stays_behind_the_one_that_sends():
    sends = ("test.send (x <- A[i]) -> ()", "test.send (x <- tmp[0]) -> ()", "")
    sdfg = program(BETWEEN % sends, "data tmp: f64[N] transient")
    assert apply_repeated(sdfg, MapFusion(keep_intermediate=True), check=True) == 1
    assert sends_of(sdfg)[-1] == 1.0


@pytest.mark.parametrize("between", ["test.send (x <- A[0]) -> ()", "map k = 0:1 { test.send (x <- A[k]) -> () }"])
def test_s5_what_shares_no_memory_stays_behind_a_map_that_sends(between):
    sdfg = program(BETWEEN % ("test.send (x <- A[i]) -> ()", between, ""), "data tmp: f64[N] transient")
    assert apply_repeated(sdfg, MapFusion(), check=True) == 1
    assert sends_of(sdfg) == [0.0, 1.0, 2.0, 3.0, 0.0]


def test_s5_dependence_test_asks_for_effects():
    sdfg = program("""state { test.send (x <- A[0]) -> () test.send (x <- A[1]) -> ()
                              tasklet () -> (o -> B[0]) { o = 1.0 }
                              callback () -> () {function = "m:g"} }""")
    uses, (one, two, tasklet, callback) = Uses(sdfg), sdfg.body.walk_nodes()
    assert "has an effect that is seen outside" in nodes_depend(one, two, uses, Ranges()).reason
    assert nodes_depend(one, tasklet, uses, Ranges()).is_no
    assert "the caller would see what is in 'B'" in nodes_depend(tasklet, callback, uses, Ranges()).reason


def test_s5_what_stands_for_a_node_has_its_effect():
    sdfg = program("state { test.send (x <- A[0]) -> () }")
    expand_library_nodes(sdfg)
    (call,) = sdfg.body.walk_nodes()
    assert isinstance(call, ForeignCall)
    assert call.ordered
    assert "from test.wire ordered {" in print_sdfg(sdfg)


def test_s5_maps_that_send_run_alone():
    sdfg = program("state { map i = 0:N { test.send (x <- A[i]) -> () } }", signature="A: f64[N]")
    expand_library_nodes(sdfg)
    lower_for_cpu(sdfg)
    (node,) = (node for node in sdfg.body.walk_nodes() if isinstance(node, Map))
    assert node.schedule == SEQUENTIAL


def test_effects_are_those_of_all_parts():
    everything = Effect.MAY_RAISE | Effect.MAY_NOT_END | Effect.ORDERED | Effect.CALLS_OUT
    assert Callback.effects == everything
    assert Dataflow.effects == Effect.MAY_RAISE
    text = """sdfg @f(A: f64[N]) symbols(N: size) { loop i = 0:N { call @g (A = A[0:N]) with (N = N) } }
              sdfg @g(A: f64[N]) symbols(N: size) { call @h () check A[0] > 0.0 else ValueError "x" }
              sdfg @h() { while 1 > 0 { } foreign () -> () from c { g() } }"""
    assert effects_of(parse(text)) == Effect.MAY_RAISE | Effect.MAY_NOT_END | Effect.CALLS_OUT
    assert effects_of(program(TWO)) == Effect.ORDERED
    assert effects_of(program("state { copy A[0:N] -> B[0:N] }")) == Effect.NOTHING


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        (Effect.NOTHING, Effect.ORDERED, False),
        (Effect.ORDERED, Effect.ORDERED, True),
        (Effect.ORDERED, Effect.MAY_RAISE, True),
        (Effect.ORDERED, Effect.MAY_NOT_END, True),
        (Effect.MAY_RAISE, Effect.MAY_RAISE, True),
        (Effect.MAY_RAISE, Effect.MAY_NOT_END, True),
        (Effect.MAY_NOT_END, Effect.MAY_NOT_END, False),
        (Effect.CALLS_OUT, Effect.CALLS_OUT, False),
    ],
)
def test_effects_that_keep_their_order(one, other, kept):
    assert keep_order(one, other) is kept
    assert keep_order(other, one) is kept
