"""IsolateInnerMap: shape, value, refusal; and vectors along memory from Python."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.maps.inner_map_isolation import IsolateInnerMap
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal

HEAD = "sdfg @f(A: f64[N, M], X: f64[M], Y: f64[N], Z: f64[M]) symbols(N: size, M: size)"
SIZES = {"N": [0, 1, 3], "M": [1, 4]}
BEFORE = "tasklet (x <- X[j]) -> (o -> t) { o = 2.0*x }"
INNER = "map i = 0:N { tasklet (a <- A[i, j], t <- t, y <- Y[i]) -> (o -> A[i, j]) { o = a - y*t } }"
BEHIND = "tasklet (t <- t, z <- Z[j]) -> (o -> Z[j]) { o = z + t }"


def program(*nodes, domain="j = 0:M"):
    return parse(f"{HEAD} {{ state {{ map {domain} {{ data t: f64 transient {' '.join(nodes)} }} }} }}")


def nest(index, name="j"):
    return (
        f"map {name} = 0:M, i = 0:N {{ tasklet (a <- A[i, {name}], t <- t[{name}], y <- Y[i]) "
        f"-> (o -> A[i, {name}]) {{ o = a - y*t }} }}"
    ).replace("t[", f"t[{index}" if index else "t[")


def test_what_is_before_and_behind_has_maps_of_its_own():
    after = f"""{HEAD} {{ data t: f64[M] transient state {{
      map j = 0:M {{ tasklet (x <- X[j]) -> (o -> t[j]) {{ o = 2.0*x }} }}
      {nest("", "j_1")}
      map j_1_1 = 0:M {{ tasklet (t <- t[j_1_1], z <- Z[j_1_1]) -> (o -> Z[j_1_1]) {{ o = z + t }} }} }} }}"""
    expect(IsolateInnerMap(), on=program(BEFORE, INNER, BEHIND)).becomes(after).same_values(**SIZES)


def test_what_is_before_alone():
    after = f"""{HEAD} {{ data t: f64[M] transient state {{
      map j = 0:M {{ tasklet (x <- X[j]) -> (o -> t[j]) {{ o = 2.0*x }} }}
      {nest("", "j_1")} }} }}"""
    expect(IsolateInnerMap(), on=program(BEFORE, INNER)).becomes(after).same_values(**SIZES)


@pytest.mark.parametrize(
    ("nodes", "domain", "reason"),
    [
        ((BEFORE, INNER), "j = 0:M, l = 0:1", "several parameters"),
        ((BEFORE, INNER.replace("0:N", "0:j")), "j = 0:M", "no map inside has its memory along 'j'"),
        ((BEFORE, INNER.replace("A[i, j]", "A[j, i]")), "j = 0:M", "no map inside"),
        ((BEFORE, INNER.replace("A[i, j]", "X[i]")), "j = 0:M", "no map inside"),
        ((INNER.replace("t <- t", "t <- Z[j]"),), "j = 0:M", "not a state of several nodes"),
        (
            (
                "data r: f64[2] transient",
                "tasklet () -> (o -> r[0]) { o = 1.0 }",
                INNER.replace("t <- t", "t <- r[0]"),
            ),
            "j = 0:M",
            "its own array 'r'",
        ),
    ],
)
def test_what_stays(nodes, domain, reason):
    expect(IsolateInnerMap(), on=program(*nodes, domain=domain)).is_refused(reason)


def rotated(A, X, Y):
    n = 0.0
    for k in range(A.shape[1]):
        for j in range(k + 1, A.shape[1]):
            X[j] = X[j] * 0.5 + A[0, j]
            A[:, j] -= Y * X[j] * 0.1
            X[j] += A[1, j]
        n += X[k]
    return n


@pytest.mark.cc
@pytest.mark.parametrize("shape", [(2, 1), (3, 5), (40, 33)])
def test_from_python(shape):
    rng = np.random.default_rng(0)
    arguments = [rng.random(shape), rng.random(shape[1]), rng.random(shape[0])]
    mine, its = ([value.copy() for value in arguments] for _ in range(2))
    assert_equal(dcpy.program(auto_optimize=True)(rotated)(*mine), rotated(*its))
    for left, right in zip(mine, its, strict=True):
        assert_equal(left, right)
