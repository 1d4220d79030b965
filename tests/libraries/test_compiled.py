"""Expansions as machine code: the same programs as for the interpreter, at sizes that fill tiles and blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dcpy
from dcpy.base.options import resolve_options
from dcpy.driver import artifact_of
from dcpy.ir import types
from dcpy.programs.signatures import signature_of
from tests.libraries.oracles import LOOPS, assert_compiles

pytestmark = pytest.mark.cc

REDUCTIONS = """sdfg @f(A: {src}[N, M], rows: {dst}[N], columns: {dst}[M], all: {dst}[])
  symbols(N: size, M: size) {{ state {{
  {kind} (x <- A[0:N, 0:M]) -> (out -> rows[0:N]) {{op = "{op}", axes = (1,)}}
  {kind} (x <- A[0:N, 0:M]) -> (out -> columns[0:M]) {{op = "{op}", axes = (0,)}}
  {kind} (x <- A[0:N, 0:M]) -> (out -> all[]) {{op = "{op}", axes = (0, 1)}} }} }}"""
SHAPES = [(0, 0), (1, 1), (3, 2000), (5000, 7), (200, 300)]


def data(dtype, *shape):
    rng = np.random.default_rng(11)
    values = rng.integers(0, 2, shape) if dtype == "bool" else 4 * rng.random(shape) - (0 if dtype[0] == "u" else 2)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.random(shape)
    return values.astype(dtype)


def reduces(op, src, dst, shape, kind="reduce", a=None, ways=LOOPS):
    a = data(src, *shape) if a is None else a
    n, m = shape
    outs = {"rows": np.zeros(n, dst), "columns": np.zeros(m, dst), "all": np.zeros((), dst)}
    names = (types.from_numpy(dtype).name for dtype in (src, dst))
    text = REDUCTIONS.format(kind=kind, op=op, **dict(zip(("src", "dst"), names, strict=True)))
    for way in ways:
        assert_compiles(text, {"A": a, **outs}, way)


@pytest.mark.parametrize("op", ["add", "min", "max"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_reductions(op, dtype, shape):
    reduces(op, dtype, dtype, shape, ways=LOOPS if dtype in ("float32", "int32") or op == "add" else LOOPS[:1])


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int64"])
def test_products_of_elements(dtype):
    reduces("mul", dtype, dtype, (6, 5))


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float16"])
def test_sums_of_other_dtypes(dtype):
    reduces("add", dtype, dtype, (40, 30))


@pytest.mark.parametrize("op", ["and", "or"])
@pytest.mark.parametrize("src", ["bool", "float64"])
def test_all_and_any(op, src):
    reduces(op, src, "bool", (40, 30))


@pytest.mark.parametrize("op", ["min", "max"])
@pytest.mark.parametrize("kind", ["reduce", "argreduce"])
def test_nan_is_found(op, kind):
    a = data("float64", 300, 40)
    a[200, 7] = a[250, 3] = np.nan
    reduces(op, "float64", "float64" if kind == "reduce" else "int64", a.shape, kind, a)


@pytest.mark.parametrize("op", ["min", "max"])
@pytest.mark.parametrize("src", ["float32", "int32"])
def test_positions(op, src):
    reduces(op, src, "int64", (300, 40), "argreduce")


@pytest.mark.parametrize("way", LOOPS)
def test_a_large_sum_is_as_close_as_a_pairwise_one(way):
    """Row 35 of tests/end_to_end/test_semantics.py: sums of ten million numbers stay accurate."""
    text = (
        "sdfg @f(x: f32[N], s: f32[]) symbols(N: size) { state { reduce (x <- x[0:N]) -> (out -> s[]) {axes = (0,)} } }"
    )
    x = np.random.default_rng(5).random(10**7, np.float32)
    s = np.zeros((), np.float32)
    dcpy.parse(text).expand_library_nodes(way).compile()(x, s)
    exact = x.astype(np.float64).sum()
    assert abs(s - exact) <= 2 * max(abs(x.sum() - exact), np.spacing(np.float32(exact)))


@pytest.mark.parametrize("way", LOOPS)
@pytest.mark.parametrize(
    "statement",
    [
        "reduce (x <- x[0:N]) -> (out -> s[]) {axes = (0,)}",
        "blas.dot (x <- x[0:N], y <- y[0:N]) -> (result -> s[])",
    ],
)
def test_one_long_sum_is_as_close_as_pairwise_ones(statement, way):
    n = 3 * 10**6
    x, y = np.random.default_rng(5).random(n), np.ones(n)
    text = f"sdfg @f(x: f64[N], y: f64[N], s: f64[]) symbols(N: size) {{ state {{ {statement} }} }}"
    s = np.zeros(())
    dcpy.parse(text).expand_library_nodes(way).compile()(x, y, s)
    exact = math.fsum(x)
    assert abs(s - exact) <= 4 * np.spacing(exact)


@pytest.mark.parametrize("op", ["add", "max", "or"])
def test_no_reduction_needs_an_atomic(op):
    dtype = "bool" if op == "or" else "f64"
    sdfg = dcpy.parse(REDUCTIONS.format(kind="reduce", op=op, src=dtype, dst=dtype))
    (unit,) = artifact_of(sdfg, signature_of(sdfg), resolve_options()).units
    text = unit.text
    assert "omp atomic" not in text
    assert "dcpy_atomic" not in text
    assert "_lanes[lane] = dcpy_maximum(" in text if op == "max" else "simd reduction(" in text
    assert "omp for" in text


PRODUCTS = """sdfg @f(A: t[N, K], B: t[K, M], C: t[N, M], x: t[K], y: t[N], z: t[M], r: t[])
  symbols(N: size, M: size, K: size) { state {
    blas.matmul (a <- A[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0:N, 0:M])
    blas.matmul (a <- A[0:N, 0:K], b <- x[0:K]) -> (c -> y[0:N])
    blas.matmul (a <- x[0:K], b <- B[0:K, 0:M]) -> (c -> z[0:M])
    blas.matmul (a <- x[0:K], b <- x[0:K]) -> (c -> r[]) } }"""


BLAS_DTYPES = ["float32", "float64", "complex64", "complex128"]
EXPANSIONS = [("openblas", dtype) for dtype in BLAS_DTYPES]
EXPANSIONS += [(way, dtype) for way in LOOPS for dtype in (*BLAS_DTYPES, "int64", "bool", "float16")]


@pytest.mark.parametrize(("prefer", "dtype"), EXPANSIONS)
def test_products(prefer, dtype):
    for n, m, k in ((0, 2, 3), (3, 4, 0), (1, 1, 1), (30, 40, 50)):
        out = {"C": np.ones((n, m), dtype), "y": np.ones(n, dtype), "z": np.ones(m, dtype), "r": np.ones((), dtype)}
        arguments = {"A": data(dtype, n, k), "B": data(dtype, k, m), "x": data(dtype, k), **out}
        assert_compiles(PRODUCTS.replace("t[", types.from_numpy(dtype).name + "["), arguments, prefer)


@pytest.mark.parametrize("prefer", [*LOOPS, "openblas"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gemm_with_all_it_has_in_place(prefer, dtype):
    text = """sdfg @g(alpha: t, beta: t, A: t[K, N], B: t[K, L], C: t[M, N])
              symbols(N: size, M: size, K: size, L: size) { state {
                blas.gemm (a <- B[0:K, 0:2*M:2], b <- A[0:K, 0:N], c <- C[0:M, 0:N], alpha <- alpha, beta <- beta)
                       -> (c -> C[0:M, 0:N]) {trans_a = true, beta = 2} } }"""
    text = text.replace(": t", ": " + types.from_numpy(dtype).name)
    arrays = {"A": data(dtype, 9, 7), "B": data(dtype, 9, 12), "C": data(dtype, 6, 7)}
    assert_compiles(text, {"alpha": np.dtype(dtype).type(3), "beta": np.dtype(dtype).type(-1), **arrays}, prefer)


@pytest.mark.parametrize("prefer", ["pure", "c"])
def test_a_user_library(prefer):
    from examples import user_library

    user_library.register()
    text = """sdfg @f(u: f64[N], w: f64, out: f64[N]) symbols(N: size) { state {
                user.diffuse (u <- u[0:N], w <- w) -> (out -> out[0:N]) } }"""
    for n in (0, 1, 2, 50):
        assert_compiles(text, {"u": data("float64", n), "w": 0.25, "out": np.zeros(n)}, prefer)
