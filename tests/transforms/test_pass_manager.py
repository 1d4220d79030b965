"""The pass manager: stop anywhere, look at any step, forms that passes promise, remarks, and callees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from dcpy import plugins
from dcpy.base.errors import InvalidSdfg, UnknownName
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.text import print_sdfg
from dcpy.transforms.cpu.assign_schedules import AssignSchedules
from dcpy.transforms.cpu.assign_storages import AssignStorages
from dcpy.transforms.cpu.lowering import cpu_pipeline, lower_for_cpu
from dcpy.transforms.history import replay
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.passes import GraphPass
from dcpy.transforms.pipeline import Pipeline, repeat
from dcpy.transforms.simplify.control_flow.empty_state_elimination import EmptyStateElimination
from dcpy.transforms.simplify.control_flow.state_fusion import StateFusion
from dcpy.transforms.simplify.pipeline import SIMPLIFY, simplify
from tests.support.expect import assert_same_text, assert_same_values, parse

plugins.load()
TWO_STEPS = """
    sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
      data t: f64 transient
      state { tasklet () -> (o -> t) { o = 2.0 } }
      state { }
      state { map i = 0:N { tasklet (a <- A[i], t <- t) -> (o -> B[i]) { o = a * t } } }
    }"""
BOTH = Pipeline("test", repeat(EmptyStateElimination(), StateFusion()), AssignStorages(), AssignSchedules())


def test_one_can_stop_after_a_pass():
    sdfg = parse(TWO_STEPS)
    report = run_pipeline(sdfg, BOTH, until="assign-storages", check=True)
    assert list(report.passes) == ["empty-state-elimination", "state-fusion", "assign-storages"]
    assert "data t: f64 transient @register" in print_sdfg(sdfg)
    assert "@parallel" not in print_sdfg(sdfg)


def test_a_pass_that_is_not_in_it_is_refused():
    with pytest.raises(UnknownName, match="no pass of test is called 'assign-storage'") as refusal:
        run_pipeline(parse(TWO_STEPS), BOTH, until="assign-storage")
    assert "did you mean assign-storages?" in str(refusal.value)


def test_pipelines_inside_are_one_row():
    outer = Pipeline("outer", Pipeline("inner", StateFusion()), AssignStorages())
    assert [str(step) for step in outer.steps()] == ["state-fusion", "assign-storages"]
    assert [str(step) for step in BOTH.parts()] == [
        "empty-state-elimination", "state-fusion", "assign-storages", "assign-schedules",
    ]  # fmt: skip


def test_an_observer_sees_each_step():
    seen = []
    run_pipeline(parse(TWO_STEPS), BOTH, observer=lambda step, sdfg: seen.append((step.name, len(sdfg.body.blocks))))
    assert seen == [("repeat", 1), ("assign-storages", 1), ("assign-schedules", 1)]


@dataclass(frozen=True)
class Forgetful(GraphPass):
    """Promises what it does not do."""

    name: ClassVar[str] = "test-forgetful"
    ensures: ClassVar[str] = "stored"

    def decide(self, rw: Rewriter) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Eager(GraphPass):
    """Needs what nobody has done yet."""

    name: ClassVar[str] = "test-eager"
    requires: ClassVar[str] = "stored"

    def decide(self, rw: Rewriter) -> None:
        """Nothing."""


@pytest.mark.parametrize(
    ("step", "note"),
    [
        (Forgetful(), "test-forgetful should have left it so (the stored form)"),
        (Eager(), "test-eager needs that (the stored form)"),
    ],
)
def test_passes_are_held_to_their_forms(step, note):
    with pytest.raises(InvalidSdfg, match="'t' has no storage") as refusal:
        run_pipeline(parse(TWO_STEPS), Pipeline("test", step), check=True)
    assert note in str(refusal.value)
    run_pipeline(parse(TWO_STEPS), Pipeline("test", step))  # users do not wait for that


def test_a_pipeline_is_held_to_its_form():
    with pytest.raises(InvalidSdfg, match="has no schedule") as refusal:
        run_pipeline(parse(TWO_STEPS), Pipeline("test", AssignStorages(), ensures="codegen"), check=True)
    assert "test should have left it so (the codegen form)" in str(refusal.value)


def test_remarks_are_made_where_they_are_asked_for():
    sdfg = parse(TWO_STEPS)
    quiet = run_pipeline(copy_sdfg(sdfg), BOTH)
    told = run_pipeline(sdfg, BOTH, explain=True)
    assert quiet.remarks is None
    assert told.remarks is not None
    assert [str(remark) for remark in told.remarks] == [
        "yes  empty-state-elimination: state 1",
        "yes  state-fusion: state 0 -> state 1",
        "no   empty-state-elimination: state 0: the state has nodes",
        "no   empty-state-elimination: map i: state 0: the state has nodes",
        "yes  assign-schedules: map i: threads along i, vectors along i",
    ]


def test_a_refusal_is_forgotten_when_the_pass_runs_again():
    """State fusion declines while something is between; after that is gone it applies, and only that is told."""
    sdfg = parse("""
        sdfg @f(A: f64[4]) {
          state { map i = 0:4 { tasklet () -> (o -> A[i]) { o = 1.0 } } }
          let k = 3
          state { map i2 = 0:4 { tasklet () -> (o -> A[i2]) { o = 2.0 } } }
        }""")
    report = run_pipeline(sdfg, SIMPLIFY, explain=True)
    assert report.remarks is not None
    fusions = [remark for remark in report.remarks if remark.step == "state-fusion"]
    assert [remark.applied for remark in fusions] == [True]


def test_callees_are_lowered_too():
    sdfg = parse("""
        sdfg @f(A: f64[4]) { state { call @g (x = A[0:4]) } }
        sdfg @g(x: f64[4]) {
          data t: f64 transient
          loop i = 0:4 {
            state { tasklet (a <- x[i]) -> (o -> t) { o = a + 1 } }
            if x[i] > 0 { return }
            state { map j = 0:4 { tasklet (t <- t) -> (o -> x[j]) { o = t } } }
          }
        }""")
    lower_for_cpu(sdfg, check=True)
    (call,) = sdfg.body.walk_calls()
    assert "@register" in print_sdfg(call.sdfg)
    assert "@vector" in print_sdfg(call.sdfg)


def test_the_history_of_a_lowered_graph_replays():
    given = parse("""
        sdfg @f(A: f64[N, M], s: f64[1]) symbols(N: size, M: size) {
          data t: f64[N, M] transient
          data p: f64 transient
          state { map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> t[i, j]) { o = a * a } } }
          state { reduce (x <- t[0:N, 0:M]) -> (out -> p) {op = "add", axes = (0, 1)} }
          state { tasklet (a <- p) -> (o -> s[0]) { o = a } }
        }""")
    lowered = copy_sdfg(given)
    simplify(lowered)
    run_pipeline(lowered, cpu_pipeline(CpuOptions(openmp=False)), check=True)
    names = [entry.split()[0] for entry in lowered.history]
    assert "assign-schedules{threads=false}" in names
    assert "expand-library-node" in names
    again = replay(copy_sdfg(given), lowered.history, check=True)
    assert_same_text(print_sdfg(again), print_sdfg(lowered))
    assert_same_values(given, again, {"N": [0, 3], "M": [2]})
