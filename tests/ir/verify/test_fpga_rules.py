"""One program per rule of the form ``fpga`` that is no hardware, what is said about it, and programs that are."""

from __future__ import annotations

import pytest

from dcpy import plugins
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.expressions.scalar import Const
from dcpy.ir.region import Dataflow, Process, Region, Resize
from dcpy.ir.symbolic import ONE, sym
from dcpy.ir.text import parse_sdfg
from dcpy.ir.verify import FPGA_FORM, problems, subjects
from dcpy.ir.verify.rules import fpga
from tests.ir.verify.broken_texts import ARGS, CALLEE

plugins.load()

S = "stream s: f64 capacity 2 transient"
GIVE = "process give { loop i = 0:N { copy x[i] -> s } }"


def local(declaration: str, body: str = "") -> str:
    return f"dataflow {{ process a {{ {declaration} {body} }} }}"


def ports(schedule: str, declaration: str = "data b: f64[8] transient @local @bram") -> str:
    body = f"loop i = 0:8 {schedule} {{ copy b[i] -> b[7 - i] loop j = 0:2 @unrolled {{ copy b[j] -> y[j] }} }}"
    return local(declaration, body)


TEXTS = [
    ("copy.tokens", "stream s: f64 token (4) transient tasklet () -> (o -> s) { o = 1.0 }", "takes tokens of [4]"),
    ("copy.shapes", "stream s: f64 token (4) transient copy x[0:N] -> s", "not made of tokens of [4]"),
    ("copy.shapes", "stream s: f64 token (4) transient copy s -> y[0:3]", "y[0:3] is [3], which is not made of tokens"),
    (
        "copy.shapes",
        "stream s: f64 token (4) transient stream t: f64 transient copy s -> t",
        "s has tokens of [4], t of []",
    ),
    (
        "fpga.tokens",
        f"{S} dataflow {{ {GIVE} process take {{ loop i = 0:N - 1 {{ copy s -> y[i] }} }} }}",
        "N tokens are pushed to 's', and max(0, N - 1) are popped",
    ),
    ("fpga.tokens", f"{S} dataflow {{ {GIVE} }}", "no process pops from the queue 's'"),
    (
        "fpga.tokens",
        f"{S} dataflow {{ {GIVE} process also {{ copy x[0] -> s }} "
        "process take { loop i = 0:N + 1 { copy s -> y[0] } } }",
        "'give' and 'also' push to the queue 's'",
    ),
    (
        "fpga.tokens",
        f"{S} dataflow {{ {GIVE} process take {{ loop i = 0:N {{ if k[i] > 0 {{ copy s -> y[i] }} }} }} }}",
        "'take' pops from s, which depends on a condition",
    ),
    (
        "fpga.tokens",
        f"{S} dataflow {{ {GIVE} process take {{ loop i = 0:N {{ loop j = 0:i {{ copy s -> y[j] }} }} }} }}",
        "the ranges are no numbers",
    ),
    (
        "fpga.tokens",
        "stream s: f64[4] capacity 2 transient dataflow { process give { loop i = 0:N { copy x[0] -> s[i % 4] } } "
        "process take p = 0:4 { copy s[p] -> y[p] } }",
        "the queue is unknown",
    ),
    (
        "fpga.tokens",
        "stream s: f64[5] capacity 2 transient dataflow { process give { copy x[0] -> s[0] } "
        "process pe p = 0:4 { data v: f64 transient copy s[p] -> v copy v -> s[p + 1] } }",
        "no process pops from the queue 's[4]'",
    ),
    (
        "fpga.memory",
        "dataflow { process a { copy x[0] -> y[0] } process b { copy y[1] -> k[1] } }",
        "the process 'a' writes the array 'y', which 'b' touches, too",
    ),
    ("fpga.sizes", local("data b: f64[N] transient @local @bram"), "'b' is on the chip, and has the size N"),
    ("fpga.sizes", "stream s: f64[N] capacity 2 transient", "'s' is on the chip, and has the size N"),
    ("fpga.sizes", "stream s: f64 token (0) capacity 2 transient", "the tokens of 's' are [0], which is empty"),
    ("fpga.copies", "dataflow { process a p = 0:N { } }", "the process 'a' has a copy for each p in 0:N"),
    ("fpga.copies", "dataflow { process a endless { } }", "the process 'a' may wait for ever"),
    ("fpga.storage", local("data b: f64[4] transient @global @heap"), "'b' is declared in a process, but is not on"),
    ("fpga.storage", local("data b: f64[4] transient @local @heap"), "is on the chip, and has the storage 'heap'"),
    ("fpga.dtypes", "data c: c64[4] transient", "'c' is c64"),
    ("fpga.dtypes", "data c: f16[4] transient", "'c' is f16"),
    (
        "fpga.nodes",
        "dataflow { process a { foreign () -> (o -> y[0]) from c { o = run() } } }",
        "a process calls the C function run",
    ),
    ("fpga.nodes", 'dataflow { process a { callback () -> (r -> y[0:N]) {function = "m:f", returns = "r"} } }', "m:f"),
    (
        "codegen.libraries",
        "dataflow { process a { blas.dot (x <- x[0:N], y <- x[0:N]) -> (result -> y[0]) } }",
        "blas.dot is not expanded",
    ),
    ("fpga.nodes", "dataflow { process a { call @g (p = x[0:N], s = a) with (K = N) } }", "a process makes a call @g"),
    (
        "fpga.nodes",
        "dataflow { process a { state { map i = 0:N @parallel { copy x[i] -> y[i] } } } }",
        "map i has the schedule @parallel",
    ),
    ("fpga.loops", "dataflow { process a { while k[0] > 0 { } } }", "ends when data say so"),
    ("fpga.capacities", "stream s: f64 transient", "the queue 's' has the capacity 0"),
    ("fpga.capacities", "stream s: f64 capacity N transient", "the queue 's' has the capacity N"),
    ("fpga.banks", "data b: f64[8] transient @global @heap bank hbm 0:3", "3 banks are not shown to divide dimension"),
    ("fpga.banks", "data b: f64[N] transient @global @heap bank hbm 0:2", "2 banks are not shown to divide dimension"),
    ("fpga.banks", "data b: f64[8] transient @global @heap bank ddr 0:2 axis 1", "'b' has no dimension 1"),
    ("fpga.banks", "data b: f64[8] transient @global @heap bank ddr 3:2", "'b' is in the banks ddr 3:2"),
    ("fpga.banks", local("data b: f64[8] transient @local @bram bank ddr 0"), "is on the chip, and has a bank"),
    ("fpga.partitions", "data b: f64[8] transient @heap partition complete 0", "'b' is cut in pieces, but is not on"),
    ("fpga.partitions", local("data b: f64[8] transient @local @bram partition cyclic 1 by 2"), "has no dimension 1"),
    ("fpga.partitions", local("data b: f64[8] transient @local @bram partition cyclic 0"), "'b' is cut cyclic 0"),
    (
        "fpga.partitions",
        local("data b: f64[8] transient @local @bram partition complete 0 partition block 0 by 2"),
        "'b' is cut twice along dimension 0",
    ),
    (
        "fpga.ports",
        ports("@pipelined{ii = 1}"),
        "each iteration of the loop i goes 4 times to 'b', which has 2 ports: 2 in 1 cycles",
    ),
    ("fpga.names", "dataflow { process a__b { } }", "the process 'a__b' cannot be the name of a module"),
    ("fpga.names-of-queues", "stream s_: f64 capacity 2 transient", "the stream 's_' cannot be the name of a module"),
    ("fpga.tokens-width", "stream s: f64 token (3) capacity 2 transient", "a token of 's' has 3 elements"),
    ("fpga.tokens-width", "stream s: f64 token (16) capacity 2 transient", "a token of 's' has 1024 bits"),
]

