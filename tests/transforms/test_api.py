"""Finding, explaining and applying transformations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from dcpy.base.errors import TransformationRefused
from dcpy.base.source import SrcSpan
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.region import State
from dcpy.ir.text import print_sdfg
from dcpy.transforms import api
from dcpy.transforms.api import (
    LEGAL,
    Legal,
    Match,
    Refusal,
    Rewriter,
    Transformation,
    apply_once,
    apply_repeated,
    capture,
    explain,
    matches,
    one,
)
from dcpy.transforms.simplify.control_flow.state_fusion import StateFusion
from dcpy.transforms.simplify.dataflow.dead_dataflow_elimination import DeadDataflowElimination
from tests.support.expect import parse

THREE = """
    sdfg @f(A: f64[N]) symbols(N: size) {
      data t: f64[N] transient
      state load { copy A[0:N] -> t[0:N] }
      state scale { map i = 0:N { tasklet double (a <- A[i]) -> (o -> A[i]) { o = a * 2 } } }
      state { copy A[0:N] -> t[0:N] }
    }"""


def test_apply_once_takes_the_first_match_that_allows_it():
    sdfg = parse(THREE)
    fused = apply_once(sdfg, StateFusion)
    assert isinstance(fused, State)
    assert [len(block.nodes) for block in sdfg.body.blocks] == [2, 1]
    assert sdfg.history == ["state-fusion first=/0 second=/1"]


def test_captures_can_be_pinned_by_element_or_name():
    sdfg = parse(THREE)
    apply_once(sdfg, StateFusion, first=sdfg.body.blocks[1])
    assert [len(block.nodes) for block in sdfg.body.blocks] == [1, 2]
    other = parse(THREE)
    apply_once(other, StateFusion, second="scale")
    assert [len(block.nodes) for block in other.body.blocks] == [2, 1]


def test_a_refusal_carries_the_verdict_on_each_match():
    sdfg = parse("sdfg @f(A: f64[2]) { state { copy A[0:1] -> A[1:2] } }")
    with pytest.raises(TransformationRefused) as refused:
        apply_once(sdfg, DeadDataflowElimination)
    assert refused.value.notes == ("state 0: copy to A: 'A' is an argument",)
    with pytest.raises(TransformationRefused) as refused:
        apply_once(sdfg, StateFusion)
    assert refused.value.notes == ("there is no State followed by a State in it",)


def test_unknown_parameters_are_refused():
    with pytest.raises(TransformationRefused, match="state-fusion has no parameter 'frist'"):
        apply_once(parse(THREE), StateFusion, frist=1)


def test_apply_repeated_counts():
    sdfg = parse(THREE)
    assert apply_repeated(sdfg, StateFusion) == 2
    assert apply_repeated(sdfg, StateFusion) == 0
    assert len(sdfg.history) == 2


def test_explain_says_why_not():
    assert explain(parse(THREE), DeadDataflowElimination).splitlines() == [
        "dead-dataflow-elimination: 2 of 4 matches apply",
        "  yes  load: copy to t",
        "  no   scale: map i        its body is not empty: each node in it is judged by itself",
        "  no   map i: double       'A' is an argument",
        "  yes  state 2: copy to t",
    ]


def test_explain_says_where_what_stands_in_the_way_is():
    """The place is that of the element which the refusal names, not that of the match."""
    sdfg = parse(THREE)
    writer = sdfg.body.blocks[0].nodes[0]
    writer.span = SrcSpan("kernel.py", 3)
    sdfg.body.blocks[2].nodes[0].span = SrcSpan("kernel.py", 7)
    refusal = Refusal("'t' is written", (writer, sdfg.body.blocks[1], sdfg.body.blocks[2].nodes[0], writer))
    assert str(refusal) == "'t' is written (kernel.py:3, kernel.py:7)"
    assert str(Refusal("'t' is written", (sdfg.body.blocks[1],))) == "'t' is written"


def test_what_is_planned_is_what_is_done():
    """`apply` decides nothing: it gets the very plan, made once."""
    made, taken = [], []

    class Renaming(Transformation[str]):
        name: ClassVar[str] = "test-renaming"
        state = capture(State)
        pattern = one(state)

        def plan(self, m: Match) -> str | Refusal:
            if m[self.state].name:
                return Refusal("it has a name")
            made.append(f"s{len(made)}")
            return made[-1]

        def apply(self, m: Match, plan: str, rw: Rewriter) -> None:
            taken.append(plan)
            rw.update(m[self.state], name=plan)

    sdfg = parse("sdfg @f() { state { } state named { } state { } }")
    assert apply_repeated(sdfg, Renaming()) == 2
    assert made == taken == ["s0", "s1"]
    assert [state.name for state in sdfg.body.blocks] == ["s0", "named", "s1"]


def test_matches_come_in_program_order_and_are_typed():
    sdfg = parse(THREE)
    found = [m[DeadDataflowElimination.node] for m in matches(DeadDataflowElimination(), sdfg)]
    assert [type(node).__name__ for node in found] == ["Copy", "Map", "Tasklet", "Copy"]
    assert isinstance(found[0], Copy)
    assert isinstance(found[1], Map)


def test_nothing_changes_where_nothing_applies():
    sdfg = parse("sdfg @f(A: f64[2]) { state { copy A[0:1] -> A[1:2] } }")
    before = print_sdfg(sdfg)
    assert apply_repeated(sdfg, DeadDataflowElimination) == 0
    assert print_sdfg(sdfg) == before
    assert sdfg.history == []


@dataclass(frozen=True)
class Restless(Transformation[Legal]):
    """Renames a state, again and again."""

    name: ClassVar[str] = "test-restless"
    state = capture(State)
    pattern = one(state)

    def plan(self, m: Match) -> Legal:
        return LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> None:
        rw.update(m[self.state], name="again")


def test_what_never_comes_to_rest_is_told(monkeypatch):
    monkeypatch.setattr(api, "MOST", 50)
    with pytest.raises(TransformationRefused, match="does not come to rest: it was applied 50 times") as refusal:
        apply_repeated(parse(THREE), Restless)
    assert "set settles = False" in str(refusal.value)
