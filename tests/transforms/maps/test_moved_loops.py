"""MoveLoopIntoMap and MoveMapIntoLoop: shape, value, refusal; each undoes the other."""

from __future__ import annotations

import pytest

from dcpy.transforms.maps.move_loop_into_map import MoveLoopIntoMap
from dcpy.transforms.maps.move_map_into_loop import MoveMapIntoLoop
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], s: f64[]) symbols(N: size, M: size)"


def state(read, write="A[i, j]"):
    return f"state {{ tasklet (a <- {read}, b <- {write}) -> (o -> {write}) {{ o = 0.5*a + b }} }}"


def loop_of_map(body, loop="j = 1:M", domain="i = 1:N"):
    return f"{HEAD} {{ loop {loop} {{ state {{ map {domain} {{ {body} }} }} }} }}"


def map_of_loop(body, loop="j = 1:M", domain="i = 1:N"):
    return f"{HEAD} {{ state {{ map {domain} {{ loop {loop} {{ {body} }} }} }} }}"


BOTH_WAYS = {
    "carried by the loop at each point": state("A[i, j - 1]"),
    "nothing carried": state("B[i, j]"),
    "a sum of each point": state("B[i, j]", "A[i, 0]"),
    "a sum of all": "state { tasklet (a <- A[i, j]) -> (o -> s (add)) { o = a } }",
    "blocks": "data t: f64 transient state { tasklet (a <- B[i, j], b <- A[i, j]) -> (o -> t) { o = 0.5*a + b } }"
    " state { tasklet (a <- t) -> (o -> A[i, j]) { o = a } }",
}  # fmt: skip


@pytest.mark.parametrize("case", BOTH_WAYS)
def test_there_and_back(case):
    body = BOTH_WAYS[case]
    inside, outside = map_of_loop(body), loop_of_map(body)
    expect(MoveLoopIntoMap(), on=parse(outside)).becomes(inside).same_values(N=[1, 4], M=[1, 2, 4])
    expect(MoveMapIntoLoop(), on=parse(inside)).becomes(outside).same_values(N=[1, 4], M=[1, 2, 4])


def test_maps_of_several_parameters_keep_their_schedule():
    body, domain = state("A[i, j]", "B[i, k]"), "i = 0:N, k = 0:M @parallel"
    expect(MoveLoopIntoMap(), on=parse(loop_of_map(body, "j = 0:3", domain))).becomes(
        map_of_loop(body, "j = 0:3", domain)
    ).same_values(N=[2], M=[4])


def test_the_map_leaves_its_state_alone():
    others = "copy A[0:N, 0:M] -> B[0:N, 0:M]"
    body = state("A[i, j - 1]")
    before = f"{HEAD} {{ state {{ {others} map i = 0:N {{ loop j = 1:M {{ {body} }} }} {others} }} }}"
    expect(MoveMapIntoLoop(), on=parse(before)).becomes(
        f"""{HEAD} {{ state {{ {others} }} loop j = 1:M {{ state {{ map i = 0:N {{ {body} }} }} }}
            state {{ {others} }} }}"""
    ).same_values(N=[3], M=[1, 3])


INTO_MAP = {
    "writes A[i, j], then reads A[i - 1, j - 1]: distance (1, 1) on (j, i)": loop_of_map(state("A[i - 1, j - 1]")),
    "reads A[i, 0], then writes A[j, 0]": loop_of_map(
        "tasklet (a <- A[i, 0]) -> (o -> B[i, j]) { o = a } tasklet (a <- B[i, j]) -> (o -> A[j, 0]  (add)) { o = a }"
    ),
    "the range 0:j of 'i' depends on 'j'": loop_of_map(state("B[i, j]"), domain="i = 0:j", loop="j = 0:min(N, M)"),
    "the body is not just one map": f"{HEAD} {{ loop i = 0:N {{ {state('B[i, 0]', 'A[i, 0]')} }} }}",
    "a check inside may end it early": loop_of_map('check A[i, j] < 9.0 else ValueError "x" ' + state("B[i, j]")),
}


@pytest.mark.parametrize("reason", INTO_MAP)
def test_refuses_to_move_a_loop_into_a_map(reason):
    expect(MoveLoopIntoMap(), on=parse(INTO_MAP[reason])).is_refused(reason)


INTO_LOOP = {
    "each point of the map has its own 't', which lives through the loop": (
        f"{HEAD} {{ state {{ map i = 0:N {{ data t: f64 transient loop j = 0:M {{ {state('A[i, j]', 't')} }} }} }} }}"
    ),
    "the body is not just one loop": f"{HEAD} {{ state {{ map i = 0:N {{ {state('B[i, 0]', 'A[i, 0]')} }} }} }}",
    "the range 0:i of 'j' depends on 'i'": map_of_loop(state("B[i, j]"), loop="j = 0:i", domain="i = 0:min(N, M)"),
    "a break inside may end it early": map_of_loop("if A[i, j] > 0.0 { break } " + state("B[i, j]")),
}


@pytest.mark.parametrize("reason", INTO_LOOP)
def test_refuses_to_move_a_map_into_a_loop(reason):
    expect(MoveMapIntoLoop(), on=parse(INTO_LOOP[reason])).is_refused(reason)
