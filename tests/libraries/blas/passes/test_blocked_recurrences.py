"""Blocks of iterations multiply at once with what none of them writes: shape, value, refusal; and from Python."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.libraries.blas.passes.blocked_recurrences import BlockedRecurrences
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal

HEAD = "sdfg @f(A: {dtype}[N, N], B: {dtype}[N, M], C: {dtype}[N, M], v: {dtype}[N], s: f64) symbols(N: size, M: size)"
SIZES = {"N": [0, 1, 4, 5], "M": [0, 3]}
ALWAYS = BlockedRecurrences(rows=2, few=-1)

BEHIND = """blas.gemv (a <- B[i + 1:N, 0:M], x <- A[i + 1:N, i], y <- B[i, 0:M]) -> (y -> B[i, 0:M])
  {trans_a = true, alpha = -2}"""
BEFORE = "blas.gemv (a <- B[0:i, 0:M], x <- A[i, 0:i]) -> (y -> C[i, 0:M]) {trans_a = true}"
WRITE = "tasklet () -> (o -> {}) {{ o = 1.0 }}"


def program(nodes, loop="loop i = 0:N", dtype="f64"):
    return parse(f"{HEAD.format(dtype=dtype)} {{ {loop} {{ state {{ {nodes} }} }} }}")


def text(body):
    return f"{HEAD.format(dtype='f64')} {{ {body} }}"


END = "min(N, i_block + 2)"


def test_what_comes_behind_the_block():
    after = f"""loop i_block = 0:N:2 {{ data far: f64[{END} - i_block, M] transient
      state {{ blas.gemm (a <- A[{END}:N, i_block:{END}], b <- B[{END}:N, 0:M])
        -> (c -> far[0:{END} - i_block, 0:M]) {{alpha = -2, trans_a = true}} }}
      loop i = i_block:{END} {{ state {{
        blas.gemv (a <- B[i + 1:{END}, 0:M], x <- A[i + 1:{END}, i], y <- B[i, 0:M]) -> (y -> B[i, 0:M])
          {{alpha = -2, trans_a = true}}
        map p = 0:M {{ tasklet (there <- B[i, p], more <- far[i - i_block, p]) -> (out -> B[i, p])
          {{ out = there + more }} }} }} }} }}"""
    expect(ALWAYS, on=program(BEHIND)).becomes(text(after)).same_values(**SIZES)


def test_what_came_before_the_block():
    after = f"""loop i_block = 0:N:2 {{ data far: f64[{END} - i_block, M] transient
      state {{ blas.gemm (a <- A[i_block:{END}, 0:i_block], b <- B[0:i_block, 0:M])
        -> (c -> far[0:{END} - i_block, 0:M]) }}
      loop i = i_block:{END} {{ state {{
        blas.gemv (a <- B[i_block:i, 0:M], x <- A[i, i_block:i]) -> (y -> C[i, 0:M]) {{trans_a = true}}
        map p = 0:M {{ tasklet (there <- C[i, p], more <- far[i - i_block, p]) -> (out -> C[i, p])
          {{ out = there + more }} }} }} }} }}"""
    expect(ALWAYS, on=program(BEFORE)).becomes(text(after)).same_values(**SIZES)


DOT = """blas.dot (x <- A[i, 0:i], y <- v[0:i]) -> (result -> t)
    tasklet (a <- A[i, i], sum <- t) -> (o -> v[i]) { o = a - sum }"""


def test_a_substitution_of_a_vector_multiplies_matrices_with_it():
    before = f"loop i = 0:N {{ data t: f64 transient state {{ {DOT} }} }}"
    after = f"""loop i_block = 0:N:2 {{ data far: f64[{END} - i_block] transient
      state {{ blas.gemv (a <- A[i_block:{END}, 0:i_block], x <- v[0:i_block]) -> (y -> far[0:{END} - i_block]) }}
      loop i = i_block:{END} {{ data t: f64 transient state {{
        blas.dot (x <- A[i, i_block:i], y <- v[i_block:i]) -> (result -> t)
        tasklet (there <- t, more <- far[i - i_block]) -> (out -> t) {{ out = there + more }}
        tasklet (a <- A[i, i], sum <- t) -> (o -> v[i]) {{ o = a - sum }} }} }} }}"""
    expect(ALWAYS, on=parse(text(before))).becomes(text(after)).same_values(N=[0, 1, 4, 5], M=[1])
    turned = before.replace("x <- A[i, 0:i], y <- v[0:i]", "x <- v[0:i], y <- A[0:i, i]")
    expect(ALWAYS, on=parse(text(turned))).applies().same_values(N=[0, 1, 4, 5], M=[1])


@pytest.mark.parametrize(
    ("dot", "reason"),
    [
        (DOT.replace("v[0:i]", "A[0:i, i]"), "A[0:i, i] moves with 'i' along more"),
        (DOT.replace("v[0:i]", "B[0:i, 0]").replace("A[i, 0:i]", "v[0:i]"), "does not move one step at a time"),
        (DOT.replace("v[i]", "v[0]"), "writes v[0], which may be far"),
        (DOT.replace("result -> t)", "result -> v[0])"), "writes v[0], which may be far"),
    ],
)
def test_refuses_dots(dot, reason):
    body = f"loop i = 0:N {{ data t: f64 transient state {{ {dot} }} }}"
    expect(ALWAYS, on=parse(text(body))).is_refused(reason)


def test_a_substitution_may_write_what_is_near():
    nodes = BEFORE.replace("-> (y -> C[i", ", y <- B[i, 0:M]) -> (y -> B[i").replace(") ,", ",")
    found = expect(ALWAYS, on=program(nodes))
    assert found.reasons() == [""]
    found.same_values(**SIZES)


def test_few_iterations_have_a_version_of_their_own():
    found = expect(BlockedRecurrences(rows=2, few=3), on=program(BEHIND))
    assert found.reasons() == [""]
    found.same_values(N=[0, 3, 4, 7], M=[2])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ("copy A[i, 0:N] -> v[0:N]", "there is no blas.gemv inside, and no blas.dot"),
        (BEFORE.replace("x <-", "alpha <- s, x <-"), "the factor s may be another one"),
        (BEFORE.replace("B[0:i", "B[0:N").replace("A[i, 0:i]", "A[i, 0:N]"), "neither begins nor ends"),
        (BEFORE.replace("B[0:i,", "A[0:i,").replace("0:M", "i:N"), "along more than what is summed over"),
        (BEFORE.replace("A[i, 0:i]", "v[0:i]"), "v[0:i] does not move one step at a time"),
        (BEFORE.replace("A[i, 0:i]", "A[N - i - 1, 0:i]"), "does not move one step at a time"),
        (BEFORE.replace("B[0:i", "B[1:i + 1"), "begin at different places"),
        (BEHIND.replace("i + 1:N", "i + 2:N"), "may be inside out"),
        (f"{BEHIND} {WRITE.format('B[N - 1, 0]')}", "writes B[N - 1, 0], which may be far"),
        (f"{BEHIND} {WRITE.format('A[N - 1, i]')}", "writes A[N - 1, i], which may be far"),
        (f"{BEFORE} {WRITE.format('B[0, 0]')}", "writes B[0, 0], which may be far"),
    ],
)
def test_refuses_products(nodes, reason):
    expect(ALWAYS, on=program(nodes)).is_refused(reason)


@pytest.mark.parametrize(
    ("on", "reason"),
    [
        (program(BEFORE, "loop i = 0:N:2"), "has steps"),
        (program(BEFORE, dtype="i64"), "no floats"),
        (parse(text(f'loop i = 0:N {{ state {{ {BEFORE} }} check N > i else ValueError "no" }}')), "one state"),
        (
            parse(text(f"state {{ map q = 0:N {{ loop i = 0:N {{ state {{ {BEFORE} }} }} }} }}")),
            "a map around it already uses the threads",
        ),
    ],
)
def test_refuses_loops(on, reason):
    expect(ALWAYS, on=on).is_refused(reason)


def test_refuses_few_iterations():
    expect(BlockedRecurrences(), on=program(BEFORE, "loop i = 0:min(N, 100)")).is_refused("no more than 128 iterations")


def triangular_product(a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])


def substitution(a, b):
    for i in range(b.shape[0]):
        b[i, :] -= a[i, :i] @ b[:i, :]


def strictly_lower_product(a, b):
    c = np.empty_like(b)
    for i in range(b.shape[0]):
        c[i, :] = a[i, :i] @ b[:i, :]
        b[i, 0] = 1.0
    return c


def substitution_of_a_column(a, b):
    for i in range(b.shape[0]):
        b[i, 1] = (b[i, 1] - a[i, :i] @ b[:i, 1]) / (a[i, i] + 1)


@pytest.mark.cc
@pytest.mark.parametrize("rows", [7, 128, 129, 200])
@pytest.mark.parametrize(
    "function", [triangular_product, substitution, strictly_lower_product, substitution_of_a_column]
)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_recurrences(function, dtype, rows):
    rng = np.random.default_rng(rows)
    a, b = (rng.random((rows, rows)) / rows).astype(dtype), rng.random((rows, 9)).astype(dtype)
    expected, got = b.copy(), b.copy()
    compiled = dcpy.program(auto_optimize=True)(function)
    assert_equal(compiled(a, got), function(a, expected), rtol=1e-10)
    assert_equal(got, expected, rtol=1e-10)
