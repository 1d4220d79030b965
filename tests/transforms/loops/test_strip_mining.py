"""StripMining: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.loops.strip_mining import StripMining
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], s: f64[]) symbols(N: size, M: size)"
BODY = "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a + 1 }"
SUM = "state { tasklet (a <- A[i, 0], b <- s) -> (o -> s) { o = a + b } }"


def program(blocks):
    return parse(f"{HEAD} {{ {blocks} }}")


def test_splits_a_parameter_of_a_map():
    expect(StripMining(param="i", size=4), on=program(f"state {{ map i = 0:N, j = 0:i {{ {BODY} }} }}")).becomes(
        f"{HEAD} {{ state {{ map i_tile = 0:N:4, i = i_tile:min(i_tile + 4, N), j = 0:i {{ {BODY} }} }} }}"
    )


def test_splits_the_last_parameter_of_a_map():
    expect(StripMining(size=3), on=program(f"state {{ map i = 0:N, j = 1:M:2 {{ {BODY} }} }}")).becomes(
        f"{HEAD} {{ state {{ map i = 0:N, j_tile = 1:M:6, j = j_tile:min(j_tile + 6, M):2 {{ {BODY} }} }} }}"
    ).same_values(N=[2], M=[0, 1, 6, 7, 8, 13])


def test_splits_a_loop():
    expect(StripMining(size=4), on=program(f"loop i = 0:N {{ {SUM} }}")).becomes(
        f"{HEAD} {{ loop i_tile = 0:N:4 {{ loop i = i_tile:min(i_tile + 4, N) {{ {SUM} }} }} }}"
    ).same_values(N=[0, 1, 4, 9], M=[1])


def test_splits_a_loop_that_goes_down():
    expect(StripMining(size=2), on=program(f"loop i = N - 1:-1:-3 {{ {SUM} }}")).becomes(
        f"{HEAD} {{ loop i_tile = N - 1:-1:-6 {{ loop i = i_tile:max(i_tile - 6, -1):-3 {{ {SUM} }} }} }}"
    ).same_values(N=[0, 1, 4, 9], M=[1])


def test_cuts_nothing_off_where_the_size_divides():
    before = parse(
        "sdfg @f(A: f64[4*N]) symbols(N: size) { state { map i = 0:4*N { tasklet () -> (o -> A[i]) { o = 1.0 } } } }"
    )
    expect(StripMining(size=2), on=before).becomes(
        "sdfg @f(A: f64[4*N]) symbols(N: size) { state { map i_tile = 0:4*N:2, i = i_tile:i_tile + 2 {"
        " tasklet () -> (o -> A[i]) { o = 1.0 } } } }"
    ).same_values(N=[0, 3])


REFUSALS = {
    "a tile of 0 values": (StripMining(size=0), f"loop i = 0:N {{ {SUM} }}"),
    "it has no parameter 'x': only i": (StripMining(param="x"), f"loop i = 0:N {{ {SUM} }}"),
    "the step M of 'i' is not a number": (StripMining(), f"loop i = 0:N:M {{ {SUM} }}"),
    "a break inside ends it early": (StripMining(), f"loop i = 0:N {{ {SUM} if s[] > 3.0 {{ break }} }}"),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    transformation, blocks = REFUSALS[reason]
    expect(transformation, on=program(blocks)).is_refused(reason)


def test_a_break_of_an_inner_loop_is_its_own():
    body = f"loop k = 0:3 {{ {SUM} if s[] > 3.0 {{ break }} }}"
    expect(StripMining(size=2), on=program(f"loop i = 0:N {{ {body} }}"), scope="i").becomes(
        f"{HEAD} {{ loop i_tile = 0:N:2 {{ loop i = i_tile:min(i_tile + 2, N) {{ {body} }} }} }}"
    ).same_values(N=[5], M=[1])
