"""Pipelines: order, fixpoints, reports, and passes that sit a round out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from dcpy.base.errors import DcpyError
from dcpy.ir.region import Loop, Return, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline, repeat
from dcpy.transforms.simplify.control_flow.empty_state_elimination import EmptyStateElimination
from dcpy.transforms.simplify.control_flow.state_fusion import StateFusion
from dcpy.transforms.simplify.pipeline import SIMPLIFY, simplify
from tests.support.expect import assert_same_text, assert_same_values, parse
from tests.support.spent import calls_of

CHAIN = """
    sdfg @f(A: f64[N]) symbols(N: size) {
      data t: f64[N] transient
      state { copy A[0:N] -> t[0:N] }
      state { copy t[0:N] -> A[0:N] }
      state { copy A[0:N] -> t[0:N] }
      state { }
    }"""


def test_a_repeat_runs_until_nothing_changes():
    sdfg = parse(CHAIN)
    report = run_pipeline(sdfg, Pipeline("test", repeat(EmptyStateElimination(), StateFusion())), check=True)
    assert report.counts() == {"empty-state-elimination": 1, "state-fusion": 2}
    assert report.applied == 3
    assert len(sdfg.body.blocks) == 1


def test_a_pass_sits_out_when_nothing_changed():
    """Nothing changes after state fusion: what it changed itself it looks at again, and the others ran later."""
    report = run_pipeline(parse(CHAIN), Pipeline("test", repeat(StateFusion(), EmptyStateElimination())))
    assert report.passes["empty-state-elimination"].runs == 1
    assert report.passes["state-fusion"].runs == 2
    quiet = run_pipeline(parse("sdfg @f() { }"), Pipeline("test", repeat(StateFusion(), EmptyStateElimination())))
    assert [entry.runs for entry in quiet.passes.values()] == [1, 1]


@dataclass(frozen=True)
class Privatize(Transformation[Legal]):
    """Declares a container further in, and changes nothing else: no transformation says so, the Rewriter sees it."""

    name: ClassVar[str] = "test-privatize"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Legal | Refusal:
        return Refusal("it is there") if m.uses.home("t") is m[self.loop].body else LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> None:
        rw.move_container("t", m[self.loop].body)


def test_what_changed_is_observed():
    """A pass before it runs again, whatever it is that changed."""
    sdfg = parse("sdfg @f() { data t: f64 transient loop i = 0:4 { } }")
    report = run_pipeline(sdfg, Pipeline("test", repeat(StateFusion(), Privatize())))
    assert report.counts() == {"test-privatize": 1}
    assert report.passes["state-fusion"].runs == 2


def test_the_report_is_a_table_with_times():
    report = run_pipeline(parse(CHAIN), Pipeline("test", StateFusion()))
    assert str(report).startswith("state-fusion      3 applied")
    assert report.seconds > 0


@dataclass(frozen=True)
class Flip(Transformation[Legal]):
    """Renames a state back and forth: what no transformation should do."""

    name: ClassVar[str] = "test-flip"
    state = capture(State)
    pattern = one(state)
    to: str = "a"

    def plan(self, m: Match) -> Legal | Refusal:
        return Refusal("it has that name") if m[self.state].name == self.to else LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> None:
        rw.update(m[self.state], name=self.to)


def test_passes_that_undo_each_other_are_reported():
    with pytest.raises(DcpyError, match="does not come to rest"):
        run_pipeline(parse(CHAIN), Pipeline("test", repeat(Flip(), Flip("b"))))


def test_callees_that_stay_are_simplified_too():
    sdfg = parse("""
        sdfg @f(A: f64[4]) { state { call @g (x = A[0:4]) } }
        sdfg @g(x: f64[4]) {
          loop i = 0:4 {
            state { tasklet (a <- x[i]) -> (o -> x[i]) { o = a + 1 } }
            state { tasklet (a <- x[i]) -> (o -> x[i]) { o = a * 2 } }
            if x[i] > 0 { return }
          }
        }""")
    simplify(sdfg, check=True)
    (call,) = sdfg.body.walk_calls()
    assert len(call.sdfg.body.blocks[0].body.blocks) == 2


def test_simplify_says_what_it_is():
    names = [str(step) for step in SIMPLIFY.parts()]
    assert names[0] == "inline-call"
    assert len(set(names)) == len(names) >= 14


def test_simplify_reaches_one_state():
    sdfg = parse("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          data t: f64[N] transient
          data c: f64 transient
          data k: i64 transient
          state { tasklet () -> (o -> c) { o = f64(2) } }
          state { tasklet () -> (o -> k) { o = N + 1 } }
          let j = k[]
          if j > N { state { map i = 0:N { tasklet (a <- A[i], c <- c) -> (o -> t[i]) { o = a * c } } } }
          else { return }
          state { map i2 = 0:j - 1 { tasklet (a <- t[i2]) -> (o -> B[i2]) { o = a + 1 } } }
          return
          state { copy A[0:N] -> B[0:N] }
        }""")
    before = parse(print_sdfg(sdfg))
    simplify(sdfg, check=True)
    assert [type(block) for block in sdfg.body.blocks] == [State, Return]
    assert_same_values(before, sdfg, {"N": [0, 1, 5]})
    again = print_sdfg(sdfg)
    assert simplify(sdfg).applied == 0
    assert_same_text(print_sdfg(sdfg), again)


def many_statements(count: int) -> Sdfg:
    lines = ["sdfg @f(A: f64[N]) symbols(N: size) {"]
    for k in range(count):
        lines += [f"data t{k}: f64[N] transient data c{k}: f64 transient"]
    for k in range(count):
        source = f"t{k - 1}" if k else "A"
        lines += [
            f"state {{ tasklet () -> (o -> c{k}) {{ o = f64({k}) }} }}",
            f"let k{k} = N - {k}",
            f"state {{ map i{k} = 0:N {{ tasklet (a <- {source}[i{k}], c <- c{k}) -> (o -> t{k}[i{k}])"
            f" {{ o = a + c * f64(k{k}) }} }} }}",
        ]
    lines += [f"state {{ copy t{count - 1}[0:N] -> A[0:N] }} }}"]
    return parse("\n".join(lines))


def calls_per_statement(count: int) -> float:
    sdfg = many_statements(count)
    return calls_of(lambda: simplify(sdfg)) / count


def test_simplify_is_linear():
    calls_per_statement(10)  # the first run fills caches
    assert calls_per_statement(400) < 1.05 * calls_per_statement(100)


@pytest.mark.perf
def test_simplify_is_quick():
    seconds = {count: min(simplify(many_statements(count)).seconds for _ in range(3)) for count in (250, 1000)}
    assert seconds[1000] / 1000 < 1.3 * seconds[250] / 250
    assert seconds[1000] < 4
