"""RecomputeFusion: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.fusion.recompute_fusion import RecomputeFusion
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N, N]) symbols(N: size)"
SQUARES = "map i = 0:N { tasklet (a <- A[i]) -> (o -> t[i]) { o = a*a } }"
STENCIL = "map j = 1:N - 1 { tasklet (l <- t[j - 1], r <- t[j + 1]) -> (o -> B[j]) { o = l - r } }"


def program(nodes, data="data t: f64[N] transient"):
    return parse(f"{HEAD} {{ {data} {nodes} }}")


def test_a_stencil_evaluates_its_neighbours_again():
    expect(RecomputeFusion(), on=program(f"state {{ {SQUARES} {STENCIL} }}")).becomes(f"""{HEAD} {{ state {{
        map j = 1:N - 1 {{ data t_1: f64 transient data t_2: f64 transient
            tasklet (a <- A[j - 1]) -> (o -> t_1) {{ o = a*a }}
            tasklet (a <- A[j + 1]) -> (o -> t_2) {{ o = a*a }}
            tasklet (l <- t_1, r <- t_2) -> (o -> B[j]) {{ o = l - r }} }} }} }}
    """).same_values(N=[0, 1, 3, 8])


def test_two_dimensions_and_several_steps():
    """A chain of stencils, each evaluated at the next: the last one reads the input alone."""
    on = parse("""sdfg @f(A: f64[N, N], B: f64[N, N]) symbols(N: size) {
        data t: f64[N, N] transient data u: f64[N - 2, N - 2] transient state {
        map i = 0:N, j = 0:N { tasklet (a <- A[j, i]) -> (o -> t[i, j]) { o = a + 1 } }
        map k = 0:N - 2, l = 0:N - 2 { tasklet (a <- t[k, l], b <- t[k + 2, l + 1]) -> (o -> u[k, l]) { o = a - b } }
        map m = 0:N - 3, n = 0:N - 2 { tasklet (a <- u[m, n], b <- u[m + 1, n]) -> (o -> B[m, n]) { o = a*b } } } }""")
    found = expect(RecomputeFusion(), on=on)
    assert found.reasons() == ["", "", "'B' must stay in memory: it is an argument, a result, or has views"]
    from dcpy.transforms.api import apply_repeated

    assert apply_repeated(found.after, RecomputeFusion(), check=True) == 2
    assert list(found.after.body.containers) == ["A", "B"]
    found.same_values(N=[3, 4, 6])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (f"state {{ {SQUARES} {STENCIL.replace('-> B[j]', '-> A[j]')} }}", "is written before its result is read"),
        (f"state {{ {SQUARES} copy t[0:N] -> B[0:N] }}", "read by a copy"),
        (f"state {{ {SQUARES} }}", "'t' is not read"),
        (f"state {{ {SQUARES.replace('0:N', '1:N')} {STENCIL} }}", "does not compute each element"),
        (f"state {{ {SQUARES} {STENCIL} {STENCIL} {STENCIL} {STENCIL} {STENCIL} }}", "at 10 places: pass reads=10"),
        (f"loop k = 0:2 {{ state {{ {STENCIL} {SQUARES} }} }}", "read elsewhere"),
    ],
)
def test_refusals(nodes, reason):
    expect(RecomputeFusion(), on=program(nodes)).is_refused(reason)
