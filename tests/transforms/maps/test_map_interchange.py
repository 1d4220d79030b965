"""MapInterchange: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.maps.map_interchange import MapInterchange
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size)"
BODY = "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a + 1 }"


def program(nodes):
    return parse(f"{HEAD} {{ state {{ {nodes} }} }}")


def test_exchanges_two_maps_with_their_schedules():
    expect(MapInterchange(), on=program(f"map i = 0:N @parallel {{ map j = 0:M {{ {BODY} }} }}"), map="i").becomes(
        f"{HEAD} {{ state {{ map j = 0:M {{ map i = 0:N @parallel {{ {BODY} }} }} }} }}"
    ).same_values(N=[0, 3], M=[2])


def test_takes_along_what_is_private():
    body = """data t: f64 transient
              tasklet (a <- A[i, j]) -> (o -> t) { o = a } tasklet (a <- t) -> (o -> B[i, j]) { o = a }"""
    expect(MapInterchange(), on=program(f"map i = 0:N {{ map j = 0:M {{ {body} }} }}"), map="i").becomes(
        f"{HEAD} {{ state {{ map j = 0:M {{ map i = 0:N {{ {body} }} }} }} }}"
    ).same_values(N=[3], M=[2])


def test_orders_the_parameters_of_one_map():
    expect(MapInterchange(order=("j", "i")), on=program(f"map i = 0:N, j = 0:M {{ {BODY} }}")).becomes(
        f"{HEAD} {{ state {{ map j = 0:M, i = 0:N {{ {BODY} }} }} }}"
    ).same_values(N=[3], M=[0, 2])


REFUSALS = {
    "the body is not just one map": (MapInterchange(), f"map i = 0:N, j = 0:M {{ {BODY} }}"),
    "the range 0:i of 'j' depends on 'i'": (MapInterchange(), f"map i = 0:N {{ map j = 0:i {{ {BODY} }} }}"),
    "its parameters are i, j": (MapInterchange(order=("j",)), f"map i = 0:N, j = 0:M {{ {BODY} }}"),
    "the range 1:i of 'j' depends on 'i'": (
        MapInterchange(order=("j", "i")),
        f"map i = 0:N, j = 1:i {{ {BODY} }}",
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    transformation, nodes = REFUSALS[reason]
    expect(transformation, on=program(nodes)).is_refused(reason)
