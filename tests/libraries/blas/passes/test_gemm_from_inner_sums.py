"""Sums of products in the points of maps are taken out as products of matrices: shape, value, refusal; and layers."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.libraries.blas.passes.gemm_from_inner_sums import GemmFromInnerSums
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal

HEAD = """sdfg @f(A: f64[N, K], B: f64[K, M], b: f64[M], C: f64[N, M]) symbols(N: size, M: size, K: size)"""
SIZES = {"N": [0, 1, 3], "M": [1, 2], "K": [0, 1, 4]}
LAST = "tasklet (t <- t) -> (o -> C[i, j]) { o = max(t, 0.0) }"


def program(axes="i = 0:N, j = 0:M", last=LAST, code="x*y", reads="x <- A[i, k], y <- B[k, j]", head=HEAD):
    return parse(f"""{head} {{ state {{ map {axes} {{ data t: f64 transient
      tasklet (c <- b[j]) -> (o -> t) {{ o = c }}
      map k = 0:K {{ tasklet ({reads}) -> (o -> t (add)) {{ o = {code} }} }}
      {last} }} }} }}""")


def test_all_sums_are_one_product():
    after = f"""{HEAD} {{ data products: f64[N, M] transient state {{
      blas.gemm (a <- A[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> products[0:N, 0:M])
      map i = 0:N, j = 0:M {{ data t: f64 transient
        tasklet (c <- b[j]) -> (o -> t) {{ o = c }}
        tasklet (s <- t, product <- products[i, j]) -> (o -> t) {{ o = s + product }}
        {LAST} }} }} }}"""
    expect(GemmFromInnerSums(), on=program()).becomes(after).same_values(**SIZES)


def test_parts_of_matrices_have_their_own_places():
    found = expect(GemmFromInnerSums(), on=program("i = 1:max(N, 1), j = 0:M"))
    found.same_values(**SIZES)


REFUSED = {
    "another sum": ({"code": "x + y"}, "more than products"),
    "a factor that the nest writes": ({"last": "tasklet (t <- t) -> (o -> A[i, j]) { o = t }"}, "writes a factor"),
    "few elements": ({"axes": "i = 0:4, j = 0:4"}, "a few elements"),
    "one axis": (
        {"axes": "j = 0:M", "reads": "x <- A[0, k], y <- B[k, j]", "last": LAST.replace("i, j", "0, j")},
        "two parameters",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_is_refused(what):
    changes, reason = REFUSED[what]
    expect(GemmFromInnerSums(), on=program(**changes)).is_refused(reason)


def layer(x, weights, bias):
    found = np.empty((x.shape[0], weights.shape[1]))
    for i in range(x.shape[0]):
        for j in range(weights.shape[1]):
            total = bias[j]
            for k in range(x.shape[1]):
                total += x[i, k] * weights[k, j]
            found[i, j] = max(total, 0.0)
    return found


def in_place(x, weights, bias):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total = bias[j]
            for k in range(x.shape[1]):
                total += x[i, k] * weights[k, j]
            x[i, j] = total


@pytest.mark.cc
def test_a_layer_by_loops_is_a_product():
    program = dcpy.program(layer, auto_optimize=True)
    rng = np.random.default_rng(4)
    for n, k, m in ((9, 20, 11), (1, 1, 1), (3, 0, 2), (0, 3, 4), (70, 65, 80)):
        x, weights, bias = rng.random((n, k)) - 0.5, rng.random((k, m)), rng.random(m)
        assert_equal(program(x, weights, bias), layer(x, weights, bias), rtol=1e-11)
    sdfg = dcpy.program(layer).to_sdfg(rng.random((9, 20)), rng.random((20, 11)), rng.random(11))
    sdfg.auto_optimize()
    assert "blas.gemm" in str(sdfg)


@pytest.mark.cc
def test_a_layer_into_its_own_input_is_none():
    rng = np.random.default_rng(4)
    mine, weights, bias = rng.random((9, 9)), rng.random((9, 9)), rng.random(9)
    theirs = mine.copy()
    dcpy.program(in_place, auto_optimize=True)(mine, weights, bias)
    in_place(theirs, weights, bias)
    assert_equal(mine, theirs, rtol=1e-11)
