"""Rows of a few elements become one long row: shape, value, refusal; and arrays of points from Python."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.maps.map_linearization import MapLinearization
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal

HEAD = "sdfg @f(A: f64[N, 3], B: f64[N, 3], C: f64[M, N, 3], w: f64[3], s: f64, T: f64[3, N]) symbols(N: size, M: size)"
SIZES = {"N": [0, 1, 5], "M": [0, 2]}
POINT = "tasklet (a <- A[i, j], s <- s) -> (o -> B[i, j]) { o = a*s }"


def program(body=POINT, axes="i = 0:N, j = 0:3"):
    return parse(f"{HEAD} {{ state {{ map {axes} {{ {body} }} }} }}")


def test_points_are_one_row():
    after = f"""{HEAD} {{
      view A_row: f64[N*3] of A
      view B_row: f64[N*3] of B
      state {{ map j_1 = 0:N*3 {{ tasklet (a <- A_row[j_1], s <- s) -> (o -> B_row[j_1]) {{ o = a*s }} }} }} }}"""
    expect(MapLinearization(), on=program()).becomes(after).same_values(**SIZES)


def test_axes_before_them_stay():
    before = program("tasklet (a <- C[k, i, j]) -> (o -> C[k, i, j]) { o = a + 1.0 }", "k = 0:M, i = 0:N, j = 0:3")
    after = f"""{HEAD} {{
      view C_row: f64[M, N*3] of C
      state {{ map k = 0:M, j_1 = 0:N*3 {{
        tasklet (a <- C_row[k, j_1]) -> (o -> C_row[k, j_1]) {{ o = a + 1.0 }} }} }} }}"""
    expect(MapLinearization(), on=before).becomes(after).same_values(**SIZES)


def test_some_rows_are_a_part_of_the_long_row():
    before = program("tasklet (a <- A[i, j]) -> (o -> C[0, i, j]) { o = a }", "i = 0:min(N, 2), j = 0:3")
    found = expect(MapLinearization(), on=before)
    found.same_values(N=[0, 1, 5], M=[1, 2])


REFUSED = {
    "one vector for all rows": ("tasklet (a <- A[i, j], w <- w[j]) -> (o -> B[i, j]) { o = a*w }", "row behind row"),
    "columns": ("tasklet (a <- T[j, i]) -> (o -> B[i, j]) { o = a }", "row behind row"),
    "rows turned around": ("tasklet (a <- A[i, 2 - j]) -> (o -> B[i, j]) { o = a }", "row behind row"),
    "an index": ("tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a + f64(j) }", "value of its own"),
    "a map inside": (f"map k = 0:2 {{ {POINT} }}", "more than tasklets"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_is_refused(what):
    body, reason = REFUSED[what]
    expect(MapLinearization(), on=program(body)).is_refused(reason)


def test_long_rows_and_parts_of_rows_are_refused():
    expect(MapLinearization(), on=program(axes="i = 1:N, j = 0:3")).is_refused("does not begin at 0")
    expect(MapLinearization(), on=program(axes="i = 0:N, j = 0:2")).is_refused("row behind row")
    long = parse("""sdfg @f(A: f64[N, M]) symbols(N: size, M: size) { state {
      map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> A[i, j]) { o = a*2.0 } } } }""")
    expect(MapLinearization(), on=long).is_refused("not known to be short")


def scaled(points):
    return points * 2.0 + 1.0


def masked(points):
    found = points.copy()
    found[points > 0.5] = 0.0
    return found


def shifted(points):
    points[1:, :] = points[:-1, :] * 2 + points[1:, :]


def some(points):
    found = np.ones((points.shape[0] + 1, 3))
    for i in range(points.shape[0]):
        for j in range(3):
            found[i, j] = points[i, j] * 2
    return found


def in_place(points):
    points *= 0.5
    points += np.sqrt(points)


@pytest.mark.cc
@pytest.mark.parametrize("function", [scaled, masked, in_place, shifted, some], ids=lambda function: function.__name__)
def test_values_are_numpys(function):
    program = dcpy.program(function, auto_optimize=True)
    rng = np.random.default_rng(2)
    whole = rng.random((40, 6))
    for points in (rng.random((50, 3)), rng.random((1, 3)), rng.random((0, 3)), rng.random((7, 4)), whole[:, :3]):
        mine, theirs = points.copy(), points.copy()
        if points.base is not None:
            mine, theirs = whole.copy()[:, :3], whole.copy()[:, :3]
        assert_equal(program(mine), function(theirs))
        assert_equal(mine, theirs)
