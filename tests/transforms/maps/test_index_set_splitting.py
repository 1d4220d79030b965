"""IndexSetSplitting and CallFission: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.maps.call_fission import CallFission
from dcpy.transforms.maps.index_set_splitting import IndexSetSplitting
from tests.support.expect import expect, parse


def _of(code="a", domain="i = 0:M, j = 0:N", index="N*max(0, min(1, 1 - j)) + j - 1"):
    return parse(f"""
        sdfg @f(x: f64[M, N], y: f64[M, N]) symbols(M: size, N: size) assumes(N >= 1) {{
          state {{
            map {domain} {{ tasklet (a <- x[i, {index}]) -> (o -> y[i, j]) {{ o = {code} }} }}
          }}
        }}""")


def test_a_row_is_split_where_the_index_jumps():
    expect(IndexSetSplitting(), on=_of()).becomes("""
        sdfg @f(x: f64[M, N], y: f64[M, N]) symbols(M: size, N: size) assumes(N >= 1) {
          state {
            map i = 0:M {
              state {
                map j = 0:1 { tasklet (a <- x[i, N + j - 1]) -> (o -> y[i, j]) { o = a } }
                map j_1 = 1:N { tasklet (a <- x[i, j_1 - 1]) -> (o -> y[i, j_1]) { o = a } }
              }
            }
          }
        }""").same_values(M=[1, 3], N=[1, 2, 7])


def test_a_jump_at_a_place_that_is_not_known_to_be_inside():
    expect(
        IndexSetSplitting(),
        on=parse("""
            sdfg @f(x: f64[N], y: f64[N]) symbols(N: size, K: i64) assumes(N >= 1) {
              state {
                map i = 0:N {
                  tasklet (a <- x[(N - 1)*max(0, min(1, K - i))]) -> (o -> y[i]) { o = a }
                }
              }
            }"""),
    ).applies().same_values(N=[1, 4], K=[-3, 0, 2, 9])


def test_what_never_jumps_is_not_split():
    expect(IndexSetSplitting(), on=_of(domain="i = 0:M, j = 1:N")).becomes("""
        sdfg @f(x: f64[M, N], y: f64[M, N]) symbols(M: size, N: size) assumes(N >= 1) {
          state { map i = 0:M, j = 1:N { tasklet (a <- x[i, j - 1]) -> (o -> y[i, j]) { o = a } } }
        }""")


@pytest.mark.parametrize("index", ["j", "max(0, j - 1)", "min(1, 1 - j) + N - 1"])
def test_maps_without_jumps_stay(index):
    expect(IndexSetSplitting(), on=_of(index=index)).is_refused("no index jumps along its last parameter")


def test_functions_leave_a_map_whose_rows_are_split():
    expect(CallFission(), on=_two_steps("b = exp(t)", "o = b + 1.0")).becomes("""
        sdfg @f(x: f64[M, N], y: f64[M, N]) symbols(M: size, N: size) assumes(N >= 1) {
          data t: f64[M, N] transient
          state {
            map i = 0:M, j = 0:N {
              tasklet (a <- x[i, N*max(0, min(1, 1 - j)) + j - 1]) -> (o -> t[i, j]) { o = a * 2.0 }
            }
            map i_1 = 0:M, j_1 = 0:N {
              data u: f64 transient
              tasklet (t <- t[i_1, j_1]) -> (b -> u) { b = exp(t) }
              tasklet (b <- u) -> (o -> y[i_1, j_1]) { o = b + 1.0 }
            }
          }
        }""").same_values(M=[1, 3], N=[1, 5])


def test_maps_without_functions_stay_one():
    expect(CallFission(), on=_two_steps("b = t / 3.0", "o = sqrt(b)")).is_refused("it calls no function")


def _two_steps(second, third):
    return parse(f"""
        sdfg @f(x: f64[M, N], y: f64[M, N]) symbols(M: size, N: size) assumes(N >= 1) {{
          state {{
            map i = 0:M, j = 0:N {{
              data t: f64 transient
              data u: f64 transient
              tasklet (a <- x[i, N*max(0, min(1, 1 - j)) + j - 1]) -> (o -> t) {{ o = a * 2.0 }}
              tasklet (t <- t) -> (b -> u) {{ {second} }}
              tasklet (b <- u) -> (o -> y[i, j]) {{ {third} }}
            }}
          }}
        }}""")
