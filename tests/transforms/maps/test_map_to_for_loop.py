"""MapToForLoop: shape and value; it never refuses."""

from __future__ import annotations

from dcpy.transforms.maps.map_to_for_loop import MapToForLoop
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size)"
BODY = "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a + 1 }"


def test_makes_a_loop_of_each_parameter_between_states():
    there, back = "copy B[0:N, 0:M] -> A[0:N, 0:M]", "copy A[0:N, 0:M] -> B[0:N, 0:M]"
    before = f"state {{ {there} map i = 0:N, j = 0:i {{ {BODY} }} {back} }}"
    expect(MapToForLoop(), on=parse(f"{HEAD} {{ {before} }}")).becomes(
        f"""{HEAD} {{ state {{ {there} }} loop i = 0:N {{ loop j = 0:i {{ state {{ {BODY} }} }} }}
            state {{ {back} }} }}"""
    ).same_values(N=[0, 3], M=[4])


def test_maps_inside_and_what_is_private():
    body = """data t: f64 transient
              state { tasklet (a <- A[i, 0]) -> (o -> t) { o = a } }
              state { map j = 0:M { tasklet (a <- t) -> (o -> B[i, j] (add)) { o = a } } }"""
    after = body.replace("state { map j = 0:M {", "loop j = 0:M { state {")
    expect(MapToForLoop(), on=parse(f"{HEAD} {{ state {{ map i = 0:N {{ {body} }} }} }}")).becomes(
        f"{HEAD} {{ loop i = 0:N {{ {after} }} }}"
    ).same_values(N=[0, 3], M=[1, 2])