RIGHT = [
    f"{S} dataflow {{ {GIVE} process take {{ loop j = 0:N {{ copy s -> y[j] }} }} }}",
    "stream s: f64[5] capacity 2 transient dataflow { process give { copy x[0] -> s[0] } "
    "process pe p = 0:4 { data v: f64 transient @register copy s[p] -> v copy v -> s[p + 1] } "
    "process take { copy s[4] -> y[0] } }",
    "stream s: f64 token (4) capacity 2 transient dataflow { process give { copy A[0:2, 0:4] -> s } "
    "process take { loop i = 0:2 { copy s -> y[4*i:4*i + 4] } } }",
    ports("@pipelined{ii = 2}"),
    ports("@pipelined"),
    ports("@pipelined{ii = 1}", "data b: f64[8] transient @local @bram partition cyclic 0 by 2"),
    ports("@pipelined{ii = 1}", "data b: f64[8] transient @local @bram partition complete 0"),
    ports("@pipelined{ii = 1}", "data b: f64[8] transient @local @registers"),
    "data b: f64[8] transient @global @heap bank hbm 4:8",
]


def said_by(rule, sdfg):
    return "; ".join(problem.message for problem in problems(sdfg, FPGA_FORM) if problem.rule == rule)


@pytest.mark.parametrize(("rule", "body", "message"), TEXTS)
def test_no_hardware(rule, body, message):
    assert message in said_by(rule, parse_sdfg(f"sdfg @f({ARGS}) {{ {body} }} {CALLEE}"))


