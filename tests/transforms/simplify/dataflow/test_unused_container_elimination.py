"""UnusedContainerElimination: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.simplify.dataflow.unused_container_elimination import UnusedContainerElimination
from tests.support.expect import expect, parse


def test_what_nothing_touches_goes():
    expect(
        UnusedContainerElimination(),
        on=parse("""
            sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
              constant c: f64[2] = {0.5, 0.25}
              data c: f64[2] transient
              data t: f64[N] transient
              data u: f64[N] transient
              view v: f64[N - 1] of u[1:N]
              view w: f64[N - 2] of v[1:N - 1]
              state { map i = 0:N { data x: f64 transient tasklet () -> (o -> A[i]) { o = f64(1) } } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          state { map i = 0:N { tasklet () -> (o -> A[i]) { o = f64(1) } } }
        }""").same_values(N=[0, 3])


def test_what_something_reads_stays():
    expect(
        UnusedContainerElimination(),
        on=parse("""
            sdfg @f(A: f64[N]) symbols(N: size) {
              data t: f64 transient
              if t[] > 0 { state { tasklet () -> (o -> A[0]) { o = f64(1) } } }
            }"""),
    ).is_refused("every container is an argument, a result, or used")
