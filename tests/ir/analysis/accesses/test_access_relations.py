"""What nodes, blocks and regions touch, as seen from outside."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from dcpy.ir import types
from dcpy.ir.analysis.accesses.access_relations import accesses_in, seen_from_outside
from dcpy.ir.analysis.accesses.memory_access import Mode
from dcpy.ir.analysis.dataflow.aliasing import base_of, in_base, memory_of, shown_by
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Scalar, Stream, View
from dcpy.ir.expressions.scalar import Const, Index, Load, Ref, WrapIndex, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Copy, Map, Tasklet
from dcpy.ir.region import Branch, Break, Loop, Region, State, SymbolAssign, While
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range, Subset, parse_subset
from dcpy.ir.symbolic import sym
from dcpy.ir.text import parse_sdfg
from dcpy.ir.tree import sdfg_of

F64 = types.float64
POSITIVE = op("gt", Load("c", (), F64), Const(0.0, F64))


def a_program(name="f"):
    """Arrays A[N, M] and x, y[N], a 0-d c."""
    sdfg = Sdfg(name)
    for size in ("N", "M"):
        sdfg.add_symbol(size, size=True)
    sdfg.add_argument("A", Array.packed(F64, (sym("N"), sym("M"))))
    for vector in ("x", "y"):
        sdfg.add_argument(vector, Array.packed(F64, (sym("N"),)))
    sdfg.add_argument("c", Array.packed(F64, ()))
    return sdfg


def memlet(text, **options):
    """``A[i, 0:N]``"""
    name, _, subset = text.partition("[")
    return Memlet(name, parse_subset(subset.rstrip("]")), **options)


def move(source, target, **options):
    """A tasklet that copies one element."""
    return Tasklet({"a": memlet(source)}, {"o": memlet(target, **options)}, (("o", Ref("a", F64)),))


def values(text):
    (dim,) = parse_subset(text).dims
    return dim if isinstance(dim, Range) else Range.of(0, dim)


def a_map(body, **params):
    nodes = body if isinstance(body, list) else [body]
    region = Region([State(nodes=nodes)]) if not isinstance(body, Region) else body
    return Map(tuple(params), tuple(values(text) for text in params.values()), region)


VERBS = {Mode.READ: "read", Mode.WRITE: "write", Mode.COMBINE: "combine", Mode.PUSH: "push", Mode.POP: "pop"}


def of(part):
    return seen_from_outside(part, Uses(sdfg_of(part)))


def seen(accesses):
    """One line per access: ``read A[0:N]``, with ``?`` where it is not certain."""
    lines = []
    for access in accesses:
        part = "..." if access.subset is None else str(access.subset)
        how = VERBS[access.mode]
        wcr = f" ({access.wcr})" if access.wcr else ""
        lines.append(f"{how} {access.root}[{part}]{wcr}{'' if access.certain else ' ?'}")
    return lines


def in_program(*blocks):
    sdfg = a_program()
    for block in blocks:
        sdfg.body.add(block)
    return sdfg


def node_seen(node):
    in_program(State(nodes=[node]))
    return seen(of(node))


def block_seen(block):
    in_program(block)
    return seen(of(block))


def test_nodes_touch_their_own_memlets():
    assert node_seen(move("x[1]", "y[2]", wcr="add")) == ["read x[1]", "combine y[2] (add)"]
    assert node_seen(Copy(memlet("x[0:N]"), memlet("y[0:N]", dynamic=True))) == ["read x[0:N]", "write y[0:N] ?"]


@pytest.mark.parametrize(
    ("index", "domain", "box"),
    [
        ("i", "0:N", "0:N"),
        ("i - 1", "1:N", "0:N - 1"),
        ("i", "0:N:2", "0:N:2"),
        ("2*i + 1", "0:N", "1:2*N:2"),
        ("i", "N - 1:0 - 1:0 - 1", "0:N"),
        ("N - 1 - i", "0:N", "0:N"),
        ("i:i + 1", "0:N", "0:N"),
        ("4*i:4*i + 4", "0:N", "0:4*N"),
        ("M*i:M*i + M", "0:N", "0:M*N"),
    ],
)
def test_parameters_become_their_values(index, domain, box):
    node = a_map(Copy(memlet("c[]"), memlet(f"x[{index}]")), i=domain)
    in_program(State(nodes=[node]))
    write = of(node)[-1]
    assert write.certain
    assert str(write.subset) == box


@pytest.mark.parametrize(
    ("index", "domain", "box"),
    [
        ("min(i, M)", "0:N", "0:min(M, N - 1) + 1"),
        ("i // 2", "0:N", "0:((N - 1) // 2) + 1"),
        ("(7*i) % N", "0:N", "0:N"),
        ("i*i", "0:N", "0:N"),
        ("0:i", "0:N", "0:N - 1"),
        ("i:N", "0:N", "0:N"),
    ],
)
def test_boxes_around_what_is_not_one(index, domain, box):
    node = a_map(Copy(memlet("c[]"), memlet(f"x[{index}]")), i=domain)
    in_program(State(nodes=[node]))
    write = of(node)[-1]
    assert not write.certain
    assert str(write.subset) == box


def test_several_parameters():
    assert node_seen(a_map(move("A[i, j]", "x[i]", wcr="add"), i="0:N", j="0:M")) == [
        "read A[0:N, 0:M]",
        "combine x[0:N] (add) ?",  # no column, no write
    ]
    assert node_seen(a_map(move("A[i, i]", "x[0]"), i="0:N")) == ["read A[0:N, 0:N] ?", "write x[0] ?"]
    assert node_seen(a_map(move("A[i, j]", "x[4*i + j]"), i="0:N", j="0:4")) == ["read A[0:N, 0:4]", "write x[0:4*N]"]


def test_triangle_is_rounded_up():
    assert node_seen(a_map(move("A[i, j]", "A[j, i]"), i="0:N", j="0:i")) == [
        "read A[0:N, 0:N - 1] ?",
        "write A[0:N - 1, 0:N] ?",
    ]


def test_neighbours_stay_apart():
    stencil = [move("x[i - 1]", "y[i]"), move("x[i + 1]", "y[i]")]
    assert node_seen(a_map(stencil, i="1:N - 1")) == ["read x[0:N - 2]", "write y[1:N - 1]", "read x[2:N]"]


def test_too_many_parts_become_one_box():
    moves = [move(f"x[i + {k}]", "y[i]") for k in range(20)]
    assert node_seen(a_map(moves, i="0:N")) == ["read x[0:N + 19] ?", "write y[0:N]"]


def test_private_containers_are_not_seen_and_private_views_show_their_base():
    body = Region([State(nodes=[move("x[i]", "t[]"), move("t[]", "row[3]")])])
    body.containers["t"] = Scalar(F64, transient=True)
    row = View.slice("A", Array.packed(F64, (sym("N"), sym("M"))), parse_subset("i, 0:M"))
    body.containers["row"] = row
    assert node_seen(a_map(body, i="0:N")) == ["read x[0:N]", "write A[0:N, 3]"]


def test_loops_and_symbols():
    gather = Region([SymbolAssign("k", WrapIndex(Load("y", (sym("t"),), F64), sym("N")))])
    gather.add(State(nodes=[move("x[k]", "y[t]")]))
    assert block_seen(Loop("t", Range.of(0, sym("N")), gather)) == [
        "read y[0:N]",
        "read x[0:N] ?",
        "write y[0:N]",
    ]


def test_a_loop_that_may_end_early_is_not_certain():
    body = Region([State(nodes=[move("x[t]", "y[t]")]), Branch([(POSITIVE, Region([Break()]))])])
    assert block_seen(Loop("t", Range.of(0, sym("N")), body)) == ["read x[0:N] ?", "write y[0:N] ?", "read c[] ?"]


def test_branches():
    both = Branch([(POSITIVE, Region([State(nodes=[move("x[0]", "y[1]")])]))])
    both.otherwise = Region([State(nodes=[move("x[2]", "y[1]")])])
    both.otherwise.owner = both
    assert block_seen(both) == ["read c[]", "read x[0] ?", "write y[1] ?", "read x[2] ?"]
    one = Branch([(POSITIVE, Region([State(nodes=[move("x[0]", "y[1]")])]))])
    assert block_seen(one) == ["read c[]", "read x[0] ?", "write y[1] ?"]


def test_while_may_do_nothing():
    assert block_seen(While(POSITIVE, Region([State(nodes=[move("x[0]", "c")])]))) == [
        "read c[] ?",
        "read x[0] ?",
        "write c[] ?",
    ]


def test_calls_touch_at_most_what_they_pass():
    callee = a_program("callee")
    callee.body.add(State(nodes=[a_map(move("x[i]", "y[i]"), i="1:N")]))
    arguments = {"A": memlet("A[0:N, 0:M]"), "x": memlet("A[3, 2:M:2]"), "y": memlet("y[0:K]"), "c": memlet("c")}
    call = Call(callee, arguments, {"N": sym("K"), "M": sym("M")})
    assert node_seen(call) == ["read A[3, 2:M:2] ?", "write y[0:K] ?"]


def test_streams_change_when_popped():
    sdfg = a_program()
    sdfg.declare("s", Stream(F64))
    pop = Copy(memlet("s[]"), memlet("c[]"))
    sdfg.body.add(State(nodes=[pop]))
    assert seen(of(pop)) == ["pop s[]", "write c[]"]


def test_memories():
    sdfg = a_program()
    sdfg.add_argument("p", Array.packed(F64, (sym("N"),), alias="1"))
    sdfg.add_argument("q", Array.packed(F64, (sym("N"),), alias="1"))
    column = View.slice("A", sdfg.desc("A"), parse_subset("0:N, 2"))
    sdfg.declare("column", column)
    sdfg.declare("evens", View.slice("column", column, parse_subset("0:N:2")))
    sdfg.declare("flat", View.reshape("A", sdfg.desc("A"), (sym("N") * sym("M"),)))
    names = ("evens", "flat", "q", "p", "x")
    assert [base_of(name, sdfg.desc) for name in names] == ["A", "A", "q", "p", "x"]
    assert [memory_of(name, sdfg.desc) for name in names] == ["A", "A", "alias 1", "alias 1", "x"]
    assert in_base(memlet("evens[1:3]"), sdfg.desc) == ("A", parse_subset("2:6:2, 2"))
    assert in_base(memlet("flat[1]"), sdfg.desc) == ("A", None)
    sdfg.redeclare("column", replace(column, of="evens"))  # an error, which the verifier finds so
    assert list(shown_by("column", sdfg.desc)) == ["evens"]


def test_a_thousand_statements_are_quick():
    sdfg = a_program()
    nodes = [
        a_map([move(f"A[i{k}, j{k}]", f"A[i{k}, j{k} + 1]")], **{f"i{k}": "0:N", f"j{k}": "0:M - 1"})
        for k in range(1000)
    ]
    for node in nodes:
        sdfg.body.add(State(nodes=[node]))
    uses = Uses(sdfg)
    start = time.perf_counter()
    for node in nodes:
        seen_from_outside(node, uses)
    each = time.perf_counter() - start
    start = time.perf_counter()
    seen_from_outside(sdfg.body, uses)
    whole = time.perf_counter() - start
    assert max(each, whole) < 5.0  # a fiftieth of that on an idle machine


def test_what_is_resized_is_read_and_written():
    sdfg = parse_sdfg("""
        sdfg @f() {
          data t: f64[room] transient
          let room = 4
          let n = 2
          resize t: room = 8 keep n
        }""")
    resize = sdfg.body.blocks[-1]
    assert seen(of(resize)) == ["read t[...] ?", "write t[...] ?"]


def test_each_access_knows_the_space_around_it_and_the_order():
    sdfg = parse_sdfg("""
        sdfg @f(x: f64[N], y: f64[N]) {
          loop t = 0:4 {
            map i = 0:N { tasklet (a <- x[i]) -> (o -> y[i] (add)) { o = a } }
            if y[0] > 1.0 { break }
            while x[0] > 0.0 { copy y[0:N] -> x[0:N] }
          }
        }""")
    (loop,) = sdfg.body.blocks
    lines = []
    for access in accesses_in(loop, Uses(sdfg)):
        around = " ".join(
            ", ".join(name for name, _ in scope.variables) + "?" * (not scope.always) + "*" * scope.repeats
            for scope in access.scopes
        )
        lines.append(f"{access.position}: {VERBS[access.mode]} {access.root}[{access.subset}] in {around}")
    assert lines == [
        "0: read x[i] in t? i",
        "1: combine y[i] in t? i",
        "2: read y[0] in t?",
        "3: read x[0] in t? ? ?*",
        "4: read y[0:N] in t? ? ?*",
        "5: write x[0:N] in t? ? ?*",
    ]


def test_the_view_of_an_index():
    sdfg = a_program()
    sdfg.declare("k", Array.packed(types.int64, (), transient=True))
    assign = SymbolAssign("n", op("add", Load("k", (), types.int64), Index(sym("N"))))
    sdfg.body.add(assign)
    assert seen(of(assign)) == ["read k[]"]
    assert Subset.point(1).rank == 1
