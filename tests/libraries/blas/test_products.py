"""Products of matrices and vectors: loops and cblas compute what NumPy does, for every layout, size and dtype."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir import types
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.region import Branch
from dcpy.ir.text import parse_sdfg, print_sdfg
from tests.libraries.oracles import assert_expands, expanded
from tests.support.oracles import assert_equal

pytestmark = pytest.mark.usefixtures("small_tiles")

SIZES = "symbols(N: size, M: size, K: size)"
MATMUL = (
    "sdfg @mm(A: {t}[N, K], B: {t}[K, M], C: {t}[N, M]) "
    + SIZES
    + (" {{ state {{ blas.matmul (a <- A[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0:N, 0:M]) }} }}")
)
WAYS = ["pure", "maps", "openblas"]
ALL_DTYPES = ["bool", "int8", "uint32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def data(dtype, *shape, seed=3):
    rng = np.random.default_rng(seed)
    values = rng.integers(0 if np.dtype(dtype).kind in "ub" else -4, 5, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.integers(-4, 5, shape)
    return values.astype(dtype)


def nan(dtype, *shape):
    """What an output holds before it is written: nothing that may be used."""
    return np.full(shape, np.nan if np.dtype(dtype).kind in "fc" else 77, dtype)


@pytest.fixture(params=WAYS)
def check(request, monkeypatch):
    def run(text, **arguments):
        assert_expands(text, arguments, request.param, monkeypatch if request.param == "openblas" else None)

    return run


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("k", [0, 1, 6])
@pytest.mark.parametrize("m", [0, 1, 4])
def test_products_of_matrices_of_every_size(check, n, k, m):
    check(MATMUL.format(t="f64"), A=data("f8", n, k), B=data("f8", k, m), C=nan("f8", n, m))


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_products_of_every_dtype(check, dtype):
    text = MATMUL.format(t=types.from_numpy(dtype).name)
    check(text, A=data(dtype, 3, 5), B=data(dtype, 5, 4), C=nan(dtype, 3, 4))


def test_operands_of_two_dtypes_meet_in_that_of_the_result(check):
    text = MATMUL.format(t="f64").replace("A: f64", "A: i32")
    check(text, A=data("int32", 3, 5), B=data("float64", 5, 4), C=nan("float64", 3, 4))


@pytest.mark.parametrize("dtype", ["bool", "float32", "complex128"])
def test_matrix_and_vector_both_ways(check, dtype):
    text = """sdfg @f(A: t[N, M], x: t[M], y: t[N], u: t[M], v: t[N]) symbols(N: size, M: size) { state {
                 blas.matmul (a <- A[0:N, 0:M], b <- x[0:M]) -> (c -> y[0:N])
                 blas.matmul (a <- v[0:N], b <- A[0:N, 0:M]) -> (c -> u[0:M]) } }""".replace(
        "t[", types.from_numpy(dtype).name + "["
    )
    for n, m in ((0, 3), (3, 0), (1, 1), (4, 7)):
        check(text, A=data(dtype, n, m), x=data(dtype, m), y=nan(dtype, n), u=nan(dtype, m), v=data(dtype, n))


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("n", [0, 1, 21])
def test_products_of_vectors(check, dtype, n):
    text = """sdfg @f(x: t[N], y: t[N], r: t[]) symbols(N: size) { state {
                blas.matmul (a <- x[0:N], b <- y[0:N]) -> (c -> r[]) } }"""
    text = text.replace("t[", types.from_numpy(dtype).name + "[")
    check(text, x=data(dtype, n), y=data(dtype, n, seed=4), r=nan(dtype))


LAYOUTS = {
    "every second column": ("A: f64[N, 2*K]", "A[0:N, 0:2*K:2]", lambda n, k: data("f8", n, 2 * k)),
    "rows upside down": ("A: f64[N, K]", "A[N - 1:-1:-1, 0:K]", lambda n, k: data("f8", n, k)),
    "columns from the right": ("A: f64[N, K]", "A[0:N, K - 1:-1:-1]", lambda n, k: data("f8", n, k)),
    "a part of a larger one": ("A: f64[N + 2, K + 3]", "A[1:N + 1, 2:K + 2]", lambda n, k: data("f8", n + 2, k + 3)),
    "one plane of three": ("A: f64[N, 3, K]", "A[0:N, 1, 0:K]", lambda n, k: data("f8", n, 3, k)),
    "fortran order": ("A: f64[N, K] strides(1, N)", "A[0:N, 0:K]", lambda n, k: np.asfortranarray(data("f8", n, k))),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_operands_of_every_layout(check, layout):
    declaration, subset, make = LAYOUTS[layout]
    text = MATMUL.format(t="f64").replace("A: f64[N, K]", declaration).replace("A[0:N, 0:K]", subset)
    check(text, A=make(4, 5), B=data("f8", 5, 3), C=nan("f8", 4, 3))


@pytest.mark.parametrize("subset", ["0:2*M:2", "M - 1:-1:-1", "M:2*M"])
def test_results_of_every_layout(check, subset):
    text = MATMUL.format(t="f64").replace("C: f64[N, M]", "C: f64[N, 2*M]").replace("C[0:N, 0:M]", f"C[0:N, {subset}]")
    check(text, A=data("f8", 4, 5), B=data("f8", 5, 3), C=nan("f8", 4, 6))


def test_a_result_in_fortran_order(check):
    text = MATMUL.format(t="f64").replace("C: f64[N, M]", "C: f64[N, M] strides(1, N)")
    check(text, A=data("f8", 4, 5), B=data("f8", 5, 3), C=np.asfortranarray(nan("f8", 4, 3)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("order", ["", "strides(1, N)", "wide"])
@pytest.mark.parametrize("inner", [False, True])
def test_a_matrix_times_its_transpose_is_symmetric(check, dtype, order, inner):
    operand, flag = ("A[0:K, 0:N]", "trans_a") if inner else ("A[0:N, 0:K]", "trans_b")
    wide = order == "wide"
    text = f"""sdfg @f(A: t[{"K, N" if inner else "N, K"}], C: t[N, {"N + 2" if wide else "N"}]
               {"" if wide else order}) symbols(N: size, K: size) {{ state {{
               blas.gemm (a <- {operand}, b <- {operand}) -> (c -> C[0:N, 0:N]) {{{flag} = true, alpha = 2}} }} }}"""
    text = text.replace("\n               strides", " strides").replace("t[", types.from_numpy(dtype).name + "[")
    for n, k in ((4, 3), (1, 2), (5, 0), (0, 2)):
        result = nan(dtype, n, n + 2 if wide else n)
        check(
            text,
            A=data(dtype, *((k, n) if inner else (n, k))),
            C=np.asfortranarray(result) if order[:1] == "s" else result,
        )


def test_the_second_half_of_a_symmetric_product_is_copied():
    text = """sdfg @f(A: f64[N, K], C: f64[N, N]) symbols(N: size, K: size) { state {
              blas.gemm (a <- A[0:N, 0:K], b <- A[0:N, 0:K]) -> (c -> C[0:N, 0:N]) {trans_b = true} } }"""
    calls = [n.function for n in expanded(text, "openblas").body.walk_nodes() if isinstance(n, ForeignCall)]
    assert calls == ["scipy_cblas_dsyrk"]


def test_vectors_of_every_layout(check):
    text = """sdfg @f(A: f64[N, N], r: f64[], s: f64[], y: f64[N]) symbols(N: size) { state {
                blas.dot (x <- A[0:N, 1], y <- A[2, N - 1:-1:-1]) -> (result -> r[])
                blas.dot (x <- A[0:N:2, 1], y <- A[0:N:2, 0]) -> (result -> s[])
                blas.gemv (a <- A[0:N, 0:N], x <- A[0:N, 1]) -> (y -> y[N - 1:-1:-1]) } }"""
    check(text, A=data("f8", 7, 7), r=nan("f8"), s=nan("f8"), y=nan("f8", 7))


def test_broadcast_operands(check):
    text = """sdfg @f(x: f64[K], B: f64[K, M], C: f64[1, M], D: f64[N, M]) symbols(N: size, M: size, K: size) {
                view row: f64[1, K] of x[0:K] axes(-1, 0)
                view rows: f64[N, K] of x[0:K] axes(-1, 0)
                state { blas.matmul (a <- row[0:1, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0:1, 0:M])
                        blas.matmul (a <- rows[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> D[0:N, 0:M]) } }"""
    check(text, x=data("f8", 5), B=data("f8", 5, 4), C=nan("f8", 1, 4), D=nan("f8", 3, 4))


GEMM = (
    "sdfg @g(alpha: {s}, beta: {s}, A: {t}[{a}], B: {t}[{b}], C: {t}[N, M]) "
    + SIZES
    + """ {{ state {{ blas.gemm (a <- A[0:N, 0:K], b <- B[0:K, 0:M], c <- C[0:N, 0:M], alpha <- alpha, beta <- beta)
             -> (c -> C[0:N, 0:M]) {{trans_a = {ta}, trans_b = {tb}, alpha = 2, beta = -3}} }} }}"""
)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int64"])
@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("tb", [False, True])
def test_gemm_with_all_it_has(check, dtype, ta, tb):
    short = types.from_numpy(dtype).name
    text = GEMM.format(t=short, s=short, a="K, N" if ta else "N, K", b="M, K" if tb else "K, M", ta=ta, tb=tb)
    text = text.replace("True", "true").replace("False", "false")
    text = text.replace("A[0:N, 0:K]", "A[0:K, 0:N]") if ta else text
    text = text.replace("B[0:K, 0:M]", "B[0:M, 0:K]") if tb else text
    a, b = data(dtype, 5, 4), data(dtype, 3, 5)
    arguments = {"A": a if ta else a.T.copy(), "B": b if tb else b.T.copy(), "C": data(dtype, 4, 3)}
    check(text, alpha=np.dtype(dtype).type(3), beta=np.dtype(dtype).type(-2), **arguments)


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (np.nan, 1.0)])
def test_nan_is_seen_through_factors_of_zero(check, alpha, beta):
    text = GEMM.format(t="f64", s="f64", a="N, K", b="K, M", ta="false", tb="false")
    a, c = data("f8", 4, 5), data("f8", 4, 3)
    a[1, 1] = c[2, 2] = np.nan
    check(text, alpha=alpha, beta=beta, A=a, B=data("f8", 5, 3), C=c)


def test_gemv_adds_to_what_is_there(check):
    text = """sdfg @f(beta: f32, A: f64[N, M], x: f64[N], y: f64[M]) symbols(N: size, M: size) { state {
                blas.gemv (a <- A[0:N, 0:M], x <- x[0:N], y <- y[0:M], beta <- beta) -> (y -> y[0:M])
                  {trans_a = true, alpha = 0.5} } }"""
    for n, m in ((0, 3), (4, 0), (4, 7)):
        check(text, beta=np.float32(3), A=data("f8", n, m), x=data("f8", n), y=data("f8", m))


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int32"])
def test_ger_with_and_without_a_summand(check, dtype):
    text = """sdfg @f(x: t[N], y: t[M], A: t[N, M], B: t[N, M], F: t[N, M] strides(1, N)) symbols(N: size, M: size) {
                state { blas.ger (x <- x[0:N], y <- y[0:M], a <- A[0:N, 0:M]) -> (a -> A[0:N, 0:M]) {alpha = 2}
                        blas.ger (x <- x[0:N], y <- y[0:M]) -> (a -> B[0:N, 0:M])
                        blas.ger (x <- x[0:N], y <- y[0:M], a <- F[0:N, 0:M]) -> (a -> F[0:N, 0:M]) } }"""
    text = text.replace("t[", types.from_numpy(dtype).name + "[")
    matrices = {"A": data(dtype, 4, 5), "B": nan(dtype, 4, 5), "F": np.asfortranarray(data(dtype, 4, 5))}
    check(text, x=data(dtype, 4), y=data(dtype, 5), **matrices)


def test_operands_that_the_result_overwrites_are_read_first(check):
    text = """sdfg @f(A: f64[N, N], x: f64[N]) symbols(N: size) { state {
                blas.gemm (a <- A[0:N, 0:N], b <- A[0:N, 0:N], c <- A[0:N, 0:N]) -> (c -> A[0:N, 0:N])
                blas.gemv (a <- A[0:N, 0:N], x <- x[0:N]) -> (y -> x[0:N]) } }"""
    check(text, A=data("f8", 4, 4), x=data("f8", 4))


def test_an_in_place_update_of_a_shared_buffer(check):
    text = """sdfg @f(A: f64[N, 2*N]) symbols(N: size) { state {
                blas.ger (x <- A[0, 0:N], y <- A[1, 0:N], a <- A[0:N, N:2*N]) -> (a -> A[0:N, N:2*N]) } }"""
    check(text, A=data("f8", 4, 8))


def test_known_sizes_need_no_question_at_run_time():
    text = """sdfg @mm(A: f64[20, 40], B: f64[40, 30], C: f64[20, 30]) { state {
                blas.matmul (a <- A[0:20, 0:40], b <- B[0:40, 0:30]) -> (c -> C[0:20, 0:30]) } }"""
    (state,) = expanded(text, "openblas").body.blocks
    assert [type(node) for node in state.nodes] == [ForeignCall]


def test_unknown_sizes_are_asked_for_at_run_time():
    (branch,) = expanded(MATMUL.format(t="f64"), "openblas").body.blocks
    assert isinstance(branch, Branch)


def test_a_call_in_the_middle_of_a_state_keeps_the_order(check):
    text = """sdfg @f(A: f64[N, N], x: f64[N], y: f64[N]) symbols(N: size) { state {
                map i = 0:N { tasklet (a <- x[i]) -> (o -> x[i]) { o = a + 1.0 } }
                blas.gemv (a <- A[0:N, 0:N], x <- x[0:N]) -> (y -> y[0:N])
                map j = 0:N { tasklet () -> (o -> x[j]) { o = 0.0 } } } }"""
    check(text, A=data("f8", 3, 3), x=data("f8", 3), y=nan("f8", 3))


def test_a_call_inside_a_map(check):
    text = """sdfg @f(A: f64[B, N, N], x: f64[N], y: f64[B, N]) symbols(B: size, N: size) { state {
                map b = 0:B { blas.gemv (a <- A[b, 0:N, 0:N], x <- x[0:N]) -> (y -> y[b, 0:N]) } } }"""
    check(text, A=data("f8", 2, 3, 3), x=data("f8", 3), y=nan("f8", 2, 3))


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        ("blas.matmul (a <- A[0:4, 0:5], b <- A[0:4, 0:5]) -> (c -> A[0:4, 0:5])", "sizes of a and b do not agree"),
        (
            "blas.matmul (a <- A[0:4, 0:5], b <- A[0, 0]) -> (c -> A[0:4, 0])",
            "takes one or two dimensions, not 2 and 0",
        ),
        ("blas.gemm (a <- A[0:4, 0:5]) -> (c -> A[0:4, 0:5])", "lacks the input b"),
        ("blas.gemm (a <- A[0:4, 0:5], b <- A[0:4, 0:5])", "has the one output c, not none"),
        ("blas.matmul (a <- A[0:4, 0:5], b <- A[0:4, 0:5])", "has the one output c, not none"),
        ("blas.gemm (a <- A[0:4, 0], b <- A[0:4, 0:4]) -> (c -> A[0:4, 0:4])", "wants 2 dimensions for a, not 1"),
        ("blas.gemm (a <- A[0:4, 0:4], b <- A[0:4, 0:4], c <- A[0:4, 0:4]) -> (c -> A[0:4, 1:5])", "in place"),
        ("blas.gemm (a <- A[0:4, 0:4], b <- A[0:4, 0:4], beta <- A[0, 0]) -> (c -> A[0:4, 1:5])", "does not read it"),
        ("blas.gemv (a <- A[0:4, 0:5], x <- A[0:4, 0]) -> (y -> A[0:4, 0])", "sizes of a and x do not agree"),
        ("blas.dot (x <- A[0, 0:4], y <- A[0, 0:5]) -> (result -> A[0, 0])", "sizes of x and y do not agree"),
        ("blas.dot (x <- A[0, 0:4], z <- A[0, 0:4]) -> (result -> A[0, 0])", "has no input z"),
        ("blas.ger (x <- A[0, 0:4], y <- A[0, 0:5]) -> (a -> A[0:5, 0:4])", "sizes of the output do not agree"),
    ],
)
def test_problems_are_said(node, problem):
    (found,) = parse_sdfg(f"sdfg @f(A: f64[9, 9]) {{ state {{ {node} }} }}").body.walk_nodes()
    assert any(problem in sentence for sentence in found.problems())


NEUTRAL = {
    "blas.gemm (a <- A[0:N, 0:K], b <- B[0:K, 0:M], c <- C[0:N, 0:M]) -> (c -> C[0:N, 0:M]) {alpha = 2, beta = 3}": """
  state {
    map i = 0:N, i_1 = 0:M {
      data acc: f64 transient
      tasklet () -> (out -> acc) { out = 0.0 }
      map k = 0:K { tasklet (a <- A[i, k], b <- B[k, i_1]) -> (out -> acc (add)) { out = a*b } }
      tasklet (a <- acc, b <- C[i, i_1]) -> (out -> C[i, i_1]) { out = 2.0*a + 3.0*b }
    }
  }""",
    "blas.gemm (a <- A[0:N, 0:K], b <- A[0:N, 0:K]) -> (c -> D[0:N, 0:N]) {trans_b = true}": """
  state {
    map i = 0:N, i_1 = 0:N {
      data acc: f64 transient
      tasklet () -> (out -> acc) { out = 0.0 }
      map k = 0:K { tasklet (a <- A[i, k], b <- A[i_1, k]) -> (out -> acc (add)) { out = a*b } }
      tasklet (a <- acc) -> (out -> D[i, i_1]) { out = a }
    }
  }""",
    "blas.dot (x <- A[0, 0:K], y <- B[0:K, 1]) -> (result -> r[])": """
  data acc: f64 transient
  state {
    tasklet () -> (out -> acc) { out = 0.0 }
    map k = 0:K { tasklet (a <- A[0, k], b <- B[k, 1]) -> (out -> acc (add)) { out = a*b } }
    tasklet (a <- acc) -> (out -> r[]) { out = a }
  }""",
    "blas.ger (x <- A[0:N, 0], y <- B[0, 0:M], a <- C[0:N, 0:M]) -> (a -> C[0:N, 0:M]) {alpha = 4}": """
  state {
    map i = 0:N, i_1 = 0:M {
      data acc: f64 transient
      tasklet (a <- A[i, 0], b <- B[0, i_1]) -> (out -> acc) { out = a*b }
      tasklet (a <- acc, b <- C[i, i_1]) -> (out -> C[i, i_1]) { out = 4.0*a + b }
    }
  }""",
    "blas.gemv (a <- A[0:N, 0:K], x <- B[0:K, 0]) -> (y -> C[0:N, 0])": """
  state {
    map i = 0:N {
      data acc: f64 transient
      tasklet () -> (out -> acc) { out = 0.0 }
      map k = 0:K { tasklet (a <- A[i, k], b <- B[k, 0]) -> (out -> acc (add)) { out = a*b } }
      tasklet (a <- acc) -> (out -> C[i, 0]) { out = a }
    }
  }""",
}


@pytest.mark.parametrize("statement", NEUTRAL, ids=lambda text: text.partition(" ")[0])
def test_the_text_for_any_target(statement):
    head = f"sdfg @f(A: f64[N, K], B: f64[K, M], C: f64[N, M], D: f64[N, N], r: f64[]) {SIZES} {{"
    wanted = parse_sdfg(f"{head}{NEUTRAL[statement]} }}")
    assert print_sdfg(expanded(f"{head} state {{ {statement} }} }}", "maps")) == print_sdfg(wanted)


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_stacks_of_products(check, dtype):
    """A map over products: each becomes a nest inside of it."""
    text = """sdfg @f(A: t[S, N, K], B: t[S, K, M], C: t[S, N, M]) symbols(S: size, N: size, K: size, M: size) { state {
                map s = 0:S { blas.gemm (a <- A[s, 0:N, 0:K], b <- B[s, K - 1:-1:-1, 0:M]) -> (c -> C[s, 0:N, 0:M]) }
              } }""".replace("t[", types.from_numpy(dtype).name + "[")
    for n, k, m in ((2, 3, 1), (0, 2, 2), (2, 0, 3)):
        check(text, A=data(dtype, 3, n, k), B=data(dtype, 3, k, m), C=nan(dtype, 3, n, m))


def small_products(a, b, c):
    for i in range(a.shape[0]):
        c[i % 2] += a[i] @ b[i].T


@pytest.mark.cc
@pytest.mark.parametrize("shape", [(3, 4, 4, 4), (2, 3, 8, 2), (3, 8, 8, 8), (2, 9, 9, 9), (2, 1, 0, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_small_products_in_loops(shape, dtype):
    count, rows, terms, columns = shape
    rng = np.random.default_rng(1)
    a, b = rng.random((count, rows, terms)).astype(dtype), rng.random((count, columns, terms)).astype(dtype)
    mine, its = (np.ones((2, rows, columns), dtype) for _ in range(2))
    dcpy.program(auto_optimize=True)(small_products)(a, b, mine)
    small_products(a, b, its)
    assert_equal(mine, its, rtol=1e-5 if np.dtype(dtype).itemsize < 16 else 1e-12)
