"""Loops that add up products become products of BLAS: shape, value, refusal; and updates of triangles from Python."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.libraries.blas.passes.gemm_recognition import GemmRecognition
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal

HEAD = """sdfg @f(A: f64[N, K], B: f64[K, N], X: f64[K], Y: f64[N], C: f64[N], D: f32[N], s: f64)
  symbols(N: size, K: size)"""
SIZES = {"N": [0, 1, 3], "K": [0, 1, 4]}


def program(code, reads="a <- A[j, k], x <- X[k], y <- Y[j], s <- s", before="", k="0:K", j="0:N", out="C[j]"):
    point = f"tasklet ({reads}, c <- {out}) -> (o -> {out}) {{ o = {code} }}"
    return parse(f"{HEAD} {{ loop k = {k} {{ {before} state {{ map j = {j} {{ {point} }} }} }} }}")


PRODUCTS = {
    "c + a*x": "blas.gemv (a <- A[0:N, 0:K], x <- X[0:K], y <- C[0:N]) -> (y -> C[0:N])",
    "c - x*(2.0*a)": "blas.gemv (a <- A[0:N, 0:K], x <- X[0:K], y <- C[0:N]) -> (y -> C[0:N]) {alpha = -2.0}",
    "s*a*x + c": "blas.gemv (a <- A[0:N, 0:K], x <- X[0:K], y <- C[0:N], alpha <- s) -> (y -> C[0:N])",
}


@pytest.mark.parametrize("code", PRODUCTS)
def test_a_sum_over_the_loop_is_a_product(code):
    after = f"{HEAD} {{ state {{ {PRODUCTS[code]} }} }}"
    expect(GemmRecognition(), on=program(code)).becomes(after).same_values(**SIZES)


def test_columns_and_parts_of_them():
    before = program("c + b*x", reads="b <- B[k - 1, j], x <- X[k - 1]", k="1:K + 1", j="1:N + 1", out="C[j - 1]")
    before = parse(str_of(before).replace("B[k - 1, j]", "B[k - 1, j - 1]"))
    product = "blas.gemv (a <- B[0:K, 0:N], x <- X[0:K], y <- C[0:N]) -> (y -> C[0:N]) {trans_a = true}"
    expect(GemmRecognition(), on=before).becomes(f"{HEAD} {{ state {{ {product} }} }}").same_values(**SIZES)


def test_what_each_iteration_computes_first_is_a_factor():
    before = """loop k = 0:K { data t: f64 transient state {
      tasklet (s <- s, x <- X[k]) -> (o -> t) { o = s*x }
      map j = 0:N { data u: f64 transient
        tasklet (t <- t, a <- A[j, k]) -> (o -> u) { o = t*a }
        tasklet (c <- C[j], u <- u) -> (o -> C[j]) { o = c + u } } } }"""
    after = f"state {{ {PRODUCTS['s*a*x + c']} }}"
    expect(GemmRecognition(), on=parse(f"{HEAD} {{ {before} }}")).becomes(f"{HEAD} {{ {after} }}").same_values(**SIZES)


def test_two_terms_are_two_products():
    code, reads = "c + (a*x + b*y*s)", "a <- A[j, k], x <- X[k], b <- B[k, j], y <- A[0, k], s <- s"
    after = """blas.gemv (a <- A[0:N, 0:K], x <- X[0:K], y <- C[0:N]) -> (y -> C[0:N])
      blas.gemv (a <- B[0:K, 0:N], x <- A[0, 0:K], y <- C[0:N], alpha <- s) -> (y -> C[0:N]) {trans_a = true}"""
    found = expect(GemmRecognition(), on=program(code, reads)).becomes(f"{HEAD} {{ state {{ {after} }} }}")
    found.same_values(N=[1, 3], K=[0, 1, 4])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"code": "c * (a*x)"}, "does not add products"),
        ({"code": "2.0*c + a*x"}, "does not add products"),
        ({"code": "c + exp(a*x)"}, "does not add products"),
        ({"code": "c + a"}, "not a product of a matrix, a vector"),
        ({"code": "c + y*x"}, "not a product of a matrix, a vector"),
        ({"code": "c + a*x*s*s"}, "not a product of a matrix, a vector"),
        ({"code": "c + a*x", "reads": "a <- A[j, k], x <- C[k]"}, "overlaps 'C'"),
        ({"code": "c + a*x", "reads": "a <- A[j + k, k], x <- X[k]"}, "one step at a time"),
        ({"code": "c + a*x", "k": "0:K:2"}, "has a step"),
        ({"code": "c + a*x", "j": "0:k"}, "depends on the loop"),
        ({"code": "c + a*x", "k": "1:K"}, "inside out"),
        ({"code": "c + a*x", "out": "C[k]"}, "not one element per point"),
        ({"code": "c + f32(a*x)", "out": "D[j]"}, "several dtypes"),
        ({"code": "c + a*x", "before": "state { tasklet () -> (o -> Y[0]) { o = 1.0 } }"}, "not one map"),
    ],
)
def test_other_loops_stay(changes, reason):
    expect(GemmRecognition(), on=program(**changes)).is_refused(reason)


def str_of(sdfg):
    from dcpy.ir.text import print_sdfg

    return print_sdfg(sdfg)


def updates(s, t, C, A, B):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= t
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * s * B[i, k] - B[: i + 1, k] * A[i, k] * 0.5
    for k in range(A.shape[1]):
        for j in range(A.shape[0]):
            C[j, 0] -= A[j, k] * B[0, k]


@pytest.mark.cc
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (300, 5), (4, 0)])
def test_from_python(shape, dtype):
    rng = np.random.default_rng(0)
    rows = shape[0]
    arguments = [rng.random(size).astype(dtype) for size in ((rows, rows), shape, shape)]
    mine, its = ([value.copy() for value in arguments] for _ in range(2))
    s = dtype(1.5)
    dcpy.program(auto_optimize=True)(updates)(s, s, *mine)
    updates(s, s, *its)
    assert_equal(mine[0], its[0], rtol=1e-4 if dtype == np.float32 else 1e-12)
