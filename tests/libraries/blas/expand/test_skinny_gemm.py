"""Products of a few rows with a large matrix: streamed, packed nowhere, and as exact as the library's or more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dcpy
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.text import print_sdfg
from dcpy.libraries.blas.expand import skinny_gemm
from tests.libraries import oracles
from tests.libraries.oracles import assert_expands, expanded
from tests.support.oracles import check_same

PRODUCT = (
    "sdfg @mm(A: {t}[N, K], B: {t}[K, M], C: {t}[N, M]) symbols(N: size, M: size, K: size) {{ state {{"
    " blas.matmul (a <- A[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0:N, 0:M]) }} }}"
)


def whole_numbers(dtype, *shape, seed=3):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


@pytest.fixture(autouse=True)
def on_a_processor(monkeypatch):
    """What costs say of CPUs: by hand, products are streamed only where that is asked for."""
    monkeypatch.setattr(oracles, "COSTS", replace(oracles.COSTS, few_rows=8))


@pytest.fixture
def small(monkeypatch):
    """Every product of up to eight rows is one of a few rows, in small tiles and groups."""
    for name, value in {"LARGE": 1, "ROW": 32, "TOGETHER": 3, "GROUP": 7}.items():
        monkeypatch.setattr(skinny_gemm, name, value)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("n", "k", "m"), [(1, 1, 1), (8, 7, 8), (3, 15, 9), (2, 23, 1), (5, 2, 17), (9, 4, 4), (0, 3, 3)]
)
def test_sizes_that_fill_tiles_and_groups_and_that_do_not(dtype, n, k, m, monkeypatch):
    text = PRODUCT.format(t={"float32": "f32", "float64": "f64"}[dtype])
    arguments = {"A": whole_numbers(dtype, n, k), "B": whole_numbers(dtype, k, m), "C": np.full((n, m), np.nan, dtype)}
    assert_expands(text, arguments, "openblas", monkeypatch)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ta", ["false", "true"])
def test_factors_summands_and_transposed_operands(ta, monkeypatch):
    a = "A[0:K, 0:N]" if ta == "true" else "A[0:N, 0:K]"
    shape = "K, N" if ta == "true" else "N, K"
    text = (
        f"sdfg @mm(A: f64[{shape}], B: f64[K, M], C: f64[N, M], s: f64[]) symbols(N: size, M: size, K: size) {{"
        " state {"
        f" blas.gemm (a <- {a}, b <- B[0:K, 0:M], c <- C[0:N, 0:M], beta <- s[]) -> (c -> C[0:N, 0:M])"
        f" {{alpha = 3, trans_a = {ta}}} }} }}"
    )
    n, k, m = 4, 10, 11
    arguments = {
        "A": whole_numbers("f8", *((k, n) if ta == "true" else (n, k))), "B": whole_numbers("f8", k, m),
        "C": whole_numbers("f8", n, m), "s": np.array(2.0),
    }  # fmt: skip
    assert_expands(text, arguments, "openblas", monkeypatch)


@pytest.mark.usefixtures("small")
def test_nan_and_infinity_go_the_way_of_the_sums(monkeypatch):
    A, B = whole_numbers("f8", 3, 9), whole_numbers("f8", 9, 10)
    B[4, 2], B[5, 3], A[1, 5] = np.nan, np.inf, 0
    arguments = {"A": A, "B": B, "C": np.zeros((3, 10))}
    assert_expands(PRODUCT.format(t="f64"), arguments, "openblas", monkeypatch)


@pytest.fixture
def thin(monkeypatch):
    """Every product of up to eight rows and terms is a thin one, in small tiles."""
    for name, value in {"WIDE": 1, "ROW": 64}.items():
        monkeypatch.setattr(skinny_gemm, name, value)


@pytest.mark.usefixtures("thin")
@pytest.mark.parametrize(("dtype", "t"), [("c8", "c64"), ("c16", "c128")])
@pytest.mark.parametrize(
    ("n", "k", "m"),
    [(1, 1, 1), (2, 2, 9), (3, 3, 33), (8, 8, 4), (4, 1, 5), (3, 8, 5), (9, 9, 5), (1, 2, 3), (2, 2, 0)],
)
def test_thin_products_of_few_rows_and_terms(dtype, t, n, k, m, monkeypatch):
    A, B = whole_numbers(dtype, n, k) * (1 + 2j), whole_numbers(dtype, k, m, seed=4) * (2 - 1j)
    arguments = {"A": A.astype(dtype), "B": B.astype(dtype), "C": np.full((n, m), np.nan, dtype)}
    text = PRODUCT.format(t=t)
    if n == k:
        text = text.replace("N", "K").replace("symbols(K: size, ", "symbols(").replace("size, K: size, M", "size, M")
    else:
        text = text.replace("N: size, ", "").replace(", K: size", "").replace("N", str(n)).replace("K", str(k))
    assert_expands(text, arguments, "openblas", monkeypatch)


@pytest.mark.usefixtures("thin")
def test_thin_products_scale_and_add(monkeypatch):
    text = (
        "sdfg @mm(A: c128[3, 4], B: c128[3, M], C: c128[4, M], s: c128[]) symbols(M: size) { state {"
        " blas.gemm (a <- A[0:3, 0:4], b <- B[0:3, 0:M], c <- C[0:4, 0:M], beta <- s[]) -> (c -> C[0:4, 0:M])"
        " {alpha = 3, trans_a = true} } }"
    )
    arguments = {
        "A": whole_numbers("c16", 3, 4), "B": whole_numbers("c16", 3, 17), "C": whole_numbers("c16", 4, 17),
        "s": np.array(2 - 1j),
    }  # fmt: skip
    assert_expands(text, arguments, "openblas", monkeypatch)


def rotated(R, points):
    return R @ points


@pytest.mark.parametrize("dtype", ["f8", "c8", "c16"])
@pytest.mark.parametrize("columns", [skinny_gemm.WIDE - 1, skinny_gemm.WIDE, 3 * skinny_gemm.WIDE + 5])
def test_points_in_columns(dtype, columns):
    R, points = whole_numbers(dtype, 3, 3), whole_numbers(dtype, 3, columns)
    check_same(rotated, R, points, optimized=True)


def asked_and_called(text):
    """Whether the size of the matrix is asked for, and whether a library is called."""
    sdfg = expanded(text, "openblas")
    return str(skinny_gemm.LARGE) in print_sdfg(sdfg), any(isinstance(n, ForeignCall) for n in sdfg.body.walk_nodes())


def test_a_thin_product_of_known_sizes_calls_no_library():
    fixed = PRODUCT.format(t="c128").replace("N, K]", "2, 2]").replace("K, M]", "2, 9000]").replace("N, M]", "2, 9000]")
    fixed = fixed.replace("0:N", "0:2").replace("0:K", "0:2").replace("0:M", "0:9000")
    fixed = fixed.replace(" symbols(N: size, M: size, K: size)", "")
    assert asked_and_called(fixed) == (False, False)
    assert asked_and_called(fixed.replace("9000", "4095")) == (False, True)


def test_other_sizes_than_a_square_are_not_asked_for():
    square = PRODUCT.format(t="c128").replace("N", "K").replace("K: size, M: size, K: size", "M: size, K: size")
    assert str(skinny_gemm.WIDE) in print_sdfg(expanded(square, "openblas"))
    assert str(skinny_gemm.WIDE) not in print_sdfg(expanded(PRODUCT.format(t="c128"), "openblas"))


def test_sizes_that_are_known_need_no_question():
    small_matrix = PRODUCT.format(t="f64").replace("N,", "4,").replace("0:N", "0:4").replace("N: size, ", "")
    assert asked_and_called(small_matrix) == (True, True)
    fixed = small_matrix.replace("K, M]", "3000, 3000]").replace("[4, K]", "[4, 3000]").replace("M]", "3000]")
    fixed = fixed.replace("0:K", "0:3000").replace("0:M", "0:3000").replace(" symbols(M: size, K: size)", "")
    assert asked_and_called(fixed) == (False, False)


@pytest.mark.parametrize("text", [
    PRODUCT.format(t="c128"),
    PRODUCT.format(t="f64").replace("B: f64[K, M]", "B: f64[M, K]").replace("B[0:K, 0:M]", "B[0:M, 0:K]").replace(
        "blas.matmul", "blas.gemm").replace("(c -> C[0:N, 0:M])", "(c -> C[0:N, 0:M]) {trans_b = true}"),
    PRODUCT.format(t="f64").replace("N,", "9,").replace("0:N", "0:9").replace("N: size, ", ""),
], ids=["complex numbers", "a matrix by columns", "more rows"])  # fmt: skip
def test_what_the_library_gets_all_the_same(text):
    assert asked_and_called(text) == (False, True)


def test_by_hand_the_library_gets_all(monkeypatch):
    monkeypatch.setattr(oracles, "COSTS", replace(oracles.COSTS, few_rows=0))
    assert asked_and_called(PRODUCT.format(t="f64")) == (False, True)


@pytest.mark.cc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [2, 5, 8])
def test_large_matrices_and_the_error_of_sums(dtype, n):
    @dcpy.program
    def product(A, B):
        return A @ B

    rng = np.random.default_rng(0)
    A, B = rng.random((n, 4001)).astype(dtype), rng.random((4001, 1101)).astype(dtype)
    exact = A.astype(np.longdouble) @ B.astype(np.longdouble)
    error = np.abs(product(A, B) / exact - 1).max()
    assert error <= np.abs(A @ B / exact - 1).max() + 2 * np.finfo(dtype).eps


@pytest.mark.cc
def test_results_do_not_depend_on_the_number_of_threads():
    @dcpy.program
    def many(A, B):
        return A @ B

    @dcpy.program(cpu_openmp=False)
    def one(A, B):
        return A @ B

    rng = np.random.default_rng(1)
    A, B = rng.random((7, 5000), dtype=np.float32), rng.random((5000, 999), dtype=np.float32)
    np.testing.assert_array_equal(many(A, B), one(A, B))
