"""Parallelization: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.maps.parallelization import Parallelization
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], s: f64[]) symbols(N: size, M: size)"


def program(nodes):
    return parse(f"{HEAD} {{ state {{ {nodes} }} }}")


LEGAL = {
    "points": "map i = 0:N { map j = 0:M { tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a } } }",
    "a sum of each row": "map i = 0:N { map j = 0:M { tasklet (a <- A[i, j]) -> (o -> B[i, 0] (add)) { o = a } } }",
    "a sum of all": "map i = 0:N { map j = 0:M { tasklet (a <- A[i, j]) -> (o -> s (add)) { o = a } } }",
    "tiles": """map i = 0:N:4 { map j = i:min(N, i + 4) { map k = 0:M {
                tasklet (a <- A[j, k]) -> (o -> B[j, 0] (add)) { o = a } } } }""",
}


@pytest.mark.parametrize("case", LEGAL)
def test_sets_the_schedule(case):
    text = LEGAL[case]
    end = text.index("{")
    expect(Parallelization(chunk=8), on=program(text), map="i").becomes(
        f"{HEAD} {{ state {{ {text[:end]} @parallel{{chunk = 8}} {text[end:]} }} }}"
    ).same_values(N=[0, 3, 9], M=[1, 4])


REFUSALS = {
    "several iterations over 'i' combine values in B[0, j], which others do not": (
        "map i = 0:N { map j = 0:M { tasklet (a <- A[i, j]) -> (o -> B[0, j] (add)) { o = a } } }"
    ),
    "it is inside a map that runs on threads": (
        "map i = 0:N @parallel { map j = 0:M { tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a } } }"
    ),
    "its schedule is @parallel already": "map i = 0:N @parallel { tasklet (a <- A[i, 0]) -> (o -> B[i, 0]) { o = a } }",
    "something inside has an effect that is seen outside": (
        'map i = 0:N { callback (x <- A[i, 0:M]) -> (x -> A[i, 0:M]) {function = "module:name", call = "x"} }'
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_says_why_not(reason):
    reasons = expect(Parallelization(), on=program(REFUSALS[reason])).reasons()
    assert any(reason in found for found in reasons), reasons
