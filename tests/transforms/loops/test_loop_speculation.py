"""LoopSpeculation: shape, value (with and without exceptions), refusal. What nobody sees may be computed in vain."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.transforms.loops.loop_speculation import LoopSpeculation
from tests.support.expect import expect, parse

HEAD = "sdfg @f(a: f64[N], b: f64[M], p: i64[N], q: i64[M]) symbols(N: size, M: size)"
REST = "state { map j = 0:N { tasklet (x <- t[j]) -> (o -> a[j]) { o = x } } }"


def program(body, data="data t: f64[N] transient"):
    return parse(f"{HEAD} {{ {data} {body} {REST} }}")


GATHER = "loop i = 0:N { let k = wrap(p[i], M, 0)  state { tasklet (x <- b[k]) -> (o -> t[i]) { o = x } } }"


def test_iterations_that_fail_say_so():
    expect(LoopSpeculation(), on=program(GATHER)).becomes(f"""{HEAD} {{
        data t: f64[N] transient
        data first: i64[1] transient
        state {{ tasklet () -> (out -> first[0]) {{ out = N }} }}
        loop i_1 = 0:N {{
          data bad: i64 transient
          state {{ tasklet () -> (out -> bad) {{ out = N }} }}
          state {{ tasklet (x0 <- p[i_1]) -> (out -> bad (min)) {{ out = select(x0 < -M or x0 >= M, i_1, N) }} }}
          if bad[] < N {{
            let slot = bad[] - i_1
            state {{ tasklet (a <- bad) -> (out -> first[slot] (min)) {{ out = a }} }}
          }} else {{
            let k_1 = select(p[i_1] < 0, p[i_1] + M, p[i_1])
            state {{ tasklet (x <- b[k_1]) -> (o -> t[i_1]) {{ o = x }} }}
          }}
        }}
        let F = first[0]
        if F < N {{ loop i = F:F + 1 {{ let k = wrap(p[i], M, 0)
          state {{ tasklet (x <- b[k]) -> (o -> t[i]) {{ o = x }} }} }} }}
        {REST}
        }}""").same_values(N=[0, 4], M=[0, 2, 5], p=[np.array([0, 1, -2, 4]), np.array([0, 1, -1, -2])])


def test_what_an_iteration_computes_for_its_checks_is_computed_first():
    on = program("""loop i = 0:N { data s: i64 transient
        state { tasklet (x <- p[i]) -> (o -> s) { o = 2 * x } }
        if s[] > 0 { state { tasklet (x <- s) -> (o -> s) { o = x - 1 } } }
        check s[] < 4 else ValueError "large"
        let k = wrap(s[], M, 0)
        state { tasklet (x <- b[k]) -> (o -> t[i]) { o = x } } }""")
    found = expect(LoopSpeculation(), on=on)
    for p in ([0, 1, 0], [0, 1, 2], [0, 5, 2], [0, -2, 5]):
        found.same_values(N=[3], M=[2], p=[np.array(p)])


def test_nothing_is_read_where_an_inner_map_has_failed():
    """The second map computes what the last check depends on, from elements that the first map has looked at."""
    on = program("""loop i = 0:N { data s: f64 transient
        state { map l = 0:2 { let k = wrap(p[i] + l, M, 0) }
                tasklet () -> (o -> s) { o = 0.0 }
                map m = 0:2 { let k = select(p[i] + m < 0, p[i] + m + M, p[i] + m)
                              state { tasklet (x <- b[k]) -> (o -> s (add)) { o = x } } } }
        check s[] < 1e300 else ValueError "large"
        state { tasklet (x <- s) -> (o -> t[i]) { o = x } } }""")
    found = expect(LoopSpeculation(), on=on)
    for p in ([0, 1, 0], [0, 99, 0], [-2, -2, -9]):
        found.same_values(N=[3], M=[3], p=[np.array(p)])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("loop i = 0:N { state { tasklet (x <- b[0]) -> (o -> t[i]) { o = x } } }", "nothing inside ends it early"),
        (GATHER.replace("t[i]", "a[i]"), "the caller sees what is in 'a' if it raises"),
        (GATHER.replace("0:N", "0:N:2"), "its values do not go up one by one"),
        (GATHER.replace("t[i]", "t[k]"), "t[k]"),
        (GATHER.replace("} } }", "} } if q[0] > 0 { break } }"), "a break inside may end it early"),
        (
            GATHER.replace("o = x }", "o = x } tasklet (x <- t[i]) -> (o -> t[i]) { o = x + 1.0 }"),
            "it reads 't', which it writes",
        ),
    ],
)
def test_it_is_refused(body, reason):
    expect(LoopSpeculation(), on=program(body)).is_refused(reason)


def test_containers_are_where_their_sizes_are_known():
    """A size that each iteration computes is known where it does something; a fuzzer found it."""
    body = """loop i = 0:N {
      data part: f64[M - s] transient
      check p[i] > 0 else ValueError "no"
      let s = q[0] % 2
      state { map m = 0:M - s { tasklet (x <- b[m]) -> (o -> part[m]) { o = x } }
              tasklet (x <- b[0]) -> (o -> t[i]) { o = x } } }"""
    found = expect(LoopSpeculation(), on=program(body))
    for p in ([1, 2, 3], [1, -2, 3]):
        found.same_values(N=[3], M=[2], p=[np.array(p)], q=[np.array([1, 0])])