@pytest.mark.parametrize("body", RIGHT)
def test_hardware(body):
    assert problems(parse_sdfg(f"sdfg @f({ARGS}) {{ {body} }}"), FPGA_FORM) == ()


def test_who_uses_what_is_found_out_once(monkeypatch):
    """However many loops there are: else verifying takes the square of their number."""
    made = []
    monkeypatch.setattr(subjects, "Uses", lambda sdfg: made.append(sdfg) or Uses(sdfg))
    loops = " ".join(f"loop i{k} = 0:4 @pipelined {{ copy x[i{k}] -> b[i{k}] }}" for k in range(9))
    body = local("data b: f64[8] transient @local @bram", loops)
    assert problems(parse_sdfg(f"sdfg @f({ARGS}) {{ {body} }}"), FPGA_FORM) == ()
    assert len(made) == 1


def test_arrays_do_not_grow():
    sdfg = parse_sdfg(f"sdfg @f({ARGS}) {{ }}")
    sdfg.assign_symbol("room", types.int64)
    sdfg.declare("grows", Array.packed(types.float64, (sym("room"),), transient=True))
    grown = Resize("room", Const(8, types.int64), "grows", ONE)
    sdfg.body.add(Dataflow(Region([Process("a", (), (), Region([grown]))])))
    assert "the array 'grows' grows in a process" in said_by("fpga.resizes", sdfg)


def test_every_rule_has_a_broken_program():
    rules = {name for name in (rule.name for rule in FPGA_FORM.rules) if name.startswith("fpga.")}
    assert {rule for rule, _, _ in TEXTS} | {"fpga.resizes"} >= rules
    assert fpga.tokens_come_and_go.name in rules


def test_conditions_on_variables_are_counted():
    """As ranges that are narrower; what data decide is not counted."""
    give = "process give { loop i = 0:4 { loop t = 0:8 { if i == 3 and t >= 2 { copy x[t] -> s } } } }"
    take = "process take { loop j = 0:6 { copy s -> y[j] } }"
    body = f"{S} dataflow {{ {give} {take} }}"
    assert not said_by("fpga.tokens", parse_sdfg(f"sdfg @f({ARGS}) {{ {body} }}"))
    more = body.replace("t >= 2", "t >= 1")
    told = said_by("fpga.tokens", parse_sdfg(f"sdfg @f({ARGS}) {{ {more} }}"))
    assert "7 tokens are pushed to 's', and 6 are popped" in told
    either = body.replace("and t", "or t")
    assert "depends on a condition" in said_by("fpga.tokens", parse_sdfg(f"sdfg @f({ARGS}) {{ {either} }}"))


def test_the_last_process_of_a_chain_need_not_push():
    pe = "process pe p = 0:3 { data v: f64 transient @register copy s[p] -> v if p < 2 { copy v -> s[p + 1] } }"
    body = f"stream s: f64[4] capacity 2 transient dataflow {{ process give {{ copy x[0] -> s[0] }} {pe} }}"
    assert problems(parse_sdfg(f"sdfg @f({ARGS}) {{ {body} }}"), FPGA_FORM) == ()


def test_tiles_are_counted():
    tiled = "loop t = 0:N:16 { loop l = 0:min(16, N - t) { copy x[t + l] -> s } }"
    take = "process take { loop j = 0:N { copy s -> y[j] } }"
    body = f"{S} dataflow {{ process give {{ {tiled} }} {take} }}"
    assert not said_by("fpga.tokens", parse_sdfg(f"sdfg @f({ARGS}) {{ {body} }}"))
    other = body.replace("min(16, N - t)", "min(15, N - t)")
    assert "the ranges are no numbers" in said_by("fpga.tokens", parse_sdfg(f"sdfg @f({ARGS}) {{ {other} }}"))
