"""MapExpansion: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.maps.map_expansion import MapExpansion
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M, K], B: f64[N, M, K]) symbols(N: size, M: size, K: size)"
BODY = "tasklet (a <- A[i, j, k]) -> (o -> B[i, j, k]) { o = a + 1 }"


def program(nodes):
    return parse(f"{HEAD} {{ state {{ {nodes} }} }}")


def test_gives_the_outer_map_the_first_parameter():
    before = program(f"map i = 0:N, j = 0:i, k = 0:K @parallel {{ {BODY} }}")
    expect(MapExpansion(), on=before, map="i").becomes(
        f"{HEAD} {{ state {{ map i = 0:N @parallel {{ map j = 0:i, k = 0:K {{ {BODY} }} }} }} }}"
    )


def test_expands_everything():
    expect(MapExpansion(), on=program(f"map i = 0:N, j = 0:M, k = 0:K {{ {BODY} }}")).becomes(
        f"{HEAD} {{ state {{ map i = 0:N {{ map j = 0:M {{ map k = 0:K {{ {BODY} }} }} }} }} }}"
    ).same_values(N=[0, 3], M=[2], K=[1, 4])


def test_gives_the_outer_map_two_and_the_inner_one_what_is_private():
    body = """data t: f64 transient
              tasklet (a <- A[i, j, k]) -> (o -> t) { o = a } tasklet (a <- t) -> (o -> B[i, j, k]) { o = a }"""
    expect(MapExpansion(count=2), on=program(f"map i = 0:N, j = 0:M, k = 0:K {{ {body} }}")).becomes(
        f"{HEAD} {{ state {{ map i = 0:N, j = 0:M {{ map k = 0:K {{ {body} }} }} }} }}"
    ).same_values(N=[3], M=[2], K=[3])


def test_refuses_maps_that_have_too_few():
    one = f"map i = 0:N {{ map j = 0:M {{ map k = 0:K {{ {BODY} }} }} }}"
    expect(MapExpansion(), on=program(one)).is_refused("1 of its 1 parameters leave none for one of the maps")
    expect(MapExpansion(count=0), on=program(one)).is_refused("0 of its 1 parameters")
