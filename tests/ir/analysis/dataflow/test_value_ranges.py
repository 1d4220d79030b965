"""What is known of symbols at a place."""

from __future__ import annotations

import pytest

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.value_ranges import ranges_at
from dcpy.ir.expressions.scalar import Index, Load, WrapIndex
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop, Process, Region, State, SymbolAssign
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import parse_expr, sym


def inside(owner_of):
    """The ranges inside of the scope that `owner_of` makes around a body, in a program with a size N and an m."""
    sdfg = Sdfg("f")
    sdfg.add_symbol("N", size=True)
    sdfg.add_symbol("m")
    body = Region()
    owner = owner_of(body)
    sdfg.body.add(State(nodes=[owner]) if isinstance(owner, Map) else owner)
    return ranges_at(body)


def bounds(ranges, name):
    return tuple(None if bound is None else str(bound) for bound in ranges.bounds(name))


def test_inside_of_a_range_sizes_are_large_enough_for_an_element():
    assert bounds(inside(lambda body: Loop("i", Range.of(1, sym("N") - 1), body)), "N") == ("3", None)
    assert bounds(inside(lambda body: Map(("i",), (Range.of(sym("N") - 1, -1, -1),), body)), "N") == ("1", None)


def test_sizes_are_not_negative_and_nothing_is_known_of_other_symbols():
    ranges = inside(lambda body: Loop("i", Range.of(0, 1), body))
    assert bounds(ranges, "N") == ("0", None)
    assert bounds(ranges, "m") == (None, None)


@pytest.mark.parametrize(
    ("start", "stop", "step", "expected"),
    [
        ("0", "N", 1, ("0", "N - 1")),
        ("1", "N", 3, ("1", "N - 1")),
        ("0", "4*N", 4, ("0", "4*N - 4")),
        ("N - 1", "-1", -1, ("0", "N - 1")),
        ("N", "0", -2, ("1", "N")),
    ],
)
def test_parameters_are_within_their_range(start, stop, step, expected):
    values = Range(parse_expr(start), parse_expr(stop), parse_expr(str(step)))
    assert bounds(inside(lambda body: Loop("i", values, body)), "i") == expected
    assert bounds(inside(lambda body: Map(("i",), (values,), body)), "i") == expected


def test_a_step_of_unknown_sign_says_nothing():
    ranges = inside(lambda body: Loop("i", Range.of(0, sym("N"), sym("m")), body))
    assert bounds(ranges, "i") == (None, None)


def test_inner_parameters_follow_outer_ones():
    ranges = inside(lambda body: Map(("i", "j"), (Range.of(0, sym("N")), Range.of(0, sym("i"))), body))
    assert ranges.names[-2:] == ("i", "j")
    assert ranges.proves_lt(sym("j"), sym("N"))


def test_processes_run_over_their_domain():
    ranges = inside(lambda body: Process("pe", ("p",), (Range.of(0, 4),), body))
    assert bounds(ranges, "p") == ("0", "3")


@pytest.mark.parametrize(
    ("assignments", "expected"),
    [
        ([WrapIndex(Load("a", (), types.int64), sym("N"))], ("0", "N - 1")),
        ([Index(parse_expr("2*N"))], ("2*N", "2*N")),
        ([Load("a", (), types.int64)], (None, None)),
        ([WrapIndex(Load("a", (), types.int64), sym("N"))] * 2, (None, None)),
        ([Index(parse_expr("other + 1"))], (None, None)),
    ],
)
def test_symbols_assigned_once(assignments, expected):
    sdfg = Sdfg("f")
    sdfg.add_symbol("N", size=True)
    sdfg.assign_symbol("k")
    for value in assignments:
        sdfg.body.add(SymbolAssign("k", value))
    assert bounds(ranges_at(sdfg), "k") == expected


def test_equal_knowledge_is_one_object():
    sdfg = Sdfg("f")
    sdfg.add_symbol("N", size=True)
    states = [sdfg.body.add(State()) for _ in range(2)]
    assert ranges_at(states[0]) is ranges_at(states[1])
