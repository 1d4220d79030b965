"""Maps that sum up products of elements become products of matrices: shape, value, refusal; and loops of Python."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.libraries.blas.passes.gemm_from_sums import GemmFromSums
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal

HEAD = """sdfg @f(A: f64[N, K], B: f64[K, M], T: f64[M, K], C: f64[N, M], I: i64[N, K], s: f64)
  symbols(N: size, M: size, K: size)"""
SIZES = {"N": [0, 1, 3], "M": [1, 2], "K": [0, 1, 4]}
AXES = "i = 0:N, j = 0:M, k = 0:K"


def summed(code="a*b", reads="a <- A[i, k], b <- B[k, j]", target="C[i, j] (add)", axes=AXES):
    return parse(f"{HEAD} {{ state {{ map {axes} {{ tasklet ({reads}) -> (o -> {target}) {{ o = {code} }} }} }} }}")


def product(text):
    return f"{HEAD} {{ state {{ blas.gemm ({text} }} }}"


PRODUCTS = {
    "a*b": (
        "a <- A[i, k], b <- B[k, j]",
        "a <- A[0:N, 0:K], b <- B[0:K, 0:M], c <- C[0:N, 0:M]) -> (c -> C[0:N, 0:M])",
    ),
    "b*a": (
        "a <- A[i, k], b <- T[j, k]",
        "a <- A[0:N, 0:K], b <- T[0:M, 0:K], c <- C[0:N, 0:M]) -> (c -> C[0:N, 0:M]) {trans_b = true}",
    ),
    "a*(s*b)*2.0": (
        "a <- A[i, k], b <- B[k, j], s <- s",
        "a <- A[0:N, 0:K], b <- B[0:K, 0:M], c <- C[0:N, 0:M], alpha <- s) -> (c -> C[0:N, 0:M]) {alpha = 2.0}",
    ),
}


@pytest.mark.parametrize("code", PRODUCTS)
def test_a_sum_in_a_map_is_a_product(code):
    reads, after = PRODUCTS[code]
    expect(GemmFromSums(), on=summed(code, reads)).becomes(product(after)).same_values(**SIZES)


def test_a_nest_of_maps():
    point = "tasklet (a <- A[i - 1, k], b <- B[k, j]) -> (o -> C[i - 1, j] (add)) { o = a*b }"
    nest = f"map i = 1:N + 1 {{ map j = 0:M {{ map k = 0:K {{ {point} }} }} }}"
    after = product("a <- A[0:N, 0:K], b <- B[0:K, 0:M], c <- C[0:N, 0:M]) -> (c -> C[0:N, 0:M])")
    expect(GemmFromSums(), on=parse(f"{HEAD} {{ state {{ {nest} }} }}")).becomes(after).same_values(**SIZES)


def test_a_sum_in_a_variable_is_stored_without_what_was_there():
    before = """map i = 0:N, j = 0:M { data t: f64 transient
      tasklet () -> (o -> t) { o = 0.0 }
      map k = 0:K { tasklet (a <- A[i, k], b <- B[k, j]) -> (o -> t (add)) { o = a*b } }
      tasklet (t <- t) -> (o -> C[i, j]) { o = t } }"""
    after = "a <- A[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0:N, 0:M])"
    expect(GemmFromSums(), on=parse(f"{HEAD} {{ state {{ {before} }} }}")).becomes(product(after)).same_values(**SIZES)


REFUSED = {
    "a sum of two elements": ({"code": "a + b"}, "more than products"),
    "one matrix": ({"code": "a*a", "reads": "a <- A[i, k]"}, "do not share"),
    "another combination": ({"target": "C[i, j] (max)"}, "does not add"),
    "rows of the result": ({"target": "C[i, 0] (add)"}, "one step at a time"),
    "its own factor": ({"reads": "a <- A[i, k], b <- C[k, j]", "axes": "i = 0:N, j = 0:M, k = 0:N"}, "overlaps"),
    "steps": ({"axes": "i = 0:N, j = 0:M, k = 0:K:2"}, "has a step"),
    "few elements": ({"axes": "i = 0:N, j = 0:3, k = 0:3"}, "a few elements"),
    "integers": ({"reads": "a <- I[i, k], b <- B[k, j]", "code": "f64(a)*b"}, "more than products"),
    "two axes": (
        {"axes": "i = 0:N, k = 0:K", "target": "C[i, 0] (add)", "reads": "a <- A[i, k], b <- B[k, 0]"},
        "one step at a time",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_is_refused(what):
    changes, reason = REFUSED[what]
    expect(GemmFromSums(), on=summed(**changes)).is_refused(reason)


def test_a_sum_that_starts_elsewhere_is_refused():
    before = """map i = 0:N, j = 0:M { data t: f64 transient
      tasklet () -> (o -> t) { o = 1.0 }
      map k = 0:K { tasklet (a <- A[i, k], b <- B[k, j]) -> (o -> t (add)) { o = a*b } }
      tasklet (t <- t) -> (o -> C[i, j]) { o = t } }"""
    expect(GemmFromSums(), on=parse(f"{HEAD} {{ state {{ {before} }} }}")).is_refused("does not start at 0")


def by_elements(a, b):
    c = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def in_variables(a, b):
    c = np.empty((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total
    return c


def gram(a, b):
    c = np.zeros((a.shape[1], a.shape[1]), a.dtype)
    for i in range(a.shape[1]):
        for j in range(a.shape[1]):
            for k in range(a.shape[0]):
                c[i, j] += a[k, i] * a[k, j]
    return c


@pytest.mark.cc
@pytest.mark.parametrize("function", [by_elements, in_variables, gram], ids=lambda function: function.__name__)
def test_loops_that_multiply_matrices_are_products(function):
    program = dcpy.program(function, auto_optimize=True)
    rng = np.random.default_rng(4)
    for n, k, m in ((9, 20, 11), (1, 1, 1), (3, 0, 2), (0, 3, 4), (70, 65, 80)):
        a, b = rng.random((n, k)), rng.random((k, m))
        assert_equal(program(a, b), function(a, b), rtol=1e-12)
    sdfg = dcpy.program(function).to_sdfg(rng.random((9, 20)), rng.random((20, 11)))
    sdfg.auto_optimize()
    assert "blas.gemm" in str(sdfg)


@pytest.mark.cc
@pytest.mark.parametrize("dtype", [float, int])
def test_numbers_that_are_added_are_no_products(dtype):
    @dcpy.program(auto_optimize=True)
    def count(b, n):
        for _ in range(4):
            b[0] += 1
        for _ in range(n):
            b[1] += 2

    b = np.zeros(3, dtype)
    count(b, 3)
    assert b.tolist() == [4, 6, 0]
