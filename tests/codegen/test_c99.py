"""C as a second dialect: it computes what C++ and NumPy compute, and refuses what it has no words for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dcpy.base.errors import CodegenError
from dcpy.base.library_environment import Environment
from dcpy.codegen.emit.c99 import C99
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.emit.host_dialects import DIALECTS
from dcpy.codegen.lir.intrinsics import INTRINSICS, OF_DEVICES, OF_KERNELS, WIDE
from dcpy.ir.expressions.ops import OPS
from dcpy.ir.expressions.scalar import Const, Ref, cast, op
from dcpy.ir.types import DTYPES
from tests.codegen.test_lir import HISTOGRAM, PATHS
from tests.codegen.test_operations import assert_agrees, has_loop, nasty, table_sdfg
from tests.codegen.test_source import STENCIL, SUM
from tests.support.compiled import compile_sdfg, source_of

REAL = [dtype for dtype in DTYPES if C99.numbers[dtype.name] is not None]
MAXIMA = """
    sdfg @maxima(k: i64[N], x: f32[N], h: f32[4], m: f32) symbols(N: size) {
      state { map i = 0:N @parallel {
        let b = k[i]
        check b < 4 else ValueError "{0} is too large" (b)
        state { tasklet (v <- x[i]) -> (o -> h[b] (max)) { o = v } }
      } }
      state { map i = 0:N @parallel { tasklet (v <- x[i]) -> (o -> m (min)) { o = v } } }
    }"""
BUFFERS = """
    sdfg @buffers(x: f64[N], y: f64[N]) symbols(N: size) {
      data t: f64[N] transient
      data u: f64[8] transient
      state { map i = 0:N { tasklet (a <- x[i]) -> (o -> t[i]) { o = a / 4.0 + 1.0 } } }
      state { map i = 0:8 { tasklet () -> (o -> u[i]) { o = 2.0 } } }
      state { map i = 0:N @parallel {
        tasklet (a <- t[i], b <- t[N - 1 - i], c <- u[3]) -> (o -> y[i]) { o = a * b + c }
      } }
    }"""


def in_c(program: str, **options: object) -> object:
    return compile_sdfg(program, cpu_language="c", **options)


def rows_of(names, refs, dtype):
    return {name: (dtype, op(name, *refs), op(name, *refs).dtype) for name in names}


# -- what both dialects know -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)
def test_every_function_that_a_table_names_is_in_the_prelude(dialect):
    for dtype in DTYPES:
        table = dialect.operations.get(dtype.kind, {}) if dialect.numbers[dtype.name] is not None else {}
        functions = [word for word in table.values() if word and word[0].isalpha() and word not in ("true", "false")]
        for function in functions if dtype.name != "f16" else ():
            name = dialect.generic(function, dtype).partition("<")[0]
            assert dialect.prelude.find(name) is not None, name


def test_intrinsics_have_rules_and_words():
    assert set(CPP.intrinsics) == set(INTRINSICS)
    assert {name for name, word in C99.intrinsics.items() if word is None} == {
        "truth", "convert", "push", "pop", "put", "take", "call_python", "call_through", *OF_KERNELS, *WIDE,
        *OF_DEVICES,
    }  # fmt: skip


@pytest.mark.parametrize("program", [STENCIL, SUM, MAXIMA, BUFFERS], ids=["stencil", "sum", "maxima", "buffers"])
def test_text(program, golden):
    """The same LIR as in test_lir, in C: no word of C++ is left."""
    text = source_of(program, cpu_language="c")
    for word in ("template", "nullptr", "extern \"C\"", "[[", "::"):
        assert word not in text
    golden(text)


@pytest.mark.parametrize(
    ("program", "reason"),
    [(HISTOGRAM, "C has no words for numbers of dtype c128"),
     (SUM.replace("f64", "f16"), "C has no words for numbers of dtype f16"),
     ("sdfg @g(a: i32[2]) { tasklet (x <- a[0], y <- a[1]) -> (o -> a[0]) { o = gcd(x, y) } }",
      "C has no words for the operation 'gcd' on i32")],
    ids=["complex", "half", "gcd"],
)  # fmt: skip
def test_refusals(program, reason):
    with pytest.raises(CodegenError, match=reason):
        source_of(program, cpu_language="c")


def test_foreign_text_of_cpp_is_refused():
    code = Environment("c_code", declarations="template <class T> T twice(T x) { return 2 * x; }")
    text = """
        sdfg @foreign(x: f64[2]) {
          state { foreign (u <- x[1]) -> (s -> x[0]) from c_code { s = twice(u) } }
        }"""
    with pytest.raises(CodegenError, match="C has no words for 'c_code', which is declared in C"):
        source_of(text, {"c_code": code}, cpu_language="c")


# -- compiled ----------------------------------------------------------------------------------------------------------


@pytest.mark.cc
@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("arity", [1, 2])
def test_operations_are_those_of_numpy(dtype, arity):
    known = C99.operations[dtype.kind]
    names = [n for n, o in OPS.items() if o.arity == arity and has_loop(n, dtype) and known.get(n, "") is not None]
    names = [name for name in names if not (name == "pow" and dtype.kind == "i")]  # has an error for negative ones
    rows = rows_of(names, [Ref("a_in", dtype), Ref("b_in", dtype)][:arity], dtype)
    pairs = list(itertools.product(nasty(dtype), repeat=arity))
    arrays = [np.array(column, dtype.numpy) for column in zip(*pairs, strict=True)]
    results = {name: np.zeros(arrays[0].shape, result.numpy) for name, (_, _, result) in rows.items()}
    in_c(table_sdfg(f"c_table_{dtype}_{arity}", rows, arity, dtype))(*arrays, *results.values())
    for name in names:
        with np.errstate(all="ignore"):
            assert_agrees(name, results[name], OPS[name].numpy()(*arrays), arrays)


@pytest.mark.cc
@pytest.mark.parametrize("source", REAL, ids=str)
def test_casts_are_those_of_astype(source):
    rows = {target.name: (source, cast(Ref("a_in", source), target), target) for target in REAL}
    values = nasty(source)
    results = {name: np.zeros(values.shape, result.numpy) for name, (_, _, result) in rows.items()}
    in_c(table_sdfg(f"c_casts_of_{source}", rows, 1, source))(values, *results.values())
    for target in REAL:
        with np.errstate(all="ignore"):
            expected = values.astype(target.numpy)
        keep = np.ones(values.shape, bool)
        if target.name == "u32" and source.kind == "f":  # beyond: NumPy's own result depends on the place in the array
            keep = np.abs(values.astype(np.float64)) < 2**31
        assert_agrees(f"{source} to {target}", results[target.name][keep], expected[keep], [values[keep]])


@pytest.mark.cc
@pytest.mark.parametrize("dtype", [dtype for dtype in REAL if dtype.kind in "iuf"], ids=str)
def test_small_powers_and_shifts(dtype):
    a = Ref("a_in", dtype)
    inverses = (-1, -2, -3, -6, -7) if dtype.kind == "f" else ()
    exprs = {f"p{n}": op("pow", a, Const(n, dtype)) for n in (2, 3, 7, 16, *inverses)}
    rows = {name: (dtype, expr, expr.dtype) for name, expr in exprs.items()}
    x = nasty(dtype)
    both = []
    for language in ("c", "c++"):
        results = {name: np.zeros(x.shape, result.numpy) for name, (_, _, result) in rows.items()}
        compile_sdfg(table_sdfg(f"powers_{dtype}", rows, 1, dtype), cpu_language=language)(x, *results.values())
        both.append(results)
    for name in rows:
        assert np.array_equal(both[0][name], both[1][name], equal_nan=dtype.kind == "f"), name


@pytest.mark.cc
def test_conflicts_checks_and_reductions_by_a_team():
    rng = np.random.default_rng(0)
    k, x = rng.integers(0, 4, 300_000), rng.standard_normal(300_000).astype(np.float32)
    h, m = np.full(4, -np.inf, np.float32), np.float32(np.inf)
    run = in_c(MAXIMA.replace("m: f32", "m: f32[1]").replace("-> m (min)", "-> m[0] (min)"))
    least = np.array([m])
    run(k, x, h, least)
    assert np.array_equal(h, [x[k == b].max() for b in range(4)])
    assert least[0] == x.min()
    k[123_456] = 9
    with pytest.raises(ValueError, match="9 is too large"):
        run(k, x, h, least)


@pytest.mark.cc
def test_buffers_are_freed_on_every_way_out():
    run = in_c(BUFFERS)
    x = np.arange(1_000_000.0)
    y = np.zeros_like(x)
    for _ in range(50):  # 400 MB if none were freed
        run(x, y)
    assert np.array_equal(y, (x / 4 + 1) * (x[::-1] / 4 + 1) + 2)


@pytest.mark.cc
def test_programs_with_calls_and_loops():
    a, b = np.linspace(-1, 2, 100), np.zeros(100, np.float32)
    c, d = a.copy(), b.copy()
    compile_sdfg(PATHS)(a, b, 3)
    in_c(PATHS)(c, d, 3)
    assert np.array_equal(a, c)
    assert np.array_equal(b, d)
