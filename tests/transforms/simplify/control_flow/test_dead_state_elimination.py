"""DeadStateElimination: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.simplify.control_flow.dead_state_elimination import DeadStateElimination
from tests.support.expect import expect, parse


def test_nothing_runs_after_a_return():
    expect(
        DeadStateElimination(),
        on=parse("""
            sdfg @f(A: f64[N], c: f64) symbols(N: size) {
              if c[] > 0 {
                state { tasklet () -> (o -> A[0]) { o = f64(1) } }
                return
                state { tasklet () -> (o -> A[0]) { o = f64(2) } }
                loop i = 0:N { state { tasklet () -> (o -> A[i]) { o = f64(3) } } }
              } else { return }
              state { tasklet () -> (o -> A[0]) { o = f64(4) } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], c: f64) symbols(N: size) {
          if c[] > 0 {
            state { tasklet () -> (o -> A[0]) { o = f64(1) } }
            return
          } else { return }
        }""").same_values(N=[1, 3], c=[-1.0, 1.0])


def test_loops_that_run_zero_times_go():
    expect(
        DeadStateElimination(),
        on=parse("""
            sdfg @f(A: f64[N]) symbols(N: size) {
              loop i = N:0 { state { tasklet () -> (o -> A[0]) { o = f64(1) } } }
              loop i2 = 0:N + 1:-1 { state { tasklet () -> (o -> A[0]) { o = f64(2) } } }
              while 1 > 2 { state { tasklet () -> (o -> A[0]) { o = f64(3) } } }
              loop i3 = 0:N { state { tasklet () -> (o -> A[i3]) { o = f64(4) } } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N]) symbols(N: size) {
          loop i3 = 0:N { state { tasklet () -> (o -> A[i3]) { o = f64(4) } } }
        }""").same_values(N=[0, 3])


def test_a_check_that_always_holds_goes():
    expect(
        DeadStateElimination(),
        on=parse("""
            sdfg @f(A: f64[N], k) symbols(N: size, k: i64) {
              check k < N else IndexError "index {0} is out of bounds" (k)
              loop i = 0:N { check i < N else IndexError "never" state { tasklet () -> (o -> A[i]) { o = f64(4) } } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], k) symbols(N: size, k: i64) {
          check k < N else IndexError "index {0} is out of bounds" (k)
          loop i = 0:N { state { tasklet () -> (o -> A[i]) { o = f64(4) } } }
        }""").same_values(N=[0, 3], k=[1, 5])


def test_a_branch_with_a_way_through_is_no_end():
    expect(
        DeadStateElimination(),
        on=parse("""
            sdfg @f(A: f64[1], c: f64) {
              if c[] > 0 { return }
              state { tasklet () -> (o -> A[0]) { o = f64(4) } }
            }"""),
    ).is_refused("what comes after it can be reached")


def test_a_return_at_the_end_stays():
    expect(DeadStateElimination(), on=parse("sdfg @f(A: f64[1]) { return }")).is_refused("nothing comes after it")
