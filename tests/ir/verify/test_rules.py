"""One broken program per rule, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from dcpy.ir import types
from dcpy.ir.data import Array, Reference, Scalar, Stream, Structure, View
from dcpy.ir.expr import Cast, Const, Index, Load, Op, Ref, WrapIndex, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import LibraryNode, Map, Schedule, Tasklet
from dcpy.ir.region import Branch, Region, State, SymbolAssign
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.subsets import Range, Subset, parse_subset
from dcpy.ir.symbolic import ONE, const, sym
from dcpy.ir.text import parse_sdfg
from dcpy.ir.verify import FORMS, problems
from dcpy.ir.verify.forms import TREE_RULES
from dcpy.ir.verify.rules.tree import parts_know_what_they_are_in

F64, I64 = types.float64, types.int64
FORM_OF = {rule.name: form for form in reversed(FORMS) for rule in form.rules}
FORM_OF |= {rule.name: FORMS[0] for rule in TREE_RULES}


def said_by(rule: str, sdfg: Sdfg) -> str:
    return "; ".join(problem.message for problem in problems(sdfg, FORM_OF[rule]) if problem.rule == rule)


# -- programs that the parser takes ------------------------------------------------------------------------------------

ARGS = "x: f64[N], y: f64[N], k: i64[N], A: f64[N, M], a: f64"
CALLEE = "sdfg @g(p: f64[K], s: f64) { copy p[0:K] -> p[0:K] }"

TEXTS = [
    ("names.unique", "map i = 0:N { } loop i = 0:N { }", "'i' is the parameter of a map, and the parameter of a loop"),
    ("symbols.bound", "loop i = 0:N { let q = 1 } copy x[q] -> y[0]", "mentions 'q', which has no value there"),
    ("symbols.bound", "if k[0] > 0 { let q = 1 } copy x[q] -> y[0]", "a subset of 'x' mentions 'q'"),
    ("symbols.bound", "data b: f64[q] transient copy x[0:1] -> b[0:1] let q = k[0]", "the size of 'b' mentions 'q'"),
    ("symbols.bound", "map i = 0:N { } copy x[i] -> y[0]", "'i'"),
    ("view.window", "view v: f64[3] of A[0:3, M + 1]", "index M + 1 is out of bounds for dimension 1 of size M"),
    ("memlet.rank", "copy A[0:N] -> x[0:N]", "A[0:N] has 1 dimensions, its container has 2"),
    ("memlet.point", "tasklet (v <- x[0:N]) -> (o -> y[0]) { o = v }", "x[0:N] of a tasklet is not a single element"),
    ("memlet.step", "copy x[0:N:0] -> y[0:N:0]", "x[0:N:0] has a step of 0"),
    ("memlet.bounds", "copy x[N] -> y[0]", "x[N]: index N is out of bounds for dimension 0 of size N"),
    ("memlet.bounds", "copy x[0] -> y[-1]", "index -1 of dimension 0 is negative"),
    ("memlet.bounds", "map i = 0:N { copy x[i + 1] -> y[i] }", "index N is out of bounds"),
    ("memlet.bounds", "loop i = N - 1:-1:-1 { copy x[i - 1] -> y[i] }", "index -1 of dimension 0 is negative"),
    ("memlet.wcr", "copy x[0:N] (add) -> y[0:N]", "is read"),
    ("memlet.wcr", "copy x[0] -> y[0] (bitand)", "f64 values cannot be combined with 'bitand'"),
    ("memlet.read-only", "tasklet () -> (o -> a) { o = 1.0 }", "'a' is a scalar argument, and written"),
    ("memlet.read-only", "view b: f64[3, N] of x[0:N] axes (-1, 0) copy x[0] -> b[1, 0]", "'b' is a broadcast view"),
    ("memlet.stream", "stream s: f64[N] transient copy x[0:N] -> s[0:N]", "names several queues of a stream"),
    ("memlet.stream", "stream s: f64 transient copy x[0] -> s (add)", "pushes with a conflict resolution"),
    ("memlet.reference", "reference r: f64[N] transient copy x[0] -> r[0]", "r[0] sets a part of a reference"),
    ("copy.shapes", "copy x[0:N] -> y[0:N - 1]", "different shapes: [N] and [N - 1]"),
    ("copy.shapes", "copy x[0:N] -> A[0:N, 0:M]", "different shapes: [N] and [N, M]"),
    ("copy.shapes", "copy x[0] -> k[0]", "x[0] is f64, k[0] is i64"),
    ("map.step", "map i = 0:N:0 { }", "the range of 'i' has a step of 0"),
    ("loop.step", "loop i = 0:N:0 { }", "the range of 'i' has a step of 0"),
    ("call.containers", "call @g (p = x[0:N]) with (K = N)", "lacks its argument 's'"),
    ("call.containers", "call @g (p = x[0:N], s = a, z = a) with (K = N)", "@g has no argument 'z'"),
    ("call.containers", "call @g (p = k[0:N], s = a) with (K = N)", "'p' of @g is f64, k[0:N] is i64"),
    ("call.containers", "call @g (p = x[1:N], s = a) with (K = N)", "another shape than x[1:N]"),
    ("call.symbols", "call @g (p = x[0:N], s = a)", "lacks the value of its symbol 'K'"),
    ("call.symbols", "call @g (p = x[0:N], s = a) with (K = N, Z = 1)", "@g has no symbol 'Z'"),
    ("call.recursion", "call @f (x = x[0:N], y = y[0:N], k = k[0:N], A = A, a = a) with (N = N, M = M)", "@f"),
    ("foreign.arguments", "foreign () -> (o -> x[0:N]) from c { run(&z) }", "run is passed 'z', which is no connector"),
    ("foreign.arguments", "foreign (v <- x[0:N]) -> (o -> y[0]) from c { o = run(v) }", "x[0:N] by value"),
    ("callback.operands", 'callback () -> () {function = "m:f", returns = "(r, 1)"}', "m:f returns to 'r'"),
    ("callback.operands", 'callback () -> (r -> x[0:N]) {function = "m:f"}', "neither returns to 'r' nor gets it"),
    ("callback.operands", 'callback () {function = "m:f", call = "x, ("}', "cannot be read as part of a callback"),
    ("control.break", "break", "a break is in no loop"),
    ("control.break", "loop t = 0:N { map i = 0:N { break } }", "a break leaves a map"),
    ("control.continue", "if N > 0 { continue }", "a continue is in no loop"),
    ("control.return", "map i = 0:N { return }", "a return leaves a map"),
    ("control.conditions", "while k[0] { }", "the condition of a loop is i64"),
    ("control.branches", "if k[0] { }", "the condition of a branch is i64"),
    ("control.checks", 'check k[0] > 0 else Oops "x"', "'Oops' is no exception of Python"),
    ("control.checks", 'check k[0] > 0 else ValueError "{1}" (N)', "names the value 1 of 1"),
    ("control.checks", 'check k[0] > 0 else ValueError "{0}" (x[0])', "is f64, which is no integer"),
    ("expr.operations", "tasklet (v <- x[0]) -> (o -> x[0]) { o = v & v }", "NumPy has no 'bitand' of f64, f64"),
    ("expr.loads", "if A[0] > 0.0 { }", "reads 'A' with 1 indices for 2"),
    ("expr.indices", "if wrap(k[0], N) > 0 { }", "wraps an index inside of an expression"),
    ("scope.operands", "map i = 0:N { stream s: f64 transient }", "the stream 's' is declared in a map's body"),
    ("frontend.schedules", "map i = 0:N @simd { }", "has the schedule 'simd'"),
    ("frontend.storage", "data t: f64[N] transient @heap", "has the storage 'heap'"),
    ("frontend.foreign", "foreign () -> (o -> x[0:N]) from c { run(&o) }", "made a foreign call of run"),
    ("simple.states", "state s { }", "the state 's' is empty"),
    ("simple.maps", "map i = 0:N { }", "the map over i is empty"),
    ("simple.loops", "loop i = 0:N { }", "the loop over i is empty"),
    ("codegen.calls", "call @g (p = x[0:N], s = a) with (K = N)", "the call of @g is not inlined"),
    ("codegen.schedules", "map i = 0:N { copy x[i] -> y[i] }", "the map over i has no schedule"),
    ("codegen.storage", "data t: f64[N] transient", "'t' has no storage"),
    ("codegen.containers", "stream s: f64 transient", "'s' is a stream, which cannot be compiled yet"),
    ("codegen.consume", "stream s: f64 transient consume v <- s workers w = 0:4 { }", "'s' is consumed"),
]


@pytest.mark.parametrize(("rule", "body", "message"), TEXTS)
def test_broken_text(rule, body, message):
    assert message in said_by(rule, parse_sdfg(f"sdfg @f({ARGS}) {{ {body} }} {CALLEE}"))


# -- programs that only code can break ------------------------------------------------------------------------------

Break = Callable[[Sdfg], object]
CASES: list[tuple[str, Break, str]] = []


def breaks(rule: str, message: str) -> Callable[[Break], Break]:
    def enter(function: Break) -> Break:
        CASES.append((rule, function, message))
        return function

    return enter


def a_program() -> Sdfg:
    return parse_sdfg(f"sdfg @f({ARGS}) {{ data t: f64[N] transient map i = 0:N {{ copy x[i] -> t[i] }} }}")


def add(sdfg: Sdfg, node):
    return sdfg.body.add(State(nodes=[node]))


def a_tasklet(sdfg: Sdfg, *code, inputs=("x",), output="y"):
    reads = {f"i{n}": Memlet(name, Subset.point(0)) for n, name in enumerate(inputs)}
    return add(sdfg, Tasklet(reads, {"o": Memlet(output, Subset.point(0))}, code))


@pytest.mark.parametrize(("rule", "change", "message"), CASES)
def test_broken_by_hand(rule, change, message):
    sdfg = a_program()
    assert problems(sdfg) == ()
    change(sdfg)
    assert message in said_by(rule, sdfg)


@breaks("tree.links", "a tasklet occurs twice")
def _(sdfg):
    node = Tasklet({}, {}, ())
    add(sdfg, node)
    add(sdfg, node)


@breaks("tree.links", "a state is in a region that is not its own")
def _(sdfg):
    sdfg.body.blocks.append(State())


@breaks("names.identifiers", "'x; system()' is no identifier")
def _(sdfg):
    sdfg.declare("x; system()", Scalar(F64, transient=True))


@breaks("names.connectors", "the connector 'o-o' is no identifier")
def _(sdfg):
    add(sdfg, Tasklet({}, {"o-o": Memlet("y", Subset.point(0))}, (("o-o", Const(1.0, F64)),)))


@breaks("names.functions", "'f(); g' is no name of a function")
def _(sdfg):
    (block,) = parse_sdfg("sdfg @f() { foreign () -> () from c { run() } }").body.blocks
    block.nodes[0].function = "f(); g"
    add(sdfg, block.nodes[0])


@breaks("arguments.declared", "the argument 'zz' is neither a container nor a symbol")
def _(sdfg):
    sdfg.arguments.append("zz")


@breaks("arguments.declared", "the argument 't' is transient")
def _(sdfg):
    sdfg.arguments.append("t")


@breaks("arguments.outermost", "'u' is not transient, but declared inside of a scope")
def _(sdfg):
    map_ = sdfg.body.blocks[0].nodes[0]
    map_.body.containers["u"] = Array.packed(F64, (ONE,))


@breaks("results.exist", "the result 'zz' is not declared")
def _(sdfg):
    sdfg.results = (Result("array", "zz"),)


@breaks("results.exist", "the result 'x' is no view")
def _(sdfg):
    sdfg.results = (Result("view", "x"),)


@breaks("results.exist", "the result 1 of 1")
def _(sdfg):
    sdfg.results, sdfg.structure = (Result("argument", "x"),), (0, 1)


@breaks("results.exist", "the result 'x' is no argument")
def _(sdfg):
    sdfg.results, sdfg.structure = (Result("argument", "x"),), 0
    sdfg.arguments.remove("x")


@breaks("structure.owner", "'p.q' is declared as if it were a field")
def _(sdfg):
    sdfg.declare("p.q", Scalar(F64, transient=True))


@breaks("symbols.assigned", "'N' is assigned to, but it is a free symbol")
def _(sdfg):
    sdfg.body.add(SymbolAssign("N", Const(1, I64)))


@breaks("symbols.integers", "the symbol 'h' is f64")
def _(sdfg):
    sdfg.add_symbol("h", F64)


@breaks("symbols.integers", "the size 'Q' is no symbol")
def _(sdfg):
    sdfg.sizes.append("Q")


@breaks("data.shape", "'u' has 1 dimensions and 0 strides")
def _(sdfg):
    sdfg.declare("u", Array(F64, (ONE,), (), transient=True))


@breaks("data.shape", "'u' has the size -2")
def _(sdfg):
    sdfg.declare("u", Array.packed(F64, (const(-2),), transient=True))


@breaks("data.fields", "two fields of one name")
def _(sdfg):
    sdfg.declare("u", Structure("U", (("v", Scalar(F64)), ("v", Scalar(F64))), transient=True))


@breaks("data.alias", "'t' is transient, so nothing else can be in its memory")
def _(sdfg):
    sdfg.redeclare("t", replace(sdfg.desc("t"), alias="g"))


@breaks("data.reference", "the reference 'r' is declared inside of a scope")
def _(sdfg):
    sdfg.body.blocks[0].nodes[0].body.containers["r"] = Reference(F64, (), ())


@breaks("data.constant", "the constant 'w' is not declared as an array")
def _(sdfg):
    sdfg.constants["w"] = np.ones(2)


@breaks("data.constant", "of another shape or dtype than its value")
def _(sdfg):
    sdfg.constants["w"] = np.ones(2)
    sdfg.declare("w", Array.packed(F64, (const(3),), transient=True))


@breaks("memlet.read-only", "'w' is a constant, and written")
def _(sdfg):
    sdfg.constants["w"] = np.ones(2)
    sdfg.declare("w", Array.packed(F64, (const(2),), transient=True))
    a_tasklet(sdfg, ("o", Const(1.0, F64)), output="w")


@breaks("view.base", "shows 'zz', which is not visible there")
def _(sdfg):
    sdfg.declare("v", View("zz", F64, (), ()))


@breaks("view.base", "the view 'v' shows itself")
def _(sdfg):
    sdfg.declare("v", View("w", F64, (), ()))
    sdfg.declare("w", View("v", F64, (), ()))


@breaks("view.base", "shows a stream")
def _(sdfg):
    sdfg.declare("s", Stream(F64))
    sdfg.declare("v", View("s", F64, (), ()))


@breaks("view.window", "the axes of 'v' are not the kept dimensions of its window")
def _(sdfg):
    view = View.slice("A", sdfg.desc("A"), parse_subset("0:N, 0:M"))
    sdfg.declare("v", replace(view, axes=(0, 0)))


@breaks("view.strides", "shape, strides or offset of 'v' are not those of its window")
def _(sdfg):
    view = View.slice("x", sdfg.desc("x"), parse_subset("1:N"))
    sdfg.declare("v", replace(view, offset=const(2)))


@breaks("view.strides", "'v' has another number of elements than 'x'")
def _(sdfg):
    sdfg.declare("v", View.reshape("x", sdfg.desc("x"), (sym("N") + 1,)))


@breaks("memlet.container", "no container 'zz' is visible at the copy")
def _(sdfg):
    sdfg.body.blocks[0].nodes[0].body.blocks[0].nodes[0].src = Memlet("zz", Subset())


@breaks("memlet.container", "'p' is a structure")
def _(sdfg):
    sdfg.add_argument("p", Structure("P", (("m", Scalar(F64)),)))
    add(sdfg, Tasklet({"v": Memlet("p", Subset())}, {}, ()))


@breaks("memlet.wcr", "no conflict resolution is called 'plus'")
def _(sdfg):
    add(sdfg, Tasklet({}, {"o": Memlet("y", Subset.point(0), "plus")}, (("o", Const(1.0, F64)),)))


@breaks("tasklet.outputs", "the output 'o' is never assigned")
def _(sdfg):
    a_tasklet(sdfg, ("u", Const(1.0, F64)))


@breaks("tasklet.outputs", "'o' is assigned 2 times")
def _(sdfg):
    a_tasklet(sdfg, ("o", Const(1.0, F64)), ("o", Const(1.0, F64)))


@breaks("tasklet.outputs", "the input 'i0' is assigned")
def _(sdfg):
    a_tasklet(sdfg, ("i0", Const(1.0, F64)), ("o", Const(1.0, F64)))


@breaks("tasklet.dtypes", "'o' is i64, but y[0] is f64")
def _(sdfg):
    a_tasklet(sdfg, ("o", Const(1, I64)))


@breaks("expr.operations", "'add' of f64, i64: dtypes differ")
def _(sdfg):
    a_tasklet(sdfg, ("o", Op("add", (Const(1.0, F64), Const(1, I64)), F64)))


@breaks("expr.operations", "'div' of i64, i64 is f64 in NumPy, not i64")
def _(sdfg):
    a_tasklet(sdfg, ("o", cast(op("div", Const(1, I64), Const(1, I64)), F64)))


@breaks("expr.operations", "'sqrt' has 2 arguments, not 1")
def _(sdfg):
    a_tasklet(sdfg, ("o", Op("sqrt", (Const(1.0, F64), Const(1.0, F64)), F64)))


@breaks("expr.operations", "no scalar operation is called 'twice'")
def _(sdfg):
    a_tasklet(sdfg, ("o", Op("twice", (Const(1.0, F64),), F64)))


@breaks("expr.constants", "300 is no u8")
def _(sdfg):
    a_tasklet(sdfg, ("o", Cast(Const(300, types.uint8), F64)))


@breaks("expr.connectors", "uses 'q', which is no input and no earlier value")
def _(sdfg):
    a_tasklet(sdfg, ("o", Ref("q", F64)), ("q", Const(1.0, F64)))


@breaks("expr.connectors", "uses 'i0' as i64, but it is f64")
def _(sdfg):
    a_tasklet(sdfg, ("o", cast(Ref("i0", I64), F64)))


@breaks("expr.connectors", "but is in no node")
def _(sdfg):
    sdfg.assign_symbol("q")
    sdfg.body.add(SymbolAssign("q", Ref("i0", I64)))


@breaks("expr.loads", "reads 'x' without a memlet")
def _(sdfg):
    a_tasklet(sdfg, ("o", Load("x", (const(0),), F64)))


@breaks("expr.loads", "reads 'x' as i64, but it is f64")
def _(sdfg):
    sdfg.assign_symbol("q")
    sdfg.body.add(SymbolAssign("q", Load("x", (const(0),), I64)))


@breaks("expr.indices", "wraps an index that is f64")
def _(sdfg):
    sdfg.assign_symbol("q")
    sdfg.body.add(SymbolAssign("q", WrapIndex(Load("x", (const(0),), F64), sym("N"))))


@breaks("expr.symbols", "uses N as a bool")
def _(sdfg):
    sdfg.body.add(Branch([(Index(sym("N"), types.bool_), Region())]))


@breaks("control.values", "'q' gets a value that is f64")
def _(sdfg):
    sdfg.assign_symbol("q")
    sdfg.body.add(SymbolAssign("q", Load("x", (const(0),), F64)))


@breaks("control.branches", "a branch has no case")
def _(sdfg):
    sdfg.body.add(Branch([]))


@breaks("map.parameters", "a map has no parameter")
def _(sdfg):
    add(sdfg, Map((), (), Region()))


@breaks("map.parameters", "a map has 2 parameters and 1 ranges")
def _(sdfg):
    add(sdfg, Map(("p", "q"), (Range.of(0, 1),), Region()))


@breaks("map.parameters", "two parameters of one name: p, p")
def _(sdfg):
    add(sdfg, Map(("p", "p"), (Range.of(0, 1), Range.of(0, 1)), Region()))


@breaks("consume.stream", "'x' is no stream")
def _(sdfg):
    sdfg.declare("s", Stream(F64))
    text = "sdfg @f() { stream s: f64 transient consume v <- s workers w = 0:4 { } }"
    node = parse_sdfg(text).body.blocks[0].nodes[0]
    node.stream = "x"
    add(sdfg, node)


@breaks("foreign.arguments", "run returns to 'z', which is no output")
def _(sdfg):
    (block,) = parse_sdfg("sdfg @f() { foreign () -> () from c { run() } }").body.blocks
    block.nodes[0].result = "z"
    add(sdfg, block.nodes[0])


@dataclass(eq=False)
class Picky(LibraryNode):
    """A library node that is never content."""

    kind = "test.picky"

    def problems(self):
        yield "this is not to my taste"


@breaks("library.problems", "this is not to my taste")
def _(sdfg):
    add(sdfg, Picky({}, {}))


@breaks("codegen.libraries", "test.picky is not expanded")
def _(sdfg):
    add(sdfg, Picky({}, {}))


@breaks("memlet.stream", "the stream 's' is an operand of a test.picky")
def _(sdfg):
    sdfg.declare("s", Stream(F64))
    add(sdfg, Picky({"s": Memlet("s", Subset())}, {}))


# -- all of them -------------------------------------------------------------------------------------------------------


def test_every_rule_has_a_broken_program():
    assert {rule for rule, _, _ in TEXTS} | {rule for rule, _, _ in CASES} == set(FORM_OF)


def test_every_rule_has_a_sentence():
    for form in FORMS:
        for rule in form.rules:
            assert rule.sentence.endswith("."), rule.name


def test_names_of_rules_are_unique():
    for form in FORMS:
        names = [rule.name for rule in (*TREE_RULES, *form.rules)]
        assert len(names) == len(set(names))
    assert parts_know_what_they_are_in in TREE_RULES


def test_schedules_that_users_ask_for_are_the_frontends():
    sdfg = a_program()
    sdfg.body.blocks[0].nodes[0].schedule = Schedule.SEQUENTIAL
    assert said_by("frontend.schedules", sdfg) == ""
