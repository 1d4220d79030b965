"""Stacks of products become one, products of one row those of a vector: shape, value, refusal; and from Python."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.libraries.blas.passes.stacked_products import MergeStackedProducts, NarrowProduct
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal, check_same

SIZES = {"N": [1, 3], "R": [1, 2], "K": [1, 3], "M": [2]}
MATRIX = "a <- A[i, 0:R, 0:K], b <- B[0:K, 0:M]"


def program(body, declarations=""):
    return parse(
        "sdfg @f(A: f64[N, R, K], B: f64[K, M], C: f64[N, R, M]) "
        f"symbols(N: size, R: size, K: size, M: size) {{ {declarations} state {{ {body} }} }}"
    )


def text(body, declarations=""):
    from dcpy.ir.text import print_sdfg

    return print_sdfg(program(body, declarations))


ROWS = "view A_rows: f64[N*R, K] of A  view C_rows: f64[N*R, M] of C"


def test_products_with_one_matrix_become_one():
    before = f"map i = 0:N {{ blas.gemm ({MATRIX}) -> (c -> C[i, 0:R, 0:M]) }}"
    after = "blas.gemm (a <- A_rows[0:N*R, 0:K], b <- B[0:K, 0:M]) -> (c -> C_rows[0:N*R, 0:M])"
    expect(MergeStackedProducts(), on=program(before)).becomes(text(after, ROWS)).same_values(**SIZES)


def test_vectors_times_a_matrix_become_one_product():
    before = "map i = 0:N, j = 0:R { blas.gemv (a <- B[0:K, 0:M], x <- A[i, j, 0:K]) -> (y -> C[i, j, 0:M]) {trans_a} }"
    before = before.replace("{trans_a}", "{trans_a = true}")
    after = "blas.gemm (a <- A_rows[0:N*R, 0:K], b <- B[0:K, 0:M]) -> (c -> C_rows[0:N*R, 0:M])"
    expect(MergeStackedProducts(), on=program(before)).becomes(text(after, ROWS)).same_values(**SIZES)


def test_a_part_of_the_stack():
    before = "map i = 1:N { blas.gemm (a <- A[i, 0:R, 0:K], b <- B[0:K, 0:M]) -> (c -> C[i - 1, 0:R, 0:M]) }"
    views = """view A_view: f64[N - 1, R, K] of A[1:N, 0:R, 0:K]  view A_rows: f64[(N - 1)*R, K] of A_view
               view C_view: f64[N - 1, R, M] of C[0:N - 1, 0:R, 0:M]  view C_rows: f64[(N - 1)*R, M] of C_view"""
    after = "blas.gemm (a <- A_rows[0:N*R - R, 0:K], b <- B[0:K, 0:M]) -> (c -> C_rows[0:N*R - R, 0:M])"
    expect(MergeStackedProducts(), on=program(before)).becomes(text(after, views)).same_values(**SIZES)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("map i = 0:N, j = 0:N { blas.gemm (A) -> (OUT) }", "do not follow each other"),
        ("map i = 0:N { blas.gemm (a <- A[N - 1 - i, 0:R, 0:K], b <- B[0:K, 0:M]) -> (OUT) }", "follow"),
        ("map i = 1:N { blas.gemm (a <- A[i, 0:R - 1, 0:K], b <- B[0:K, 0:M]) -> (c -> C[i, 0:R - 1, 0:M]) }", "foll"),
        ("map i = 0:N:2 { blas.gemm (A) -> (OUT) }", "do not follow each other"),
        ("map i = 0:N { blas.gemm (A, c <- C[i, 0:R, 0:M]) -> (OUT) }", "adds to what is there"),
        ("map i = 0:N { blas.gemm (A) -> (OUT)  tasklet () -> (o -> B[0, 0]) { o = 1.0 } }", "just one"),
        ("map i = 0:1 { blas.gemm (a <- A[i, 0:R, 0:K], b <- A[i, 0:K, 0:M]) -> (OUT) }", "another one"),
        ("map i = 0:N { blas.gemm (a <- C[i, 0:R, 0:K], b <- B[0:K, 0:M]) -> (OUT) }", "overlaps 'C'"),
    ],
)
def test_other_stacks_stay(body, reason):
    body = body.replace("(A", f"({MATRIX}").replace("(OUT)", "(c -> C[i, 0:R, 0:M])")
    expect(MergeStackedProducts(), on=program(body)).is_refused(reason)


NARROW = {
    "blas.gemm (a <- A[0, 0:1, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0, 0:1, 0:M])": (
        "blas.gemv (a <- B[0:K, 0:M], x <- A[0, 0, 0:K]) -> (y -> C[0, 0, 0:M]) {trans_a = true}"
    ),
    "blas.gemm (a <- A[0, 0:R, 0:K], b <- B[0:K, 1:2]) -> (c -> C[0, 0:R, 0:1])": (
        "blas.gemv (a <- A[0, 0:R, 0:K], x <- B[0:K, 1]) -> (y -> C[0, 0:R, 0])"
    ),
    "blas.gemm (a <- B[0:K, 1:2], b <- B[0:K, 0:M]) -> (c -> C[0, 0:1, 0:M]) {trans_a = true}": (
        "blas.gemv (a <- B[0:K, 0:M], x <- B[0:K, 1]) -> (y -> C[0, 0, 0:M]) {trans_a = true}"
    ),
}


@pytest.mark.parametrize("before", NARROW)
def test_one_row_or_column_is_a_vector(before):
    expect(NarrowProduct(), on=program(before)).becomes(text(NARROW[before])).same_values(**SIZES)


def test_matrices_stay():
    before = "blas.gemm (a <- A[0, 0:R, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0, 0:R, 0:M])"
    expect(NarrowProduct(), on=program(before)).is_refused("the result has R rows and M columns")


@pytest.mark.cc
@pytest.mark.parametrize("shape", [(3, 4, 1, 5), (2, 3, 4, 5), (3, 0, 2, 5)])
def test_stacks_from_python(shape):
    def f(a, b):
        c = np.zeros((a.shape[0], a.shape[1], b.shape[1]))
        for i in range(a.shape[0]):
            c[i] = a[i, :, 0] @ b
        return a @ b, c

    rng = np.random.default_rng(0)
    a, b = rng.random(shape), rng.random((5, 7))
    check_same(f, a, b, rtol=1e-12)
    assert_equal(dcpy.program(auto_optimize=True)(f)(a, b), f(a, b), rtol=1e-12)
