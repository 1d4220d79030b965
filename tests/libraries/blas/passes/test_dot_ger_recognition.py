"""Products leave the maps that they are in: shape, value, refusal; and what becomes of triangles from Python."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.libraries.blas.passes.dot_ger_recognition import GemmFromVectors, GemvFromDots
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal

SIZES = {"N": [1, 3], "K": [1, 2], "M": [0, 1, 4]}


def program(body):
    return parse(
        "sdfg @f(A: f64[N, K], B: f64[K, M], C: f64[N, M], s: f64) "
        f"symbols(N: size, K: size, M: size) {{ state {{ {body} }} }}"
    )


def text(body):
    arguments = "A: f64[N, K], B: f64[K, M], C: f64[N, M], s: f64"
    return f"sdfg @f({arguments}) symbols(N: size, K: size, M: size) {{ {body} }}"


ROW = """map j = 0:M { data t: f64 transient
  blas.dot (x <- A[0, 0:K], y <- B[0:K, j]) -> (result -> t)
  tasklet (a <- t, c <- C[0, j]) -> (o -> C[0, j]) { o = max(a, c) } }"""


def test_dots_that_share_a_vector_are_a_product_of_a_matrix():
    after = """data products: f64[M] transient
    state { blas.gemv (a <- B[0:K, 0:M], x <- A[0, 0:K]) -> (y -> products[0:M]) {trans_a = true}
      map j = 0:M { data t: f64 transient
        tasklet (product <- products[j]) -> (out -> t) { out = product }
        tasklet (a <- t, c <- C[0, j]) -> (o -> C[0, j]) { o = max(a, c) } } }"""
    expect(GemvFromDots(), on=program(ROW)).becomes(text(after)).same_values(**SIZES)


def test_rows_are_the_rows_of_the_matrix():
    before = """map i = 1:N + 1 { blas.dot (x <- A[i - 1, 0:K], y <- B[0:K, 0]) -> (result -> C[i - 1, 0]) }"""
    after = """data products: f64[N] transient
    state { blas.gemv (a <- A[0:N, 0:K], x <- B[0:K, 0]) -> (y -> products[0:N])
      map i = 1:N + 1 { tasklet (product <- products[i - 1]) -> (out -> C[i - 1, 0]) { out = product } } }"""
    expect(GemvFromDots(), on=program(before)).becomes(text(after)).same_values(N=[1, 3], K=[1, 2], M=[1, 4])


def test_of_two_parameters_the_last_one_is_lifted():
    before = "map i = 0:N, j = 0:M { blas.dot (x <- A[i, 0:K], y <- B[0:K, j]) -> (result -> C[i, j]) }"
    after = """state { map i = 0:N { data products: f64[M] transient
      blas.gemv (a <- B[0:K, 0:M], x <- A[i, 0:K]) -> (y -> products[0:M]) {trans_a = true}
      map j = 0:M { tasklet (product <- products[j]) -> (out -> C[i, j]) { out = product } } } }"""
    lifted = expect(GemvFromDots(), on=program(before)).becomes(text(after)).same_values(**SIZES)
    after = """loop i_block = 0:N:128 { data products_1: f64[min(N, i_block + 128) - i_block, M] transient state {
      blas.gemm (a <- A[i_block:min(N, i_block + 128), 0:K], b <- B[0:K, 0:M])
        -> (c -> products_1[0:min(N, i_block + 128) - i_block, 0:M])
      map i = i_block:min(N, i_block + 128) {
        map j = 0:M { tasklet (product <- products_1[i - i_block, j]) -> (out -> C[i, j]) { out = product } } } } }"""
    expect(GemmFromVectors(), on=lifted.after).becomes(text(after)).same_values(**SIZES)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("map j = 0:M { blas.dot (x <- B[0:K, j], y <- B[0:K, j]) -> (result -> C[0, j]) }", "2 vectors move"),
        ("map j = 0:M { blas.dot (x <- B[0:K, M - 1 - j], y <- A[0, 0:K]) -> (result -> C[0, j]) }", "one step"),
        ("map j = 0:M { blas.dot (x <- B[0:j, 0], y <- A[0, 0:j]) -> (result -> C[0, j]) }", "2 vectors move"),
        ("map j = 0:M:2 { blas.dot (x <- B[0:K, j], y <- A[0, 0:K]) -> (result -> C[0, j]) }", "have steps"),
        ("map j = 1:M { blas.dot (x <- B[0:K, j], y <- A[0, 0:K]) -> (result -> C[0, j]) }", "inside out"),
        (
            "map j = 0:M { tasklet () -> (o -> B[0, j]) { o = 1.0 } "
            "blas.dot (x <- B[0:K, j], y <- A[0, 0:K]) -> (result -> C[0, j]) }",
            "'B', which it reads, is written before it",
        ),
        (
            "map j = 0:M { data v: f64[K] transient copy A[0, 0:K] -> v[0:K] "
            "blas.dot (x <- B[0:K, j], y <- v[0:K]) -> (result -> C[0, j]) }",
            "each iteration has its own 'v'",
        ),
        ("map i = 0:N { map j = 0:M { blas.dot (x <- B[0:K, j], y <- A[i, 0:K]) -> (result -> C[i, j]) } }", "threads"),
        ("map j = 0:M { tasklet () -> (o -> C[0, j]) { o = 1.0 } }", "no blas.dot inside"),
    ],
)
def test_dots_that_stay(body, reason):
    expect(GemvFromDots(), on=program(body)).is_refused(reason)


def square(body):
    return f"sdfg @f(A: f64[N, M], C: f64[M, M]) symbols(N: size, M: size) {{ {body} }}"


def test_a_triangle_is_computed_in_blocks_of_rows():
    before = """state { map i = 0:M { data t: f64[M - i] transient
      blas.gemv (a <- A[0:N, i:M], x <- A[0:N, i]) -> (y -> t[0:M - i]) {trans_a = true}
      map j = 0:M - i { tasklet (a <- t[j]) -> (o -> C[i, i + j]) { o = a/2.0 } } } }"""
    after = """loop i_block = 0:M:2 { data products: f64[min(M, i_block + 2) - i_block, M - i_block] transient state {
      blas.gemm (a <- A[0:N, i_block:min(M, i_block + 2)], b <- A[0:N, i_block:M])
        -> (c -> products[0:min(M, i_block + 2) - i_block, 0:M - i_block]) {trans_a = true}
      map i = i_block:min(M, i_block + 2) {
        map j = 0:M - i { tasklet (a <- products[i - i_block, i - i_block + j]) -> (o -> C[i, i + j]) { o = a/2.0 } }
      } } }"""
    lifted = expect(GemmFromVectors(rows=2), on=parse(square(before))).becomes(square(after))
    lifted.same_values(N=[1, 3], M=[0, 1, 2, 5])


def test_what_others_see_is_copied():
    before = """state { map i = 0:M {
      blas.gemv (a <- A[0:N, 0:i + 1], x <- A[0:N, i]) -> (y -> C[0:i + 1, i]) {alpha = -2.0, trans_a = true} } }"""
    after = """loop i_block = 0:M:2 {
      data products: f64[min(M, i_block + 2) - i_block, min(M, i_block + 2)] transient state {
      blas.gemm (a <- A[0:N, i_block:min(M, i_block + 2)], b <- A[0:N, 0:min(M, i_block + 2)])
        -> (c -> products[0:min(M, i_block + 2) - i_block, 0:min(M, i_block + 2)]) {alpha = -2.0, trans_a = true}
      map i = i_block:min(M, i_block + 2) { copy products[i - i_block, 0:i + 1] -> C[0:i + 1, i] } } }"""
    lifted = expect(GemmFromVectors(rows=2), on=parse(square(before))).becomes(square(after))
    lifted.same_values(N=[1, 3], M=[0, 1, 5])


def test_sums_stay_where_they_are():
    before = """state { map i = 0:M { copy A[0, 0:M] -> C[i, 0:M]
      blas.gemv (a <- A[0:N, 0:i + 1], x <- A[0:N, i], y <- C[i, 0:i + 1], alpha <- A[0, 0]) -> (y -> C[i, 0:i + 1])
        {trans_a = true} } }"""
    after = """loop i_block = 0:M:2 {
      data products: f64[min(M, i_block + 2) - i_block, min(M, i_block + 2)] transient state {
      blas.gemm (a <- A[0:N, i_block:min(M, i_block + 2)], b <- A[0:N, 0:min(M, i_block + 2)], alpha <- A[0, 0])
        -> (c -> products[0:min(M, i_block + 2) - i_block, 0:min(M, i_block + 2)]) {trans_a = true}
      map i = i_block:min(M, i_block + 2) { copy A[0, 0:M] -> C[i, 0:M]
        map p = 0:i + 1 { tasklet (there <- C[i, p], new <- products[i - i_block, p])
          -> (out -> C[i, p]) { out = there + new } } } } }"""
    lifted = expect(GemmFromVectors(rows=2), on=parse(square(before))).becomes(square(after))
    lifted.same_values(N=[1, 3], M=[0, 1, 5])


@pytest.mark.parametrize(
    ("product", "reason"),
    [
        ("(a <- A[i:i + 1, 0:M], x <- A[0:1, i]) -> (y -> C[i, 0:M]) {trans_a = true}", "what is summed over"),
        ("(a <- A[0:i, 0:M], x <- A[0:i, i]) -> (y -> C[i, 0:M]) {trans_a = true}", "does not move one step"),
        ("(a <- A[0:N, i*i:M], x <- A[0:N, i]) -> (y -> C[i, i*i:M]) {trans_a = true}", "not linear"),
        ("(a <- A[0:N, i:N], x <- A[0:N, i]) -> (y -> C[i, i:N]) {trans_a = true}", "may be empty"),
        (
            "(a <- A[0:N, 0:M], x <- A[0:N, i], y <- C[i, 0:M]) -> (y -> C[i, 0:M]) {beta = 2.0, trans_a = true}",
            "scales what is there",
        ),
        (
            "(a <- A[0:N, 0:M], x <- A[0:N, i], alpha <- A[0, i]) -> (y -> C[i, 0:M]) {trans_a = true}",
            "another one in each iteration",
        ),
    ],
)
def test_vectors_that_stay(product, reason):
    sdfg = parse(square(f"state {{ map i = 0:M {{ blas.gemv {product} }} }}"))
    expect(GemmFromVectors(), on=sdfg).is_refused(reason)


def triangles(A, B, C, s):
    n = A.shape[0]
    G = np.zeros((n, n), dtype=A.dtype)
    for i in range(n):
        for j in range(B.shape[1]):
            C[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j]) * 0.5
    for i in range(n - 1):
        G[i + 1 :, i] = G[i, i + 1 :] = A[:, i] @ A[:, i + 1 :]
    for i in range(n):
        for j in range(n):
            if i != j:
                G[i, j] += A[i, :] @ A[:, j]
    for i in range(n):
        B[i] = s * B[i] + A[i] @ C
    return G


@pytest.mark.cc
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64])
@pytest.mark.parametrize("n", [1, 2, 150])
def test_triangles_from_python(n, dtype):
    rng = np.random.default_rng(n)
    arguments = [(rng.random(shape) * 9).astype(dtype) for shape in ((n, n), (n, 7), (n, 7))]
    if dtype == np.int64:
        arguments[2] = arguments[2].astype(float)
    mine, its = ([*(value.copy() for value in arguments), 2] for _ in range(2))
    found, expected = dcpy.program(auto_optimize=True)(triangles)(*mine), triangles(*its)
    for left, right in zip((found, *mine), (expected, *its), strict=True):
        assert_equal(left, right, rtol=1e-4 if dtype == np.float32 else 1e-10)
