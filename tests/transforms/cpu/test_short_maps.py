"""Short maps: what takes a few values inside of another map is written out, and vectors go along the map around."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.options import Options
from dcpy.ir.text.printer import print_sdfg
from tests.support.expect import parse

HEAD = "sdfg @f(x: f64[N, 3], y: f64[N, 30], r: f64[N]) symbols(N: size)"


def scheduled(inner):
    body = f"""state {{ map i = 0:N {{ data s: f64 transient
        state {{ tasklet () -> (o -> s) {{ o = 0.0 }} }}
        state {{ {inner} }}
        state {{ tasklet (a <- s) -> (o -> r[i]) {{ o = a }} }} }} }}"""
    graph, _ = driver.lower(parse(f"{HEAD} {{ {body} }}"), Options())
    return print_sdfg(graph)


def test_a_map_over_coordinates_is_unrolled_and_vectors_go_along_the_points():
    text = scheduled("map k = 0:3 { tasklet (a <- x[i, k]) -> (o -> s (add)) { o = a * a } }")
    assert "map k = 0:3 @unrolled" in text
    assert "width = 0" in text or "@vector" in text


@pytest.mark.parametrize(
    "inner",
    [
        "map k = 0:30 { tasklet (a <- y[i, k]) -> (o -> s (add)) { o = a * a } }",
        "map k = 0:N { tasklet (a <- y[k, 0]) -> (o -> s (add)) { o = a * a } }",
    ],
)
def test_longer_maps_are_not(inner):
    assert "@unrolled" not in scheduled(inner)


def total_of_squares(x):
    return (x * x).sum(axis=1)


@pytest.mark.cc
@pytest.mark.parametrize("columns", [2, 3, 7, 8, 9])
def test_values(columns):
    x = np.random.default_rng(0).random((50, columns))
    found = dcpy.program(total_of_squares, auto_optimize=True)(x)
    np.testing.assert_allclose(found, total_of_squares(x), rtol=1e-13)
