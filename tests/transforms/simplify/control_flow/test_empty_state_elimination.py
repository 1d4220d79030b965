"""EmptyStateElimination: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.simplify.control_flow.empty_state_elimination import EmptyStateElimination
from tests.support.expect import expect, parse


def test_takes_out_blocks_that_do_nothing():
    expect(
        EmptyStateElimination(),
        on=parse("""
            sdfg @f(A: f64[N]) symbols(N: size) {
              state { }
              loop i = 0:N { if N > i { data t: f64 transient state { } } else { state { } } }
              state { map j = 0:N { tasklet () -> (o -> A[j]) { o = f64(1) } } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N]) symbols(N: size) {
          state { map j = 0:N { tasklet () -> (o -> A[j]) { o = f64(1) } } }
        }""").same_values(N=[0, 3])


def test_a_state_with_nodes_stays():
    expect(
        EmptyStateElimination(),
        on=parse("sdfg @f(A: f64) { data t: f64 transient state { tasklet (a <- A) -> (o -> t) { o = a } } }"),
    ).is_refused("the state has nodes")


def test_a_while_that_may_never_end_stays():
    expect(
        EmptyStateElimination(),
        on=parse("sdfg @f(A: f64) { while A[] > 0 { } }"),
    ).is_refused("a while does something by itself")
