"""CallsInStages: calls that wait for each other are in loops of their own over one tile; else they stay together."""

import numpy as np
import pytest

import dcpy
from dcpy.transforms.cpu.calls_in_stages import CallsInStages
from tests.support.passes import Passed


def staged(text):
    return Passed(text, CallsInStages())


def test_a_call_that_waits_for_another_one_is_in_a_loop_of_its_own():
    staged("""
        sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) {
          state {
            map i = 0:N {
              data e: f64 transient
              data t: f64 transient
              tasklet (a <- x[i]) -> (o -> e) { o = exp(a) }
              tasklet (a <- e) -> (o -> t) { o = a + 1.0 }
              tasklet (a <- t) -> (o -> y[i]) { o = log(a) }
            }
          }
        }""").becomes("""
        sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) {
          state {
            map i_tile = 0:N:256 {
              data e: f64[256] transient
              state {
                map i = i_tile:min(N, i_tile + 256) {
                  tasklet (a <- x[i]) -> (o -> e[i - i_tile]) { o = exp(a) }
                }
              }
              state {
                map i_1 = i_tile:min(N, i_tile + 256) {
                  data t: f64 transient
                  tasklet (a <- e[i_1 - i_tile]) -> (o -> t) { o = a + 1.0 }
                  tasklet (a <- t) -> (o -> y[i_1]) { o = log(a) }
                }
              }
            }
          }
        }""").same_values(N=[0, 1, 256, 600]).says("calls that wait for each other are in 2 loops over tiles")


def test_a_stage_ends_where_fewest_values_go_on():
    passed = staged(
        """
        sdfg @f(x: f64[N], y: f64[N], z: f64[N, 3]) symbols(N: size) {
          state {
            map i = 0:N {
              data a: f64 transient
              data b: f64 transient
              data c: f64 transient
              data l: f64 transient
              data r: f64 transient
              tasklet (p <- x[i]) -> (o -> a) { o = sin(p) }
              tasklet (p <- y[i]) -> (o -> b) { o = cos(p) }
              tasklet (p <- a, q <- b) -> (o -> c) { o = p * q }
              tasklet (p <- c) -> (o -> l) { o = sqrt(p * p) }
              tasklet (p <- c) -> (o -> r) { o = 1.0 - p }
              tasklet (p <- l, q <- r) -> (o -> z[i, 0]) { o = atan2(p, q) }
              tasklet (p <- x[i]) -> (o -> z[i, 1]) { o = 2.0 * p }
            }
          }
        }""".replace("(o -> z[i, 1])", "(o -> w[i])").replace("z: f64[N, 3]", "z: f64[N, 3], w: f64[N]")
    )
    passed.same_values(N=[1, 300])
    arrays = [line.strip() for line in passed.text.splitlines() if "[256]" in line]
    assert arrays == ["data c: f64[256] transient"]


def test_each_level_of_calls_is_a_stage_whatever_the_order_is():
    passed = staged("""
        sdfg @f(x: f64[M, N], y: f64[M, N], z: f64[M, N]) symbols(M: size, N: size) {
          state {
            map i = 0:M, j = 0:N {
              data a: f64 transient
              data b: f64 transient
              data c: f64 transient
              tasklet (p <- x[i, j]) -> (o -> a) { o = exp(p) }
              tasklet (p <- a) -> (o -> b) { o = sin(p) }
              tasklet (p <- b) -> (o -> y[i, j]) { o = atan(p) }
              tasklet (p <- x[i, j]) -> (o -> c) { o = cos(p) }
              tasklet (p <- c) -> (o -> z[i, j]) { o = p + 1.0 }
            }
          }
        }""").same_values(M=[2], N=[1, 257])
    passed.says("in 3 loops over tiles")
    first = passed.text.index("cos(p)")
    assert passed.text.index("exp(p)") < first < passed.text.index("sin(p)") < passed.text.index("atan(p)")


TWO = """
    sdfg @f(x: f64[N], y: f64[N], A: f64[N, N], s: f64[1], k: i64[N]) symbols(N: size) {{
      state {{ map i = {domain} {{ {more} data t: f64 transient {body} }} }}
    }}"""
CHAIN = "tasklet (a <- {}) -> (o -> t) {{ o = exp(a) }} tasklet (a <- t) -> (o -> {}) {{ o = log(a) }}"


@pytest.mark.parametrize(
    ("body", "domain", "reason"),
    [
        (CHAIN.format("x[i]", "s[0] (add)"), "0:N", "results are combined"),
        (CHAIN.format("x[i]", "x[i]"), "0:N", "'x' is read and written"),
        (CHAIN.format("A[i, 0]", "A[i, 1]"), "0:N", "'A' is read and written"),
        (CHAIN.format("A[i, 0]", "A[i, 1]").replace("<- A", "<- B"), "0:N", "memory follows no parameter"),
        (CHAIN.format("x[i]", "y[i]"), "0:200", "there is no more than a tile"),
        (CHAIN.format("x[i]", "y[i]"), "0:N:2", "it goes in steps of 2"),
        (CHAIN.format("x[i]", "y[i]") + CHAIN.format("x[i]", "A[0, i]"), "0:N", "'t' is written twice"),
        (CHAIN.format("x[i]", "y[i]"), "0:N @sequential", "the map has a schedule"),
    ],
)
def test_what_keeps_calls_together(body, domain, reason):
    text = TWO.format(body=body, domain=domain, more="").replace("A: f64", "B: f64[N, N], A: f64")
    passed = staged(text).says(f"calls wait for each other: {reason}", applied=False)
    assert "_tile" not in passed.text


@pytest.mark.parametrize(
    "body",
    [
        "tasklet (a <- x[i]) -> (o -> t) { o = exp(a) * sin(a) } tasklet (a <- t) -> (o -> y[i]) { o = a + 1.0 }",
        "tasklet (a <- x[i]) -> (o -> t) { o = sqrt(a) } tasklet (a <- t) -> (o -> y[i]) { o = sqrt(a) / 3.0 }",
    ],
)
def test_calls_that_do_not_wait_for_each_other_are_no_stages(body):
    passed = staged(TWO.format(body=body, domain="0:N", more=""))
    assert passed.remarks == []
    assert "_tile" not in passed.text


@pytest.mark.cc
def test_results_do_not_depend_on_stages():
    def chain(x, y):
        return np.arctan2(np.log1p(np.exp(x)), np.cos(np.sin(y)))

    program = dcpy.program(chain, auto_optimize=True)
    for shape in ((5,), (1000,), (3, 700)):
        x, y = np.random.default_rng(0).random((2, *shape))
        np.testing.assert_allclose(program(x, y), chain(x, y), rtol=1e-14)
