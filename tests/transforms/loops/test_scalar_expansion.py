"""ScalarExpansion: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.loops.scalar_expansion import ScalarExpansion
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size)"


def body(name="t"):
    return f"tasklet (a <- A[i, j]) -> (o -> {name}) {{ o = a*a }} tasklet (a <- {name}) -> (o -> B[i, j]) {{ o = a }}"


def program(blocks):
    return parse(f"{HEAD} {{ {blocks} }}")


def test_gives_a_scalar_of_a_map_two_dimensions():
    before = f"state {{ map i = 1:N, j = 0:M:2 {{ data t: f64 transient {body()} }} }}"
    expect(ScalarExpansion(), on=program(before)).becomes(
        f"""{HEAD} {{ data t: f64[max(0, N - 1), -((-M) // 2)] transient
            state {{ map i = 1:N, j = 0:M:2 {{ {body("t[i - 1, j // 2]")} }} }} }}"""
    ).same_values(N=[0, 1, 4], M=[0, 1, 4, 5])


def test_counts_down_in_a_loop_that_does():
    before = f"loop i = 0:N {{ loop j = M - 1:-1:-1 {{ data t: f64 transient state {{ {body()} }} }} }}"
    expect(ScalarExpansion(), on=program(before), scope="j").becomes(
        f"""{HEAD} {{ loop i = 0:N {{ data t: f64[M] transient
            loop j = M - 1:-1:-1 {{ state {{ {body("t[M - 1 - j]")} }} }} }} }}"""
    ).same_values(N=[3], M=[0, 4])


def test_arrays_conditions_and_assignments_follow():
    inside = """data {0} state {{ copy A[i, 0:M] -> t[{1}0:M] }}
      if t[{1}0] > 0.0 {{ let k = i64(t[{1}0] * 0.0)
        state {{ tasklet (a <- t[{1}k]) -> (o -> B[i, 0]) {{ o = a }} }} }}"""
    after = inside.replace("data {0} ", "").format("", "i, ")
    before = inside.format("t: f64[M] transient", "")
    expect(ScalarExpansion(container="t"), on=program(f"loop i = 0:N {{ {before} }}")).becomes(
        f"{HEAD} {{ data t: f64[N, M] transient loop i = 0:N {{ {after} }} }}"
    ).same_values(N=[0, 3], M=[2])


REFUSALS = {
    "the body declares nothing": (ScalarExpansion(), f"state {{ map i = 0:N, j = 0:M {{ {body('B[i, j]')} }} }}"),
    "the body declares no 'u'": (
        ScalarExpansion(container="u"),
        f"state {{ map i = 0:N, j = 0:M {{ data t: f64 transient {body()} }} }}",
    ),
    "the number of iterations over 'j' is not known outside": (
        ScalarExpansion(),
        f"state {{ map i = 0:min(N, M), j = 0:i {{ data t: f64 transient {body()} }} }}",
    ),
    "the size of 't' is not known outside": (
        ScalarExpansion(),
        "loop i = 0:min(N, M) { data t: f64[i] transient state { copy A[i, 0:i] -> t[0:i] } }",
    ),
    "'t' is no scalar or packed array of its own, or there are views of it": (
        ScalarExpansion(container="t"),
        "loop i = 0:N { data t: f64[M] transient view v: f64[M] of t state { copy A[i, 0:M] -> v[0:M] } }",
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    transformation, blocks = REFUSALS[reason]
    expect(transformation, on=program(blocks)).is_refused(reason)
