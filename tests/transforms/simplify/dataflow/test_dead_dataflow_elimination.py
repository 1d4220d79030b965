"""DeadDataflowElimination: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.simplify.dataflow.dead_dataflow_elimination import DeadDataflowElimination
from tests.support.expect import expect, parse


def test_a_chain_that_ends_nowhere_goes():
    expect(
        DeadDataflowElimination(),
        on=parse("""
            sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
              data t: f64[N] transient
              data u: f64[N] transient
              state { copy A[0:N] -> t[0:N]
                      map i = 0:N { data x: f64 transient
                                    tasklet (a <- t[i]) -> (o -> x) { o = a + 1 }
                                    tasklet (x <- x) -> (o -> u[i]) { o = x } }
                      copy A[0:N] -> B[0:N] }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          state { copy A[0:N] -> B[0:N] }
        }""").same_values(N=[0, 3])


def test_a_tasklet_keeps_what_is_needed():
    expect(
        DeadDataflowElimination(),
        on=parse("""
            sdfg @f(A: f64[4]) {
              data t: f64 transient
              state { tasklet (a <- A[0], b <- A[1], c <- A[2]) -> (o -> A[3], p -> t) {
                        s = a + a; r = b + b; o = s; p = r } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[4]) {
          state { tasklet (a <- A[0]) -> (o -> A[3]) { s = a + a; o = s } }
        }""").same_values()


def test_s5_an_element_that_is_assigned_to_itself_stays_what_it_is():
    """S-5: with it, ``if a[i] > 0: s += a[i]`` is the conditional sum that it looks like."""
    expect(
        DeadDataflowElimination(),
        on=parse("""
            sdfg @f(A: f64[N]) symbols(N: size) {
              data s: f64 transient
              state { tasklet () -> (o -> s) { o = 1.0 }
                      tasklet (x <- s) -> (o -> s) { o = x }
                      tasklet (x <- s, a <- A[0]) -> (o -> s, p -> A[0]) { o = x; p = a }
                      tasklet (x <- s) -> (o -> A[1]) { o = x } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N]) symbols(N: size) {
          data s: f64 transient
          state { tasklet () -> (o -> s) { o = 1.0 }
                  tasklet (a <- A[0]) -> (p -> A[0]) { p = a }
                  tasklet (x <- s) -> (o -> A[1]) { o = x } }
        }""").same_values(N=[2, 3])


def test_a_sum_that_only_feeds_itself_goes():
    expect(
        DeadDataflowElimination(),
        on=parse("""
            sdfg @f(A: f64[N]) symbols(N: size) {
              data s: f64 transient
              loop i = 0:N { state { tasklet (a <- A[i], s <- s) -> (o -> s) { o = s + a } } }
            }"""),
    ).becomes("sdfg @f(A: f64[N]) symbols(N: size) { loop i = 0:N { state { } } }").same_values(N=[3])


def refused(body: str, reason: str) -> None:
    header = "sdfg @f(A: f64[N]) symbols(N: size) { data t: f64[N] transient "
    expect(DeadDataflowElimination(), on=parse(header + body + " }")).is_refused(reason)


def test_refuses_a_write_to_an_argument():
    refused("state { tasklet () -> (o -> A[0]) { o = f64(1) } }", "'A' is an argument")


def test_refuses_a_write_through_a_view():
    refused("view v: f64[N - 1] of A[1:N] state { tasklet () -> (o -> v[0]) { o = f64(1) } }", "'A' is an argument")


def test_refuses_what_a_check_reads():
    body = 'state { tasklet () -> (o -> t[0]) { o = f64(1) } } check t[0] > 0 else ValueError "no"'
    refused(body, "'t' is read")


def test_refuses_what_is_read_through_a_view():
    body = "view v: f64[N - 1] of t[1:N] state { copy A[0:N] -> t[0:N] copy v[0:N - 1] -> A[1:N] }"
    refused(body, "'v' is read")


def test_keeps_a_call_that_may_raise():
    text = """
        sdfg @f(A: f64[N]) symbols(N: size) {
          data t: f64[N] transient
          state { call @g (x = t[0:N]) with (N = N) }
        }
        sdfg @g(x: f64[N]) symbols(N: size) {
          check N > 1 else ValueError "too short"
          state { tasklet () -> (o -> x[0]) { o = f64(1) } }
        }"""
    expect(DeadDataflowElimination(), on=parse(text)).is_refused("g may raise an exception")


def test_what_the_next_iteration_reads_stays():
    text = """
        sdfg @f(a: f64, x: f64[N]) symbols(N: size) -> (out: array) {
          data out: f64[N]
          data s: f64 transient
          data u: f64 transient
          state { tasklet (v <- a) -> (o -> s) { o = v } }
          loop i = 0:N {
            state { tasklet (p <- s, q <- x[i], w <- u) -> (o -> s, r -> out[i], t -> u) { o = p * q; r = p + q; t = w * q } }
          }
        }"""  # noqa: E501
    shorter = text.replace(", w <- u", "").replace(", t -> u", "").replace("; t = w * q", "")
    expect(DeadDataflowElimination(), on=parse(text)).becomes(shorter.replace("data u: f64 transient", ""))
