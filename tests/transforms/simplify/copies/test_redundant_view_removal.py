"""RedundantViewRemoval: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.simplify.copies.redundant_view_removal import RedundantViewRemoval
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[M, N], x: f64[N], y: f64[N]) symbols(N: size, M: size)"


def program(blocks, views):
    return parse(f"{HEAD} {{ {views} {blocks} }}")


def removed(blocks, views, after, kept=""):
    return expect(RedundantViewRemoval(), on=program(blocks, views)).becomes(f"{HEAD} {{ {kept} {after} }}")


def test_composes_views_of_views():
    removed(
        "state { map i = 0:N - 3 { tasklet (a <- v[i], b <- w[i]) -> (o -> y[i]) { o = a + b } } }",
        "view v: f64[N - 2] of x[1:N - 1] view w: f64[N - 3] of v[1:N - 2]",
        "state { map i = 0:N - 3 { tasklet (a <- x[i + 1], b <- x[i + 2]) -> (o -> y[i]) { o = a + b } } }",
    ).same_values(N=[3, 6], M=[1])


def test_composes_elements_of_reversed_views():
    removed(
        "if v[0] > 0.0 { state { map i = 0:N { tasklet (a <- v[i]) -> (o -> y[i]) { o = a } } } }",
        "view v: f64[N] of x[N - 1:-1:-1]",
        "if x[N - 1] > 0.0 { state { map i = 0:N { tasklet (a <- x[N - i - 1]) -> (o -> y[i]) { o = a } } } }",
    ).same_values(N=[1, 6], M=[1])


def test_composes_ranges_that_keep_their_order():
    removed(
        "state { copy v[0:M - 1] -> B[1:M, 0] }",
        "view v: f64[M - 1] of A[2, 1:M]",
        "state { copy A[2, 1:M] -> B[1:M, 0] }",
    ).same_values(N=[3], M=[1, 4])


def test_composes_reshapes_that_add_or_take_out_axes_of_length_1():
    removed(
        "state { map i = 0:N, j = 0:M { tasklet (a <- v[i, 0, j]) -> (o -> w[j, i, 0]) { o = a } } }",
        "view v: f64[N, 1, M] of A view w: f64[M, N, 1] of B",
        "state { map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> B[j, i]) { o = a } } }",
    ).same_values(N=[1, 4], M=[1, 3])
    removed(
        "state { copy v[0, 0:N] -> y[0:N] }", "view v: f64[1, N] of x", "state { copy x[0:N] -> y[0:N] }"
    ).same_values(N=[3], M=[1])


@pytest.mark.parametrize(
    ("view", "nodes"),
    [
        ("view v: f64[1, N] of x", "copy v[0:1, 0:N] -> A[0:1, 0:N]"),  # the axis is part of what is copied
        ("view v: f64[M, N] of A", "copy v[0, 0:N] -> y[0:N]"),  # other rows than those of the base
        ("view v: f64[N*M] of A", "copy v[0:N] -> y[0:N]"),
    ],
)
def test_other_reshapes_stay(view, nodes):
    expect(RedundantViewRemoval(), on=program(f"state {{ {nodes} }}", view)).is_refused("can be composed")


@pytest.mark.parametrize(
    ("view", "nodes"),
    [
        ("view v: f64[M, N] of A[0:N, 0:M] axes(1, 0)", "copy v[0:M, 0:N] -> B[0:M, 0:N]"),
        ("view v: f64[N] of x[N - 1:-1:-1]", "copy v[0:N] -> y[0:N]"),
    ],
)
def test_ranges_of_transposed_and_reversed_views_stay(view, nodes):
    expect(RedundantViewRemoval(), on=program(f"state {{ {nodes} }}", view)).is_refused(
        "no access through 'v' can be composed"
    )


def test_there_may_be_nothing_to_do():
    expect(RedundantViewRemoval(), on=program("state { copy x[0:N] -> y[0:N] }", "")).is_refused("there are no views")


def test_equal_views_become_one():
    reads = "map {i} = 0:N*M {{ tasklet (a <- {v}[{i}]) -> (o -> y[{i} % N] (add)) {{ o = a }} }}"
    first, second, both = (reads.format(i=i, v=v) for i, v in (("i", "v"), ("j", "w"), ("j", "v")))
    views = "view v: f64[N*M] of A view w: f64[N*M] of A"
    text = "sdfg @f(A: f64[N, M], y: f64[N]) symbols(N: size, M: size) {{ {views} state {{ {first} {second} }} }}"
    expect(RedundantViewRemoval(), on=parse(text.format(views=views, first=first, second=second))).becomes(
        text.format(views="view v: f64[N*M] of A", first=first, second=both)
    ).same_values(N=[1, 3], M=[2])
