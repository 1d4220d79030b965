"""Who reads and writes what, and when."""

from __future__ import annotations

from dcpy.ir import types
from dcpy.ir.analysis.liveness import Liveness, readers, writers
from dcpy.ir.data import Array, Reference, View
from dcpy.ir.expr import Const, Load, Ref, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Copy, Map, Tasklet
from dcpy.ir.region import Loop, Region, State, While
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range, Subset, parse_subset
from dcpy.ir.symbolic import const, sym

F64 = types.float64
VECTOR = Array.packed(F64, (const(8),), transient=True)
POINT = Subset.point(0)


def a_program(*names):
    """An argument A, and transients by these names."""
    sdfg = Sdfg("f")
    sdfg.add_argument("A", Array.packed(F64, (const(8),)))
    for name in names:
        sdfg.declare(name, VECTOR)
    return sdfg


def move(source, target, wcr=""):
    return Tasklet({"a": Memlet(source, POINT)}, {"o": Memlet(target, POINT, wcr)}, (("o", Ref("a", F64)),))


def test_tables_are_in_program_order_and_by_root():
    sdfg = a_program("t")
    sdfg.declare("half", View.slice("t", VECTOR, parse_subset("0:4")))
    first, second = move("A", "half"), move("t", "A", wcr="add")
    sdfg.body.add(State(nodes=[first, second]))
    assert readers(sdfg) == {"A": [first, second], "t": [second]}
    assert writers(sdfg) == {"t": [first], "A": [second]}


def test_read_later_in_a_straight_line():
    sdfg = a_program("t", "u")
    first, second = move("A", "t"), move("t", "u")
    state = sdfg.body.add(State(nodes=[first]))
    sdfg.body.add(State(nodes=[second]))
    live = Liveness(sdfg)
    assert live.is_read_after(first, "t")
    assert live.is_read_after(state, "t")
    assert not live.is_read_after(second, "t")
    assert not live.is_ever_read("u")
    assert live.is_read_after(second, "A")  # by the caller


def test_a_loop_reads_again_what_it_wrote():
    sdfg = a_program("t")
    read, write = move("t", "A"), move("A", "t")
    body = Region([State(nodes=[read, write])])
    sdfg.body.add(Loop("i", Range.of(0, 4), body))
    assert Liveness(sdfg).is_read_after(write, "t")


def test_a_container_of_the_body_does_not_live_on():
    sdfg = a_program()
    read, write = move("t", "A"), move("A", "t")
    body = Region([State(nodes=[read, write])], {"t": VECTOR})
    sdfg.body.add(Loop("i", Range.of(0, 4), body))
    assert not Liveness(sdfg).is_read_after(write, "t")


def test_the_condition_of_a_loop_is_tested_again():
    sdfg = a_program("t")
    write = move("A", "t")
    condition = op("gt", Load("t", (const(0),), F64), Const(0.0, F64))
    loop = sdfg.body.add(While(condition, Region([State(nodes=[write])])))
    live = Liveness(sdfg)
    assert live.is_read_after(write, "t")
    assert not live.is_read_after(loop, "t")
    assert readers(sdfg)["t"] == [loop]


def test_only_accessed_in():
    sdfg = a_program("t", "u")
    inner = Map(("i",), (Range.of(0, sym("N")),), Region([State(nodes=[move("A", "t"), move("t", "u")])]))
    after = move("u", "A")
    state = sdfg.body.add(State(nodes=[inner, after]))
    live = Liveness(sdfg)
    assert live.only_accessed_in("t", inner)
    assert not live.only_accessed_in("u", inner)
    assert live.only_accessed_in("u", state)
    assert live.only_accessed_in("u", inner, after)
    assert not live.only_accessed_in("A", state)
    assert live.is_read_in(inner, "A")
    assert not live.is_written_in(inner, "A")


def test_calls_touch_what_the_callee_touches():
    callee = a_program()
    callee.add_argument("B", Array.packed(F64, (const(8),)))
    callee.body.add(State(nodes=[move("A", "B")]))
    sdfg = a_program("t")
    call = Call(callee, {"A": Memlet("A", parse_subset("0:8")), "B": Memlet("t", parse_subset("0:8"))}, {})
    sdfg.body.add(State(nodes=[call]))
    assert (readers(sdfg), writers(sdfg)) == ({"A": [call]}, {"t": [call]})


def test_what_a_reference_shows_may_be_read_by_anybody():
    sdfg = a_program("t")
    sdfg.declare("r", Reference(F64, (const(8),), (const(1),)))
    write = move("A", "t")
    sdfg.body.add(State(nodes=[Copy(Memlet("t", parse_subset("0:8")), Memlet("r", parse_subset("0:8"))), write]))
    assert Liveness(sdfg).is_read_after(write, "t")
