"""RedundantCheckElimination: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.simplify.dataflow.redundant_check_elimination import RedundantCheckElimination
from tests.support.expect import expect, parse


def test_what_was_checked_is_not_checked_again():
    expect(
        RedundantCheckElimination(),
        on=parse("""
            sdfg @f(x: i64[K], A: f64[N, K], B: f64[K]) symbols(N: size, K: size) {
              state {
                map i = 0:K { let k = wrap(x[i], N, 0) }
                map j = 0:K { let k_1 = wrap(x[j], K, 1) }
                map a = 0:K { tasklet (v <- A[0, a]) -> (o -> B[a]) { o = v + 1.0 } }
                map l = 0:K { let k_2 = wrap(x[l], N, 0) }
              }
              state { map n = 0:K { let k_3 = wrap(x[n], K, 1) } }
            }"""),
    ).becomes("""
        sdfg @f(x: i64[K], A: f64[N, K], B: f64[K]) symbols(N: size, K: size) {
          state {
            map i = 0:K { let k = wrap(x[i], N, 0) }
            map j = 0:K { let k_1 = wrap(x[j], K, 1) }
            map a = 0:K { tasklet (v <- A[0, a]) -> (o -> B[a]) { o = v + 1.0 } }
          }
        }""").same_values(N=[5, 9], K=[4, 3])


@pytest.mark.parametrize(
    ("between", "second", "why"),
    [
        ("map a = 0:K { tasklet () -> (o -> x[a]) { o = 7 } }", "map l = 0:K { let m = wrap(x[l], N, 0) }", "written"),
        ("", "map l = 0:K { let m = wrap(x[l], K, 0) }", "nothing before it checks the same"),
        ("", "map l = 0:K + 1 { let m = wrap(x[l], N, 0) }", "nothing before it checks the same"),
        ("", "map l = 0:K { tasklet (v <- x[l]) -> (o -> x[l]) { o = v } }", "it does more than check"),
    ],
)
def test_another_check_stays(between, second, why):
    text = f"""
        sdfg @f(x: i64[K]) symbols(N: size, K: size) {{
          state {{
            map i = 0:K {{ let k = wrap(x[i], N, 0) }}
            {between}
            {second}
          }}
        }}"""
    expect(RedundantCheckElimination(), on=parse(text)).is_refused(why)
