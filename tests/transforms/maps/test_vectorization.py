"""Vectorization: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.maps.vectorization import Vectorization
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], s: f64[], p: i64[M]) symbols(N: size, M: size)"


def program(nodes):
    return parse(f"{HEAD} {{ state {{ {nodes} }} }}")


LEGAL = {
    "a branch": """if j > 2 { state { tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a*a } } }""",
    "one element": "copy A[i, j] -> B[i, j]",
    "elements of a row": "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a*a }",
    "what stays where it is": "tasklet (a <- A[i, 0], b <- s) -> (o -> B[i, j]) { o = a*b }",
    "a sum of a row": "tasklet (a <- A[i, j]) -> (o -> B[i, 0] (add)) { o = a }",
    "a sum of all": "tasklet (a <- A[i, j]) -> (o -> s (add)) { o = a }",
    "what is private": """data t: f64 transient tasklet (a <- A[i, j]) -> (o -> t) { o = a }
                          tasklet (a <- t) -> (o -> B[i, j]) { o = a }""",
}


@pytest.mark.parametrize("case", LEGAL)
def test_sets_the_schedule(case):
    before = f"map i = 0:N {{ map j = 0:M {{ {LEGAL[case]} }} }}"
    expect(Vectorization(width=4), on=program(before), map="j").becomes(
        f"{HEAD} {{ state {{ map i = 0:N {{ map j = 0:M @vector{{width = 4}} {{ {LEGAL[case]} }} }} }} }}"
    ).same_values(N=[0, 3], M=[1, 5])


REFUSALS = {
    "A[j, i] goes in steps of M elements along 'j'": (
        "map i = 0:N, j = 0:min(N, M) { tasklet (a <- A[j, i]) -> (o -> B[i, j]) { o = a } }"
    ),
    "A[i, j] goes in steps of 2 elements along 'j'": (
        "map i = 0:N, j = 0:M:2 { tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a } }"
    ),
    "B[i, M - j - 1] goes in steps of -1 elements along 'j'": (
        "map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> B[i, M - j - 1]) { o = a } }"
    ),
    "A[i, (j*j) % M] goes in unknown steps along 'j'": (
        "map i = 0:N, j = 0:M { tasklet (a <- A[i, j*j % M]) -> (o -> B[i, j]) { o = a } }"
    ),
    "there is a loop j inside": (
        "map i = 0:N { loop j = 0:M { state { tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a } } } }"
    ),
    "there is a map j inside": "map i = 0:N { map j = 0:M { tasklet () -> (o -> B[i, j]) { o = 1.0 } } }",
    "A[i, k] goes in unknown steps along 'j'": (
        "map i = 0:N, j = 0:M { let k = p[j] state { tasklet (a <- A[i, k]) -> (o -> B[i, j]) { o = a } } }"
    ),
    "several iterations over 'j' may combine values in B[i, 0] (add): map-expansion makes them a map of their own": (
        "map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> B[i, 0] (add)) { o = a } }"
    ),
    "its schedule is @vector already": (
        "map i = 0:N, j = 0:M @vector { tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a } }"
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_says_why_not(reason):
    assert any(reason in found for found in expect(Vectorization(), on=program(REFUSALS[reason])).reasons())
