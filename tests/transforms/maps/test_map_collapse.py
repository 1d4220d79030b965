"""MapCollapse: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.maps.map_collapse import MapCollapse
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size)"
BODY = "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a + 1 }"


def program(nodes):
    return parse(f"{HEAD} {{ state {{ {nodes} }} }}")


def test_merges_nested_maps():
    expect(MapCollapse(), on=program(f"map i = 0:N {{ map j = 0:M {{ {BODY} }} }}")).becomes(
        f"{HEAD} {{ state {{ map i = 0:N, j = 0:M {{ {BODY} }} }} }}"
    ).same_values(N=[0, 3], M=[0, 2])


def test_keeps_what_is_private_to_the_inner_iteration():
    body = """data t: f64 transient
              tasklet (a <- A[i, j]) -> (o -> t) { o = a } tasklet (a <- t) -> (o -> B[i, j]) { o = a }"""
    expect(MapCollapse(), on=program(f"map i = 0:N {{ map j = 0:M {{ {body} }} }}")).becomes(
        f"{HEAD} {{ state {{ map i = 0:N, j = 0:M {{ {body} }} }} }}"
    ).same_values(N=[3], M=[2])


def test_merges_triangles_if_asked_to():
    triangle = program(f"map i = 0:min(N, M) {{ map j = 0:i {{ {BODY} }} }}")
    expect(MapCollapse(), on=triangle).is_refused("the inner bounds depend on 'i'")
    expect(MapCollapse(allow_dependent=True), on=triangle).becomes(
        f"{HEAD} {{ state {{ map i = 0:min(N, M), j = 0:i {{ {BODY} }} }} }}"
    ).same_values(N=[4], M=[3])


REFUSALS = {
    "the body is not just one map": (
        f"map i = 0:N {{ map j = 0:M {{ {BODY} }} tasklet () -> (o -> A[i, 0]) {{ o = 1.0 }} }}"
    ),
    "each iteration of the outer map has its own 't'": (
        f"map i = 0:N {{ data t: f64 transient map j = 0:M {{ {BODY} }} }}"
    ),
    "schedules differ: @parallel and @vector": f"map i = 0:N @parallel {{ map j = 0:M @vector {{ {BODY} }} }}",
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(MapCollapse(), on=program(REFUSALS[reason])).is_refused(reason)
