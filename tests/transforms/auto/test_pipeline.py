"""The auto-optimizer: whole programs, as text."""

from __future__ import annotations

from hypothesis import given, settings

from dcpy import plugins
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import parse_sdfg as parse
from dcpy.ir.text import print_sdfg
from dcpy.transforms.auto.pipeline import auto_optimize
from tests.support.expect import assert_same_values
from tests.support.sdfg_strategies import programs
from tests.transforms.test_meaning import SIZES, assert_same_meaning

plugins.load()  # products are nodes of a library

LOOPS = """
sdfg @matmul(A: f64[N, K], B: f64[K, M], C: f64[N, M]) symbols(N: size, K: size, M: size) {
  data acc: f64 transient
  loop i = 0:N { loop j = 0:M {
    state { tasklet () -> (o -> acc) { o = 0.0 } }
    loop k = 0:K { state { tasklet (c <- acc, a <- A[i, k], b <- B[k, j]) -> (o -> acc) { o = c + a * b } } }
    state { tasklet (c <- acc) -> (o -> C[i, j]) { o = c } }
  } }
}"""

STENCIL = """
sdfg @smooth(A: f64[N], B: f64[N]) symbols(N: size) {
  data left: f64[N - 2] transient
  data sum: f64[N - 2] transient
  state {
    map i = 0:N - 2 { tasklet (a <- A[i], b <- A[i + 1]) -> (o -> left[i]) { o = a + b } }
    map j = 0:N - 2 { tasklet (a <- left[j], b <- A[j + 2]) -> (o -> sum[j]) { o = a + b } }
    map k = 0:N - 2 { tasklet (a <- sum[k]) -> (o -> B[k + 1]) { o = a / 3.0 } }
  }
}"""


def optimized(text):
    before, after = parse(text), parse(text)
    auto_optimize(after, check=True)
    return before, after


def test_loops_of_a_matrix_product_become_a_product():
    before, after = optimized(LOOPS)
    assert print_sdfg(after) == print_sdfg(parse("""
        sdfg @matmul(A: f64[N, K], B: f64[K, M], C: f64[N, M]) symbols(N: size, K: size, M: size) {
          state { blas.gemm (a <- A[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0:N, 0:M]) } }
    """))  # fmt: skip
    assert_same_values(before, after, {"N": [0, 3], "K": [0, 4], "M": [2]})


def test_a_stencil_has_no_temporaries_in_memory():
    before, after = optimized(STENCIL)
    assert print_sdfg(after) == print_sdfg(parse("""
        sdfg @smooth(A: f64[N], B: f64[N]) symbols(N: size) {
          state { map i = 0:N - 2 {
            data left: f64 transient
            data sum: f64 transient
            tasklet (a <- A[i], b <- A[i + 1]) -> (o -> left) { o = a + b }
            tasklet (a <- left, b <- A[i + 2]) -> (o -> sum) { o = a + b }
            tasklet (a <- sum) -> (o -> B[i + 1]) { o = a / 3.0 } } } }
    """))  # fmt: skip
    assert_same_values(before, after, {"N": [2, 3, 9]})


@settings(max_examples=25)
@given(programs(), SIZES)
def test_random_programs_keep_their_meaning(program, sizes):
    changed = copy_sdfg(program)
    auto_optimize(changed, check=True)
    assert_same_meaning(changed, program, sizes)
