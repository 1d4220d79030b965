"""StateFusion: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.simplify.control_flow.state_fusion import StateFusion
from tests.support.expect import expect, parse


def test_appends_the_nodes_of_the_next_state():
    expect(
        StateFusion(),
        on=parse("""
            sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
              data tmp: f64[N] transient
              state { map i = 0:N { tasklet (a <- A[i]) -> (o -> tmp[i]) { o = a + 1 } } }
              state second { map j = 0:N { tasklet (a <- tmp[j]) -> (o -> B[j]) { o = a * 2 } } }
              state { copy B[0:N] -> A[0:N] }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          data tmp: f64[N] transient
          state second {
            map i = 0:N { tasklet (a <- A[i]) -> (o -> tmp[i]) { o = a + 1 } }
            map j = 0:N { tasklet (a <- tmp[j]) -> (o -> B[j]) { o = a * 2 } }
            copy B[0:N] -> A[0:N]
          }
        }""").same_values(N=[0, 1, 7])


def test_fuses_inside_of_loops_and_maps():
    expect(
        StateFusion(),
        on=parse("""
            sdfg @f(A: f64[N]) symbols(N: size) {
              loop t = 0:3 {
                state { map i = 0:N { data x: f64 transient
                                      state { tasklet (a <- A[i]) -> (o -> x) { o = a + 1 } }
                                      state { tasklet (a <- x) -> (o -> A[i]) { o = a * 2 } } } }
              }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N]) symbols(N: size) {
          loop t = 0:3 {
            state { map i = 0:N { data x: f64 transient
                                  tasklet (a <- A[i]) -> (o -> x) { o = a + 1 }
                                  tasklet (a <- x) -> (o -> A[i]) { o = a * 2 } } }
          }
        }""").same_values(N=[0, 5])


def test_states_apart_stay_apart():
    sdfg = parse("""
        sdfg @f(A: f64[N]) symbols(N: size) {
          state { tasklet () -> (o -> A[0]) { o = f64(1) } }
          if N > 1 { state { tasklet () -> (o -> A[0]) { o = f64(2) } } }
          state { tasklet () -> (o -> A[0]) { o = f64(3) } }
        }""")
    assert expect(StateFusion(), on=sdfg).reasons() == []
