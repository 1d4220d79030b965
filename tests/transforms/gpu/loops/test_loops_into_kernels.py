"""LoopsIntoKernels: each thread runs a loop for its own point; where points meet it stays a loop of launches."""

import pytest

from dcpy.transforms.gpu.loops.loops_into_kernels import LoopsIntoKernels
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.support.passes import Passed


def moved(text):
    return Passed(text, PlaceComputation(), LoopsIntoKernels())


def test_the_loop_goes_into_one_kernel_with_what_it_carries_in_a_register():
    moved("""
        sdfg @f(A: f64[N], B: f64[N, M]) symbols(N: size, M: size {least = 2}) {
          loop t = 1:M {
            data u: f64[N] transient
            data c: f64 transient
            state {
              tasklet () -> (o -> c) { o = 2.0 * f64(t) }
              map i = 0:N { tasklet (a <- A[i], b <- B[i, t - 1]) -> (o -> u[i]) { o = a * b } }
              map j = 0:N { tasklet (a <- A[j], b <- u[j], f <- c) -> (o -> A[j]) { o = a + b * f } }
              copy A[0:N] -> B[0:N, t]
            }
          }
        }""").becomes("""
        sdfg @f(A: f64[N], B: f64[N, M]) symbols(N: size, M: size {least = 2}) {
          state {
            map i = 0:N @grid {
              data own: f64 transient
              state { tasklet (a <- A[i]) -> (out -> own) { out = a } }
              loop t = 1:M {
                data c: f64 transient
                data u: f64 transient
                state { tasklet () -> (o -> c) { o = 2.0 * f64(t) } }
                state { tasklet (a <- own, b <- B[i, t - 1]) -> (o -> u) { o = a * b } }
                state { tasklet (a <- own, b <- u, f <- c) -> (o -> own) { o = a + b * f } }
                state { tasklet (a <- own) -> (out -> B[i, t]) { out = a } }
              }
              state { tasklet (a <- own) -> (out -> A[i]) { out = a } }
            }
          }
        }""").same_values(N=[0, 1, 3], M=[2, 4]).says(
        "map i: each thread runs the loop over t", "A: in a register of each thread"
    )


def test_points_are_the_same_where_ranges_are_shifted():
    moved("""
        sdfg @f(A: f64[N + 1], B: f64[N]) symbols(N: size) {
          loop t = 0:4 {
            state {
              map i = 0:N { tasklet (a <- B[i]) -> (o -> A[i + 1]) { o = a } }
              map j = 1:N + 1 { tasklet (a <- A[j]) -> (o -> B[j - 1]) { o = 0.5 * a } }
            }
          }
        }""").same_values(N=[1, 5]).says("map i: each thread runs the loop over t")


def test_what_points_share_is_computed_again_by_each():
    passed = moved("""
        sdfg @f(A: f64[N], w: f64[N + 1]) symbols(N: size) {
          loop t = 0:5 {
            data u: f64[N + 1] transient
            state {
              map i = 0:N + 1 { tasklet (a <- w[i]) -> (o -> u[i]) { o = a * f64(t) } }
              map j = 0:N { tasklet (a <- A[j], b <- u[j], c <- u[j + 1]) -> (o -> A[j]) { o = a + b * c } }
            }
          }
        }""").same_values(N=[1, 5])
    passed.says("loop t: 'u' is recomputed at each point that reads it", "each thread runs the loop over t")
    assert "f64[N + 1] transient" not in passed.text


def test_loops_and_branches_on_counters_go_along():
    moved("""
        sdfg @f(A: f64[N, 4]) symbols(N: size) {
          loop t = 0:3 {
            loop k = 0:t {
              if k > 0 { state { map i = 0:N { tasklet (a <- A[i, k - 1]) -> (o -> A[i, k]) { o = a + 1.0 } } } }
            }
            state { map j = 0:N { tasklet (a <- A[j, t]) -> (o -> A[j, t + 1]) { o = a + 2.0 } } }
          }
        }""").same_values(N=[1, 3]).says("each thread runs the loop over t")


def test_a_version_without_checks_runs_where_they_surely_hold():
    passed = moved("""
        sdfg @f(A: f64[N, M], n) symbols(n: i64, N: size, M: size) {
          loop t = 1:n {
            check M - t - 1 >= 0 else IndexError "{0}" (t)
            if N - t >= 0 {
              state { map i = 0:N { tasklet (a <- A[i, t - 1]) -> (o -> A[i, t]) { o = a + 1.0 } } }
            } else {
              state { map j = 0:N { tasklet (a <- A[j, t - 1]) -> (o -> A[j, t]) { o = a - 1.0 } } }
            }
          }
        }""")
    passed.same_values(N=[2, 4], M=[3], n=[0, 2, 3]).says("each thread runs the loop over t_1")
    assert passed.text.count("@grid") == 3
    assert passed.text.count("check") == 1


BODY = """
    sdfg @f(A: f64[N, N], s: f64[N], p: i64[N]) symbols(N: size {{least = 3}}) {{
      loop t = 1:N - 1 {{ {body} }}
    }}"""

REFUSED = [
    (
        "state { map i = 1:N { tasklet (a <- A[t, i - 1]) -> (o -> A[t + 1, i]) { o = a } } }",
        "iterations that differ in i use the same element of 'A'",
    ),
    (
        "state { map i = 0:t { tasklet (a <- s[i]) -> (o -> s[i]) { o = a + 1.0 } } }",
        "the range 0:t differs between iterations",
    ),
    (
        "state { map i = 0:N, j = 0:N { tasklet (a <- A[i, j]) -> (o -> s[i] (add)) { o = a } } }",
        "iterations of map i, j add to the same element",
    ),
    (
        "state { map i = 0:N { tasklet (a <- s[i]) -> (o -> s[i]) { o = a + 1.0 } } "
        "map j = 0:2 { tasklet (a <- s[j]) -> (o -> s[j]) { o = a + 1.0 } } }",
        "points differ: 0:2 and 0:N",
    ),
    (
        "if p[t] > 0 { state { map i = 0:N { tasklet (a <- s[i]) -> (o -> s[i]) { o = a + 1.0 } } } }",
        "a branch depends on elements of arrays",
    ),
    (
        "let k = p[t] state { map i = 0:N { tasklet (a <- s[i]) -> (o -> s[i]) { o = a + 1.0 } } }",
        "not only kernels are inside: definition of k",
    ),
]


@pytest.mark.parametrize(("body", "reason"), REFUSED)
def test_stays_a_loop_of_launches(body, reason):
    moved(BODY.format(body=body)).says(reason, applied=False)
