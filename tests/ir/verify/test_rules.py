"""One broken program per rule, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from dcpy.base.assumptions import Assumption
from dcpy.base.source import SrcSpan
from dcpy.ir import types
from dcpy.ir.data import Array, Scalar, Stream, View
from dcpy.ir.expressions.scalar import Cast, Const, Index, Load, Op, Ref, WrapIndex, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, LibraryNode, Map, Tasklet
from dcpy.ir.region import Branch, Region, Resize, State, SymbolAssign
from dcpy.ir.schedules import SEQUENTIAL
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.subsets import Range, Subset, parse_subset
from dcpy.ir.symbolic import ONE, const, sym
from dcpy.ir.text import parse_sdfg
from dcpy.ir.verify import FORMS, problems
from dcpy.ir.verify.forms import TREE_RULES
from dcpy.ir.verify.rules.tree import parts_know_what_they_are_in
from tests.ir.verify.broken_distributions import DISTRIBUTED
from tests.ir.verify.broken_texts import ARGS, CALLEE, TEXTS

F64, I64 = types.float64, types.int64
FORM_OF = {rule.name: form for form in reversed(FORMS) for rule in form.rules}
FORM_OF |= {rule.name: FORMS[0] for rule in TREE_RULES}


def said_by(rule: str, sdfg: Sdfg) -> str:
    return "; ".join(problem.message for problem in problems(sdfg, FORM_OF[rule]) if problem.rule == rule)


@pytest.mark.parametrize(("rule", "body", "message"), TEXTS)
def test_broken_text(rule, body, message):
    assert message in said_by(rule, parse_sdfg(f"sdfg @f({ARGS}) {{ {body} }} {CALLEE}"))


@pytest.mark.parametrize(("rule", "text", "message"), DISTRIBUTED)
def test_broken_distribution(rule, text, message):
    assert message in said_by(rule, parse_sdfg(text))


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


@breaks("names.identifiers", "300 characters; 200 are the most")
def _(sdfg):
    sdfg.name = "x" * 300


@breaks("texts.program", "the file of a place is not printable: 'a.py<U+000A>#error'")
def _(sdfg):
    sdfg.span = SrcSpan("a.py\n#error", 1)


@breaks("texts.program", "a place in the source has the numbers -1, 0, 0, 0")
def _(sdfg):
    sdfg.span = SrcSpan("a.py", -1)


@breaks("texts.program", "a constant result has characters that no file can hold")
def _(sdfg):
    sdfg.results = (Result("constant", value="\ud800"),)


@breaks("texts.blocks", "the name of a state is not printable")
def _(sdfg):
    sdfg.body.add(State("up\x1b[2J"))


@breaks("texts.nodes", "the name of a tasklet has 5000 characters; 4096 are the most")
def _(sdfg):
    add(sdfg, Tasklet({}, {"o": Memlet("y", Subset.point(0))}, (("o", Const(1.0, F64)),), "t" * 5000))


@breaks("texts.containers", "the group of an argument is not printable")
def _(sdfg):
    sdfg.redeclare("x", replace(sdfg.desc("x"), alias="\u202e"))


@breaks("expr.depth", "nests operations more than 100 deep")
def _(sdfg):
    value = Ref("v", F64)
    for _ in range(150):
        value = op("neg", value)
    add(sdfg, Tasklet({"v": Memlet("x", Subset.point(0))}, {"o": Memlet("y", Subset.point(0))}, (("o", value),)))


@breaks("arguments.declared", "the argument 'zz' is neither a container nor a symbol")
def _(sdfg):
    sdfg.arguments.append("zz")


@breaks("call.recursion", "@f calls itself")
def _(sdfg):
    add(sdfg, Call(sdfg, {}, {}))


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


@breaks("results.exist", "the result 'v' is a view of what is no argument")
def _(sdfg):
    sdfg.declare("v", View.slice("t", sdfg.desc("t"), parse_subset("0:N")))
    sdfg.results = (Result("view", "v"),)


@breaks("memory.order", "'r' has the strides (3), which are not those without gaps")
def _(sdfg):
    sdfg.declare("r", Array(F64, (const(4),), (const(3),)))
    sdfg.results = (Result("array", "r"),)


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


@breaks("symbols.assigned", "'N' is assigned to, but it is a free symbol")
def _(sdfg):
    sdfg.body.add(SymbolAssign("N", Const(1, I64)))


@breaks("symbols.resized", "'room' is not the first size of 'grows', and of that alone")
def _(sdfg):
    sdfg.assign_symbol("room", I64)
    sdfg.body.add(SymbolAssign("room", Const(4, I64)))
    sdfg.declare("grows", Array.packed(F64, (4,), transient=True))
    sdfg.body.add(Resize("room", Const(8, I64), "grows", ONE))


@breaks("symbols.integers", "the symbol 'h' is f64")
def _(sdfg):
    sdfg.add_symbol("h", F64)


@breaks("symbols.integers", "the size 'Q' is no symbol")
def _(sdfg):
    sdfg.sizes.append("Q")


@breaks("symbols.assumptions", "assumes something of 'Q', which is no free symbol")
def _(sdfg):
    sdfg.assumed["Q"] = Assumption(least=1)


@breaks("symbols.assumptions", "assumes something of 'Q', which is no free symbol")
def _(sdfg):
    sdfg.assumptions.append(sym("Q") - 1)


@breaks("symbols.assumptions", "about the symbol 'N' cannot hold: no value is at least 0 and at most -1")
def _(sdfg):
    sdfg.assumed["N"] = Assumption(most=-1)


@breaks("call.assumptions", "@g assumes that 'K' is at least 1, but it gets N, of which that is not known")
def _(sdfg):
    callee = parse_sdfg("sdfg @g(p: f64[K]) symbols(K: size{least = 1}) { }")
    add(sdfg, Call(callee, {"p": Memlet("x", parse_subset("0:N"))}, {"K": sym("N")}))


@breaks("data.shape", "'u' has 1 dimensions and 0 strides")
def _(sdfg):
    sdfg.declare("u", Array(F64, (ONE,), (), transient=True))


@breaks("data.shape", "'u' has the size -2")
def _(sdfg):
    sdfg.add_argument("u", Array.packed(F64, (const(-2),)))


@breaks("data.alias", "'t' is transient, so nothing else can be in its memory")
def _(sdfg):
    sdfg.redeclare("t", replace(sdfg.desc("t"), alias="g"))


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
    elsewhere = {"memory.handles", "copy.tokens"}  # test_handles.py, test_fpga_rules.py
    families = ("placement.", "fpga.", "comm.")  # test_placement.py, test_fpga_rules.py, test_uniform.py
    elsewhere |= {rule for rule in FORM_OF if rule.startswith(families)} | {rule for rule, _, _ in DISTRIBUTED}
    assert {rule for rule, _, _ in TEXTS} | {rule for rule, _, _ in CASES} | elsewhere == set(FORM_OF)


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
    sdfg.body.blocks[0].nodes[0].schedule = SEQUENTIAL
    assert said_by("frontend.schedules", sdfg) == ""
