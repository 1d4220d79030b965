"""ExtremumReduction: shape, value, refusal. S-5: a maximum written as a branch is a maximum."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.loops.extremum_reduction import ExtremumReduction
from tests.support.expect import expect, parse

HEAD = "sdfg @f(a: f64[N], k: i32[N], m: f64[], l: i32[]) symbols(N: size)"


def program(body):
    return parse(f"{HEAD} {{ {body} }}")


def applied(body):
    return expect(ExtremumReduction(), on=program(body)).applies()


def keep(condition="a[i] > m[]", value="a[i]", more=""):
    return f"loop i = 0:N {{ if {condition} {{ state {{ tasklet (x <- {value}) -> (o -> m) {{ o = x }} }} }} {more} }}"


def test_becomes_a_maximum():
    expect(ExtremumReduction(), on=program(keep())).becomes(f"""{HEAD} {{
        data best: f64 transient
        state {{ tasklet () -> (out -> best) {{ out = -inf }} }}
        loop i = 0:N {{ state {{
          tasklet (x <- a[i]) -> (out -> best (max)) {{ out = select(x == x, x, -inf) }} }} }}
        if best[] > m[] {{ state {{ tasklet (x <- best) -> (out -> m) {{ out = x }} }} }}
        }}""").same_values(N=[0, 1, 5], m=[np.array(0.5), np.array(np.nan), np.array(-np.inf)])


@pytest.mark.parametrize("condition", ["a[i] < m[]", "m[] > a[i]", "m[] >= a[i]", "a[i] >= m[]", "m[] < a[i]"])
def test_either_way_round(condition):
    a = np.array([1.0, np.nan, -3, 7, np.nan, 7, -3])
    applied(keep(condition)).same_values(
        N=[7], a=[a, np.full(7, np.nan), np.full(7, np.inf)], m=[np.array(2.0), np.array(np.nan)]
    )


def test_integers_start_from_their_limits():
    body = "loop i = 0:N { if k[i] < l[] { state { tasklet (x <- k[i]) -> (o -> l) { o = x } } } }"
    applied(body).same_values(N=[0, 3], l=[np.array(2, "i4"), np.array(2**31 - 1, "i4")])


def selected(code, kept="m", value="a[i]", dtype="f64", more=""):
    """A loop of a function that chooses one of `x`, the new value, and `y`, the old one."""
    return f"""loop i = 0:N {{ data t: {dtype} transient state {{
        tasklet (x <- {value}, y <- {kept}) -> (o -> t) {{ o = {code} }} {more}
        tasklet (x <- t) -> (o -> {kept}) {{ o = x }} }} }}"""


def test_what_is_selected_becomes_a_maximum():
    expect(ExtremumReduction(), on=program(selected("select(abs(x) > y, abs(x), y)"))).becomes(f"""{HEAD} {{
        data best: f64 transient
        state {{ tasklet () -> (out -> best) {{ out = -inf }} }}
        loop i = 0:N {{ data t: f64 transient state {{
          tasklet (x <- a[i]) -> (out -> best (max)) {{ out = select(abs(x) == abs(x), abs(x), -inf) }} }} }}
        if best[] > m[] {{ state {{ tasklet (x <- best) -> (out -> m) {{ out = x }} }} }}
        }}""").same_values(N=[0, 1, 2, 7], m=[np.array(0.5), np.array(np.nan), np.array(-np.inf)])


@pytest.mark.parametrize("condition", ["x > y", "x >= y", "x < y", "x <= y", "y > x", "y >= x", "y < x", "y <= x"])
def test_what_is_selected_either_way_round(condition):
    a = np.array([1.0, np.nan, -3, 7, np.nan, 7, -3])
    floats, integers = f"select({condition}, x, y)", selected(f"select({condition}, y, x)", "l", "k[i]", "i32")
    applied(selected(floats)).same_values(N=[7], a=[a, np.full(7, np.nan)], m=[np.array(2.0), np.array(np.nan)])
    applied(integers).same_values(N=[0, 1, 7], l=[np.array(2, "i4")])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (keep("a[i] == m[]"), "it does not assign what it found to be larger"),
        (selected("select(x > y, y, x)"), "it does not assign what it found to be larger"),  # a NaN is taken, and lost
        (selected("select(x > y, x, 2.0*y)"), "it does not assign what it found to be larger"),
        (selected("select(x > y, x, y)", more="tasklet (x <- t) -> (o -> a[i]) { o = x }"), "it does not assign"),
        (selected("select(x > y, x, y)", more="tasklet (x <- m) -> (o -> a[i]) { o = x }"), "'m' is also touched"),
        (keep(value="a[0]"), "it does not assign what it found to be larger"),
        (keep(more="state { tasklet (x <- m) -> (o -> a[i]) { o = x } }"), "'m' is also touched by tasklet"),
        (keep(more="if a[i] > 3.0 { break }"), "may leave the loop early"),
        ("if a[0] > m[] { state { tasklet (x <- a[0]) -> (o -> m) { o = x } } }", "no loop around it"),
    ],
)
def test_refuses(body, reason):
    expect(ExtremumReduction(), on=program(body)).is_refused(reason)


MATRIX = "sdfg @f(t: i32[N, N]) symbols(N: size)"


def longest(value):
    """A loop of a table that is filled from its own elements, as in dynamic programming."""
    return parse(f"""{MATRIX} {{ loop i = 1:N {{ loop k = 0:i {{ data c: i32 transient state {{
        tasklet (x <- {value}, y <- t[i, 0]) -> (o -> c) {{ o = select(x > y, x, y) }}
        tasklet (x <- c) -> (o -> t[i, 0]) {{ o = x }} }} }} }} }}""")


@pytest.mark.parametrize("value", ["t[k, 0]", "t[i, k + 1]", "t[i - 1, k]"])
def test_other_elements_of_the_array_may_be_read(value):
    """If there is a proof that they are others in all iterations."""
    expect(ExtremumReduction(), on=longest(value)).applies().same_values(N=[1, 2, 5])


@pytest.mark.parametrize("value", ["t[i, k]", "t[k + 1, 0]", "t[1, 0]"])
def test_refuses_what_may_be_computed_from_what_is_kept(value):
    expect(ExtremumReduction(), on=longest(value)).is_refused("the value is computed from what is kept")


def largest(a):
    found = a[0]
    for i in range(1, len(a)):
        if a[i] > found:
            found = a[i]
    return found


def largest_magnitude(a):
    found = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if abs(a[i, j]) > found:
                found = abs(a[i, j])
    return found


def test_s5_the_loop_becomes_a_map():
    sdfg = dcpy.program(largest, auto_optimize=True).to_sdfg(np.zeros(5))
    assert [node.kind for node in sdfg.body.walk_nodes()].count("map") == 1, str(sdfg)


@pytest.mark.cc
def test_s5_values():
    rng = np.random.default_rng(0)
    for size in (1, 5, 100_000):
        a = rng.standard_normal(size)
        a[size // 2] = np.nan if size > 1 else a[0]
        assert dcpy.program(largest, auto_optimize=True)(a) == largest(a)
    b = rng.standard_normal((30, 40))
    assert dcpy.program(largest_magnitude, auto_optimize=True)(b) == largest_magnitude(b)
