"""Summaries: found by one walk, joined where bodies become one, and compared with a new walk by checks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.summaries import joined, remember, stale_summary, summary_of
from dcpy.ir.editing.rewriter import rewriting, verify_after
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Map
from dcpy.transforms.api import sweep
from dcpy.transforms.fusion.map_fusion import MapFusion
from tests.support.expect import parse

CHAIN = """sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
    data t: f64[N] transient data u: f64[N] transient
    state { map i = 0:N { tasklet (a <- A[i]) -> (o -> t[i]) { o = a + 1 } }
            map j = 0:N { tasklet (a <- t[j], b <- A[j]) -> (o -> u[j]) { o = a * b } }
            map k = 0:N { tasklet (a <- u[k], b <- B[k]) -> (o -> B[k]) { o = a - b } } } }"""


def maps(sdfg):
    return [node for node in sdfg.body.walk_nodes() if isinstance(node, Map)]


def test_a_summary_has_what_is_not_declared_inside():
    sdfg = parse("""sdfg @f(A: f64[N], B: f64[N]) symbols(N: size, k: i64 = assigned) {
        state { map i = 0:N { data t: f64 transient
            state { tasklet (a <- A[i]) -> (o -> t) { o = a } }
            check A[i] > 0.0 else ValueError "x"
            state { tasklet (a <- t) -> (o -> B[i]) { o = a } } } } }""".replace(", k: i64 = assigned", ""))
    (node,) = maps(sdfg)
    summary = summary_of(node, Uses(sdfg))
    assert ([*summary.reads], [*summary.writes], summary.nodes) == (["A"], ["B"], 2)
    assert summary.effects is Effect.MAY_RAISE
    assert not summary.assigned


def test_a_queue_that_is_popped_is_changed():
    sdfg = parse("""sdfg @f(A: f64[N]) symbols(N: size) { stream s: f64
        state { map i = 0:N { tasklet (a <- A[i]) -> (o -> s) { o = a } }
                map j = 0:N { tasklet (a <- s) -> (o -> A[j]) { o = a } } } }""")
    assert [[*summary_of(node, Uses(sdfg)).writes] for node in maps(sdfg)] == [["s"], ["A", "s"]]


def test_fused_maps_have_the_summary_that_a_walk_finds():
    sdfg = parse(CHAIN)
    with rewriting(sdfg, "map-fusion", check=True) as rw:
        assert sweep(MapFusion(), rw) == 2
        (fused,) = maps(sdfg)
        known = dict(rw.uses.all_facts("summary"))
        assert known[fused] == summary_of(fused, Uses(sdfg))
        assert ([*known[fused].reads], [*known[fused].writes], known[fused].nodes) == (["A", "B"], ["B"], 3)


def test_joined_summaries_leave_out_what_became_private():
    sdfg = parse(CHAIN)
    first, second, _ = (summary_of(node, Uses(sdfg)) for node in maps(sdfg))
    assert [*joined(first, second).writes] == ["t", "u"]
    assert [*joined(first, second, private="t").reads] == ["A"]


def test_a_wrong_summary_is_told():
    sdfg = parse(CHAIN)
    uses = Uses(sdfg)
    first = maps(sdfg)[0]
    right = summary_of(first, uses)
    verify_after(sdfg, uses, "nothing")
    remember(first, replace(right, effects=Effect.ORDERED), uses)
    assert stale_summary(uses) == "the summary of a map"
    with pytest.raises(InvalidSdfg, match="the summary of a map"):
        verify_after(sdfg, uses, "a wrong step")
