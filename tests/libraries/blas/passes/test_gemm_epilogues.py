"""What surrounds a product moves into it: shape, value, refusal for each of the four transformations."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.libraries.blas.passes.gemm_epilogues import (
    FOLD_PRODUCTS,
    FoldFactor,
    FoldSum,
    FoldTranspose,
    SpecializeMatMul,
)
from dcpy.transforms.pass_manager import run_pipeline
from tests.libraries.oracles import values_of
from tests.support.expect import expect, parse

HEAD = (
    "sdfg @f(alpha: f64, beta: f64, A: f64[N, N], B: f64[N, N], C: f64[N, N], x: f64[N], y: f64[N]) symbols(N: size) {"
)
SIZES = {"N": [0, 1, 3]}


def program(body, *declarations):
    return parse(f"{HEAD} {' '.join(declarations)} state {{ {body} }} }}")


def text_of(body, *declarations):
    return print_sdfg(program(body, *declarations))


TMP = "data tmp: f64[N, N] transient"
OUT = "data out: f64[N, N] transient"
SCALE = "map i = 0:N, j = 0:N { tasklet (a <- A[i, j], s <- alpha) -> (o -> tmp[i, j]) { o = s * a } }"
PRODUCT = "blas.gemm (a <- tmp[0:N, 0:N], b <- B[0:N, 0:N]) -> (c -> C[0:N, 0:N])"
TO_OUT = "blas.gemm (a <- A[0:N, 0:N], b <- B[0:N, 0:N]) -> (c -> out[0:N, 0:N])"
SUM = (
    """map i = 0:N, j = 0:N { tasklet (p <- out[i, j], c <- C[i, j], s <- beta) -> (o -> C[i, j]) { o = p + s * c } }"""
)


# -- @ -----------------------------------------------------------------------------------------------------------------

MATMULS = {
    "(a <- A[0:N, 0:N], b <- B[0:N, 0:N]) -> (c -> C[0:N, 0:N])": (
        "gemm (a <- A[0:N, 0:N], b <- B[0:N, 0:N]) -> (c -> C[0:N, 0:N])"
    ),
    "(a <- A[0:N, 0:N], b <- x[0:N]) -> (c -> y[0:N])": "gemv (a <- A[0:N, 0:N], x <- x[0:N]) -> (y -> y[0:N])",
    "(a <- x[0:N], b <- A[0:N, 0:N]) -> (c -> y[0:N])": (
        "gemv (a <- A[0:N, 0:N], x <- x[0:N]) -> (y -> y[0:N]) {trans_a = true}"
    ),
    "(a <- x[0:N], b <- y[0:N]) -> (c -> C[0, 0])": "dot (x <- x[0:N], y <- y[0:N]) -> (result -> C[0, 0])",
}


@pytest.mark.parametrize("before", MATMULS)
def test_matmul_becomes_what_the_ranks_say(before):
    after = text_of(f"blas.{MATMULS[before]}")
    expect(SpecializeMatMul(), on=program(f"blas.matmul {before}")).becomes(after).same_values(N=[1, 3])


def test_matmul_of_other_ranks_is_refused():
    wrong = program("blas.matmul (a <- A[0:N, 0:N], b <- alpha) -> (c -> C[0:N, 0:N])")
    expect(SpecializeMatMul(), on=wrong).is_refused("takes one or two dimensions, not 2 and 0")


# -- transposes --------------------------------------------------------------------------------------------------------

VIEW = "view At: f64[N, N] of A[0:N, 0:N] axes(1, 0)"


def test_a_transposed_view_becomes_a_flag():
    expect(
        FoldTranspose(), on=program("blas.gemm (a <- At[0:N, 0:N], b <- B[0:N, 0:N]) -> (c -> C[0:N, 0:N])", VIEW)
    ).becomes(
        text_of("blas.gemm (a <- A[0:N, 0:N], b <- B[0:N, 0:N]) -> (c -> C[0:N, 0:N]) {trans_a = true}")
    ).same_values(**SIZES)


def test_both_operands_and_parts_of_them():
    before = "blas.gemm (a <- At[1:3, 0:2], b <- At[0:2, 0:N]) -> (c -> C[0:2, 0:N]) {trans_a = true}"
    after = "blas.gemm (a <- A[0:2, 1:3], b <- A[0:N, 0:2]) -> (c -> C[0:2, 0:N]) {trans_b = true}"
    expect(FoldTranspose(), on=program(before, VIEW)).becomes(text_of(after)).same_values(N=[3, 5])


def test_a_matrix_times_a_vector():
    before = "blas.gemv (a <- At[0:N, 0:N], x <- x[0:N]) -> (y -> y[0:N])"
    after = "blas.gemv (a <- A[0:N, 0:N], x <- x[0:N]) -> (y -> y[0:N]) {trans_a = true}"
    expect(FoldTranspose(), on=program(before, VIEW)).becomes(text_of(after)).same_values(**SIZES)


def test_other_views_stay():
    view = "view part: f64[N, N] of A[0:N, 0:N]"
    on = program("blas.gemm (a <- part[0:N, 0:N], b <- B[0:N, 0:N]) -> (c -> C[0:N, 0:N])", view)
    expect(FoldTranspose(), on=on).is_refused("no operand is a transposed view")


# -- factors -----------------------------------------------------------------------------------------------------------


def test_a_scaled_operand_becomes_alpha():
    after = "blas.gemm (a <- A[0:N, 0:N], b <- B[0:N, 0:N], alpha <- alpha) -> (c -> C[0:N, 0:N])"
    expect(FoldFactor(), on=program(SCALE + PRODUCT, TMP)).becomes(text_of(after)).same_values(**SIZES)


def test_the_map_stays_for_another_reader():
    other = "copy tmp[0:N, 0:N] -> B[0:N, 0:N]"
    after = f"{SCALE} blas.gemm (a <- A[0:N, 0:N], b <- B[0:N, 0:N], alpha <- alpha) -> (c -> C[0:N, 0:N]) {other}"
    expect(FoldFactor(), on=program(SCALE + PRODUCT + other, TMP)).becomes(text_of(after, TMP)).same_values(**SIZES)


def test_a_number_a_sign_and_a_transposition_in_parts():
    scale = "map i = 0:N, j = 0:N { tasklet (a <- B[j, i]) -> (o -> tmp[i, j]) { o = -(a * 2.0) } }"
    product = "blas.gemm (a <- A[0:N, 0:N], b <- tmp[0:N, 0:N]) -> (c -> C[0:N, 0:N]) {alpha = 3}"
    after = "blas.gemm (a <- A[0:N, 0:N], b <- B[0:N, 0:N]) -> (c -> C[0:N, 0:N]) {trans_b = true, alpha = -6.0}"
    expect(FoldFactor(), on=program(scale + product, TMP)).becomes(text_of(after)).same_values(**SIZES)


def test_a_scaled_vector():
    scale = "map i = 0:N { tasklet (a <- x[i], s <- alpha) -> (o -> t[i]) { o = a * s } }"
    before = scale + "blas.gemv (a <- A[0:N, 0:N], x <- t[0:N]) -> (y -> y[0:N])"
    after = "blas.gemv (a <- A[0:N, 0:N], x <- x[0:N], alpha <- alpha) -> (y -> y[0:N])"
    data = "data t: f64[N] transient"
    expect(FoldFactor(), on=program(before, data)).becomes(text_of(after)).same_values(**SIZES)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (SCALE.replace("s * a", "s + a") + PRODUCT, "the map adds arrays, or more than sums"),
        (SCALE.replace("s * a", "exp(a)") + PRODUCT, "more than sums of scaled arrays"),
        (SCALE.replace("0:N, j", "1:N, j") + PRODUCT, "does not write just what the product reads of 'tmp'"),
        (SCALE.replace("A[i, j]", "x[i]") + PRODUCT, "x[i] is not an array of the same shape"),
        (SCALE.replace("A[i, j]", "A[i + j, j]") + PRODUCT, "is not an array of the same shape"),
        (SCALE + "copy B[0:N, 0:N] -> A[0:N, 0:N]" + PRODUCT, "'A' changes in between"),
        (SCALE.replace("A[i", "tmp[i") + PRODUCT, "'tmp' changes in between"),
        (SCALE + PRODUCT.replace("0:N])", "0:N], alpha <- beta)", 1), "the product has another scalar as alpha"),
    ],
)
def test_what_is_more_than_a_factor_stays(body, reason):
    reason = "more than sums" if "adds arrays, or" in reason else reason
    expect(FoldFactor(), on=program(body, TMP)).is_refused(reason)


def test_a_conversion_stays():
    scale = "map i = 0:N { tasklet (a <- k[i]) -> (o -> t[i]) { o = a } }".replace("o = a", "o = f64(a)")
    on = program(
        scale + "blas.gemv (a <- A[0:N, 0:N], x <- t[0:N]) -> (y -> y[0:N])",
        "data t: f64[N] transient",
        "data k: i64[N] transient",
    )
    expect(FoldFactor(), on=on).is_refused("more than sums")


# -- sums --------------------------------------------------------------------------------------------------------------

FOLDED = "blas.gemm (a <- A[0:N, 0:N], b <- B[0:N, 0:N], c <- C[0:N, 0:N], beta <- beta) -> (c -> C[0:N, 0:N])"


def test_a_sum_into_a_scaled_array_becomes_beta():
    expect(FoldSum(), on=program(TO_OUT + SUM, OUT)).becomes(text_of(FOLDED)).same_values(**SIZES)


def test_a_sum_through_a_temporary_of_another_map():
    scaled = "map k = 0:N, l = 0:N { tasklet (c <- C[k, l], s <- beta) -> (o -> tmp[k, l]) { o = s * c } }"
    add = "map i = 0:N, j = 0:N { tasklet (p <- out[i, j], c <- tmp[i, j]) -> (o -> C[i, j]) { o = p + c } }"
    expect(FoldSum(), on=program(TO_OUT + scaled + add, OUT, TMP)).becomes(text_of(FOLDED)).same_values(**SIZES)


def test_a_sum_through_a_private_scalar():
    fused = """map i = 0:N, j = 0:N { data t: f64 transient
                 tasklet (c <- C[i, j], s <- beta) -> (o -> t) { o = s * c }
                 tasklet (p <- out[i, j], c <- t) -> (o -> C[i, j]) { o = c - p } }"""
    after = FOLDED + " {alpha = -1}"
    expect(FoldSum(), on=program(TO_OUT + fused, OUT)).becomes(text_of(after)).same_values(**SIZES)


def test_a_sum_by_conflict_resolution():
    add = "map i = 0:N, j = 0:N { tasklet (p <- out[i, j]) -> (o -> C[i, j] (add)) { o = p } }"
    after = FOLDED.replace(", beta <- beta", "")
    expect(FoldSum(), on=program(TO_OUT + add, OUT)).becomes(text_of(after)).same_values(**SIZES)


def test_a_scaled_result_without_a_summand():
    scale = "map i = 0:N, j = 0:N { tasklet (p <- out[i, j], s <- beta) -> (o -> C[i, j]) { o = s * p } }"
    after = "blas.gemm (a <- A[0:N, 0:N], b <- B[0:N, 0:N], alpha <- beta) -> (c -> C[0:N, 0:N])"
    expect(FoldSum(), on=program(TO_OUT + scale, OUT)).becomes(text_of(after)).same_values(**SIZES)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (TO_OUT + SUM.replace("c <- C[i, j]", "c <- B[i, j]"), "there is nothing to update in place"),
        (TO_OUT + SUM.replace("p + s * c", "s * (p + c)"), "to scale each summand rounds differently"),
        (TO_OUT + SUM.replace("out[i, j]", "out[j, i]"), "the map transposes or broadcasts the product"),
        (TO_OUT + SUM.replace("0:N, j", "1:N, j"), "does not read just what the product writes of 'out'"),
        (TO_OUT + SUM.replace("p + s * c", "p + c * p"), "more than sums of scaled arrays"),
        (TO_OUT + "copy C[0:N, 0:N] -> A[0:N, 0:N]" + SUM, "'A' changes in between"),
        (TO_OUT + SUM + "copy out[0:N, 0:N] -> A[0:N, 0:N]", "'out' is read elsewhere"),
        (FOLDED.replace("C[0", "out[0") + SUM, "the product adds to something already"),
        (TO_OUT.replace("out", "B") + SUM.replace("out", "B"), "'B' must stay in memory"),
    ],
)
def test_what_is_more_than_a_sum_stays(body, reason):
    expect(FoldSum(), on=program(body, OUT)).is_refused(reason)


# -- all together ------------------------------------------------------------------------------------------------------

GEMM = """sdfg @gemm(alpha: f64, beta: f64, A: f64[N, K], B: f64[K, M], C: f64[N, M])
  symbols(N: size, M: size, K: size) {
    data t: f64[N, K] transient  data p: f64[N, M] transient  data q: f64[N, M] transient
    state { map i = 0:N, j = 0:K { tasklet (a <- A[i, j], s <- alpha) -> (o -> t[i, j]) { o = s * a } }
            blas.matmul (a <- t[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> p[0:N, 0:M])
            map k = 0:N, l = 0:M { tasklet (c <- C[k, l], s <- beta) -> (o -> q[k, l]) { o = s * c } }
            map r = 0:N, u = 0:M { tasklet (c <- p[r, u], d <- q[r, u]) -> (o -> C[r, u]) { o = c + d } } } }"""


def test_gemm_as_numpy_writes_it_is_one_call():
    sdfg = parse_sdfg(GEMM)
    applied = run_pipeline(sdfg, FOLD_PRODUCTS).counts()
    assert applied == {"specialize-matmul": 1, "fold-factor": 1, "fold-sum": 1}
    (product,) = sdfg.body.walk_nodes()
    assert sorted(product.inputs) == ["a", "alpha", "b", "beta", "c"]
    rng = np.random.default_rng(0)
    arguments = {"alpha": 1.5, "beta": 0.5, "A": rng.random((3, 4)), "B": rng.random((4, 2)), "C": rng.random((3, 2))}
    expected = arguments["alpha"] * arguments["A"] @ arguments["B"] + arguments["beta"] * arguments["C"]
    np.testing.assert_allclose(values_of(sdfg, arguments)["C"], expected, rtol=1e-12)
