"""MapTiling: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.maps.map_tiling import MapTiling
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size)"
BODY = "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a + 1 }"


def program(nodes):
    return parse(f"{HEAD} {{ state {{ {nodes} }} }}")


def test_tiles_both_parameters():
    expect(MapTiling(sizes=(2, 3)), on=program(f"map i = 0:N, j = 1:M {{ {BODY} }}")).becomes(
        f"""{HEAD} {{ state {{ map i_tile = 0:N:2, j_tile = 1:M:3 {{
            map i = i_tile:min(i_tile + 2, N), j = j_tile:min(j_tile + 3, M) {{ {BODY} }} }} }} }}"""
    ).same_values(N=[0, 2, 5], M=[1, 7])


def test_leaves_the_other_parameters_inside():
    expect(MapTiling(sizes=(2,)), on=program(f"map i = 0:N, j = 0:i {{ {BODY} }}")).becomes(
        f"{HEAD} {{ state {{ map i_tile = 0:N:2 {{ map i = i_tile:min(i_tile + 2, N), j = 0:i {{ {BODY} }} }} }} }}"
    )


def test_tiles_a_sum():
    body = "tasklet (a <- A[i, j]) -> (o -> B[i, 0] (add)) { o = a }"
    expect(MapTiling(sizes=(2, 2)), on=program(f"map i = 0:N, j = 0:M {{ {body} }}")).becomes(
        f"""{HEAD} {{ state {{ map i_tile = 0:N:2, j_tile = 0:M:2 {{
            map i = i_tile:min(i_tile + 2, N), j = j_tile:min(j_tile + 2, M) {{ {body} }} }} }} }}"""
    ).same_values(N=[3], M=[5])


REFUSALS = {
    "3 sizes for 2 parameters": (MapTiling(sizes=(2, 2, 2)), f"map i = 0:N, j = 0:M {{ {BODY} }}"),
    "a tile of 0 values": (MapTiling(sizes=(2, 0)), f"map i = 0:N, j = 0:M {{ {BODY} }}"),
    "the range 0:i of 'j' depends on 'i', which is tiled too": (
        MapTiling(sizes=(2, 2)),
        f"map i = 0:N, j = 0:i {{ {BODY} }}",
    ),
    "the step M of 'i' is not a number": (MapTiling(), f"map i = 0:N:M, j = 0:M {{ {BODY} }}"),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    transformation, nodes = REFUSALS[reason]
    expect(transformation, on=program(nodes)).is_refused(reason)
