"""LoopInterchange: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.loops.loop_interchange import LoopInterchange
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], s: f64[]) symbols(N: size, M: size)"


def state(*reads, write="A[i, j]"):
    """``write = 2*write + sum of reads``."""
    inputs = ", ".join(f"a{n} <- {read}" for n, read in enumerate((write, *reads)))
    terms = " + ".join(f"a{n}" for n in range(1, len(reads) + 1))
    return f"state {{ tasklet ({inputs}) -> (o -> {write}) {{ o = 2.0*a0 + {terms} }} }}"


def nest(body, outer="i = 1:N", inner="j = 1:M"):
    return parse(f"{HEAD} {{ loop {outer} {{ loop {inner} {{ {body} }} }} }}")


LEGAL = {
    "carried by the outer loop": state("A[i - 1, j]"),
    "carried by the inner loop": state("A[i, j - 1]"),
    "distance (1, 1)": state("A[i - 1, j - 1]"),
    "two distances": state("A[i - 1, j]", "A[i, j - 1]"),
    "a sum for each i": state("B[i, j]", write="A[i, 0]"),
    "a combining write": "state { tasklet (a <- A[i, j]) -> (o -> s (add)) { o = a } }",
}


@pytest.mark.parametrize("body", LEGAL.values(), ids=LEGAL)
def test_exchanges(body):
    expect(LoopInterchange(), on=nest(body), loop="i").becomes(
        f"{HEAD} {{ loop j = 1:M {{ loop i = 1:N {{ {body} }} }} }}"
    ).same_values(N=[0, 2, 4], M=[1, 3])


def test_an_inner_map_is_part_of_the_body():
    body = "state { map k = 0:2 { tasklet (a <- A[i, j]) -> (o -> B[i, j] (add)) { o = a } } }"
    expect(LoopInterchange(), on=nest(body), loop="i").becomes(
        f"{HEAD} {{ loop j = 1:M {{ loop i = 1:N {{ {body} }} }} }}"
    ).same_values(N=[3], M=[4])


def test_a_temporary_of_each_iteration_orders_nothing():
    text = """sdfg @f(A: f64[N, M]) symbols(N: size, M: size) {{ data t: f64 transient loop {0} {{ loop {1} {{
      state {{ tasklet (a <- A[i, j]) -> (o -> t) {{ o = 2.0*a }}
              tasklet (a <- t) -> (o -> A[i, j]) {{ o = a }} }} }} }} }}"""
    expect(LoopInterchange(), on=parse(text.format("i = 0:N", "j = 0:M")), loop="i").becomes(
        text.format("j = 0:M", "i = 0:N")
    ).same_values(N=[3], M=[2])


TRIANGLES = {
    "j = i:M": ("j = 1:M", "i = 1:min(N, j + 1)"),
    "j = 0:i": ("j = 0:N - 1", "i = max(1, j + 1):N"),
    "j = i - 1:i + 2": ("j = 0:N + 1", "i = max(1, j - 1):min(N, j + 2)"),
    "j = 2*i:M": ("j = 2:M", "i = 1:min(N, j // 2 + 1)"),
    "j = 0:M - i": ("j = 0:M - 1", "i = 1:min(N, M - j)"),
    "j = max(0, i - 2):min(i, M)": ("j = max(-1, 0):min(M, N - 1)", "i = max(1, j + 1):min(N, j + 3)"),
}


@pytest.mark.parametrize("inner", TRIANGLES)
def test_solves_bounds_for_the_outer_parameter(inner):
    outer_after, inner_after = TRIANGLES[inner]
    counted = "state { tasklet () -> (o -> A[i % N, j % M] (add)) { o = 1.0 } }"
    expect(LoopInterchange(), on=nest(counted, inner=inner), loop="i").becomes(
        f"{HEAD} {{ loop {outer_after} {{ loop {inner_after} {{ {counted} }} }} }}"
    ).same_values(N=[1, 2, 5], M=[1, 3, 7])


@pytest.mark.parametrize("inner", TRIANGLES)
def test_a_sum_over_a_triangle_keeps_its_order(inner):
    """A band of two is run in the same order either way: there the sets say yes."""
    body = "state { tasklet (a <- s) -> (o -> s) { o = a + index(5*i + j, f64) } }"
    expectation = expect(LoopInterchange(), on=nest(body, inner=inner), loop="i")
    if "max" not in inner:
        expectation.is_refused("reads s, then writes s: distance (")
        return
    outer_after, inner_after = TRIANGLES[inner]
    expectation.becomes(f"{HEAD} {{ loop {outer_after} {{ loop {inner_after} {{ {body} }} }} }}").same_values(
        N=[1, 2, 5], M=[1, 3, 7]
    )


REFUSALS = {
    "writes A[i, j], then reads A[i - 1, j + 1]: distance (1, -1) on (i, j)": nest(
        state("A[i - 1, j + 1]"), inner="j = 1:M - 1"
    ),
    "reads A[i + 1, j - 1], then writes A[i, j]: distance (1, -1) on (i, j)": nest(
        state("A[i + 1, j - 1]"), outer="i = 1:N - 1"
    ),
    "reads s, then writes s: distance (<, >) on (i, j)": nest(state("A[i, j]", write="s")),
    "the body is not just one loop": nest(
        state("B[i, j]") + "} " + state("B[i, 0]", write="A[i, 0]") + " if s[] > 0.0 {"
    ),
    "a break inside may end it early": nest(state("B[i, j]") + " if s[] > 0.0 { break }"),
    "cannot be solved for 'i'": nest(state("B[i, j]"), inner="j = i:M:2"),
    "the step s0 of 'i' is not a number": parse(
        "sdfg @f(A: f64[N, N]) symbols(N: size, s0: i64) { loop i = 0:N:s0 { loop j = 0:N {"
        " state { tasklet () -> (o -> A[i, j]) { o = 1.0 } } } } }"
    ),
    "it is not known whether there is a dependence": nest(state("A[i*j % N, j]", write="A[i*i % N, j]")),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(LoopInterchange(), on=REFUSALS[reason], loop="i").is_refused(reason)
