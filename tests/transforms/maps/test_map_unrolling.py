"""MapUnrolling: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.maps.map_unrolling import MapUnrolling
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, 3], B: f64[N, 3], p: i64[N]) symbols(N: size)"
BODY = "tasklet (a <- A[i, k]) -> (o -> B[i, k]) { o = a + 1 }"


def program(nodes, data=""):
    return parse(f"{HEAD} {{ {data} state {{ {nodes} }} }}")


def test_one_iteration_does_what_those_of_all_values_did():
    each = " ".join(BODY.replace("k]", f"{k}]") for k in range(3))
    expect(MapUnrolling(), on=program(f"map i = 0:N, k = 0:3 {{ {BODY} }}")).becomes(
        f"{HEAD} {{ state {{ map i = 0:N {{ {each} }} }} }}"
    ).same_values(N=[0, 4])


def test_the_parameter_may_come_first_and_start_anywhere():
    body = """data t: f64 transient tasklet (a <- A[i, k]) -> (o -> t) { o = a }
              tasklet (a <- t) -> (o -> B[i, k]) { o = a }"""
    expect(MapUnrolling(), on=program(f"map k = 1:3, i = 0:N {{ {body} }}")).same_values(N=[0, 4])


COMPONENTS = "map i = 0:N, k = 0:3 { tasklet (a <- t[i, k]) -> (o -> B[i, k]) { o = a } }"


def test_on_request_only_where_a_component_is_reached_elsewhere():
    writers = "map j = 0:N { tasklet (a <- A[j, 0]) -> (o -> t[j, 1]) { o = a } }"
    data = "data t: f64[N, 3] transient"
    expect(MapUnrolling(only_components=True), on=program(writers + COMPONENTS, data)).applies()
    whole = "map j = 0:N { map l = 0:3 { tasklet (a <- A[j, l]) -> (o -> t[j, l]) { o = a } } }"
    expect(MapUnrolling(only_components=True), on=program(whole + COMPONENTS, data)).is_refused(
        "no component along 'k' is reached elsewhere by a number"
    )


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ("map i = 0:3 { tasklet (a <- A[0, i]) -> (o -> B[0, i]) { o = a } }", "there is no other parameter"),
        ("map i = 0:N, k = 0:N { tasklet () -> (o -> B[k, 0] (add)) { o = 1.0 } }", "does not take 2 to 8 values"),
        ("map k = 0:3, i = 0:N + k { tasklet (a <- A[i, k]) -> (o -> B[i, k]) { o = a } }", "depends on 'k'"),
        ("map i = 0:N, k = 0:3 { map j = 0:N { tasklet () -> (o -> B[j, k] (add)) { o = 1.0 } } }", "there is a map"),
    ],
)
def test_refuses(nodes, reason):
    expect(MapUnrolling(), on=program(nodes)).is_refused(reason)
