"""DeadBranchElimination: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.simplify.control_flow.dead_branch_elimination import DeadBranchElimination
from tests.support.expect import expect, parse


def test_a_condition_that_always_holds_leaves_its_case():
    expect(
        DeadBranchElimination(),
        on=parse("""
            sdfg @f(A: f64[N]) symbols(N: size) {
              if N + 1 > 0 { data t: f64 transient
                             state { tasklet () -> (o -> t) { o = f64(1) }
                                     tasklet (t <- t) -> (o -> A[0]) { o = t } } }
              else { data u: f64 transient
                     state { tasklet () -> (o -> A[0]) { o = f64(2) } } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N]) symbols(N: size) {
          data t: f64 transient
          state { tasklet () -> (o -> t) { o = f64(1) }
                  tasklet (t <- t) -> (o -> A[0]) { o = t } }
        }""").same_values(N=[1, 3])


def test_cases_that_cannot_be_taken_go():
    expect(
        DeadBranchElimination(),
        on=parse("""
            sdfg @f(A: f64[N], c: f64) symbols(N: size) {
              if N < 0 { state { tasklet () -> (o -> A[0]) { o = f64(1) } } }
              elif c[] > 0 { state { tasklet () -> (o -> A[0]) { o = f64(2) } } }
              elif N >= 0 { state { tasklet () -> (o -> A[0]) { o = f64(3) } } }
              else { state { tasklet () -> (o -> A[0]) { o = f64(4) } } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], c: f64) symbols(N: size) {
          if c[] > 0 { state { tasklet () -> (o -> A[0]) { o = f64(2) } } }
          else { state { tasklet () -> (o -> A[0]) { o = f64(3) } } }
        }""").same_values(N=[1, 3], c=[-1.0, 1.0])


def test_a_branch_never_taken_goes():
    expect(
        DeadBranchElimination(),
        on=parse("""
            sdfg @f(A: f64[N]) symbols(N: size) {
              loop i = 0:N { if i >= N or i < 0 { state { tasklet () -> (o -> A[0]) { o = f64(1) } } } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N]) symbols(N: size) { loop i = 0:N { } }""").same_values(N=[0, 3])


def test_an_open_question_stays():
    expect(
        DeadBranchElimination(),
        on=parse("sdfg @f(A: f64[N]) symbols(N: size) { if N > 1 { state { copy A[0:N] -> A[0:N] } } }"),
    ).is_refused("no condition has an answer")
