"""LIR as text: what lowering decides, before anything is spelled; and that each part of LIR has a text."""

from __future__ import annotations

import typing

import pytest

from dcpy.base.errors import CodegenError
from dcpy.base.library_environment import Environment
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.prototypes import prototype
from dcpy.base.source import SrcSpan
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.emit.types import declared, spelled
from dcpy.codegen.generate import declared_by
from dcpy.codegen.lir import expr, text, tree
from dcpy.codegen.lir.expr import Literal, Name
from dcpy.codegen.lir.text import expr_text, print_functions, type_text
from dcpy.codegen.lir.types import INDEX, Basic, Pointer, Reference
from dcpy.codegen.lir.verify import require_valid
from dcpy.codegen.lower.program.translation_unit import lower_program
from dcpy.codegen.signature import default_signature
from dcpy.ir import types
from dcpy.ir.data import Space
from dcpy.ir.text import parse_sdfg
from dcpy.transforms.cpu.lowering import cpu_pipeline
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from dcpy.transforms.simplify.calls.inline_call import InlineCall
from tests.codegen.test_source import STENCIL, SUM
from tests.support.compiled import source_of

HISTOGRAM = """
    sdfg @histogram(k: i32[N], h: i64[4], m: c128[4]) symbols(N: size) {
      state { map i = 0:N @parallel {
        let b = k[i]
        check b < 4 else ValueError "{0} is too large" (b)
        state { tasklet () -> (o -> h[b] (add)) { o = i64(1) }
                tasklet () -> (o -> m[b] (max)) { o = c128(1) } }
      } }
    }"""
PATHS = """
    sdfg @paths(A: f64[N], B: f32[N], s) symbols(N: size, s: i64) {
      data t: f64[N] transient
      loop i = N - 1:-1:-1 {
        if A[i] > 0.0 { state { tasklet (a <- A[i]) -> (o -> t[i]) { o = select(a < 1.0, sqrt(a), pow(a, 2.0)) } } }
        else { state { copy A[i] -> t[i] } }
      }
      while s > 0 { let s = s - 1 }
      call @half (x = t[0:N], y = B[0:N]) with (M = N)
    }
    sdfg @half(x: f64[M], y: f32[M]) symbols(M: size) {
      state { map j = 0:M { tasklet (a <- x[j]) -> (o -> y[j]) { o = f32(a * 0.5) } } }
    }"""


GRID = """
    sdfg @grid(A: f64[N, M], B: f64[N, M], s: f64[4]) symbols(N: size, M: size) {
      data t: f64[N, M] transient
      data u: f64[4] transient
      state { map i = 0:N, j = 0:M @parallel{chunk = 8} { tasklet (a <- A[i, j]) -> (o -> t[i, j]) { o = a / 2.0 } } }
      state { map i = 0:N, j = i:M @parallel { tasklet (a <- t[i, j]) -> (o -> B[i, j]) { o = -a } } }
      state { map k = 0:4 @unrolled { tasklet () -> (o -> u[k]) { o = f64(k) } } }
      state { copy u[0:4] -> s[0:4] }
    }"""
NETWORK = """
    sdfg @network(x: f64[N], y: f64[N]) symbols(N: size) {
      stream s: f64[3] capacity 2 transient
      dataflow {
        process give { loop i = 0:N { state { copy x[i] -> s[0] } } }
        process pass p = 0:2, endless = 0:1 {
          data v: f64 transient
          loop i = 0:N { state { copy s[p] -> v  tasklet (a <- v) -> (o -> s[p + 1]) { o = a + 1.0 } } }
        }
        process take { loop i = 0:N { state { copy s[2] -> y[i] } } }
      }
    }"""
FOREIGN = """
    sdfg @foreign(x: f64[N, N], y: f64[N], r: f64[1]) symbols(N: size) {
      state { foreign (u <- x[1, 0:N]) -> (s -> r[0]) from c_code { s = weighted(N, &u, 1.0) }
              foreign (u <- x[0, 0:N]) -> (v -> y[0:N]) from c_code { twice(&u, &v, i64(N)) } }
    }"""
GROWING = """
    sdfg @growing(x: f64[N], n: i64[1]) symbols(N: size) {
      data list: f64[room] transient
      let room = 1
      let k = 0
      loop i = 0:N {
        if k >= room { resize list: room = 2 * room keep k }
        state { copy x[i] -> list[k] }
        let k = k + 1
      }
      state { tasklet () -> (o -> n[0]) { o = k } }
    }"""
C_CODE = Environment("c_code", prototypes=(
    prototype("double weighted(int64_t, const double *, double);"),
    prototype("void twice(const double *, double *, int64_t);"),
))  # fmt: skip


def lir_of(program):
    sdfg = parse_sdfg(program)
    calls_stay = (step for step in cpu_pipeline(CpuOptions()).steps() if not isinstance(step, InlineCall))
    run_pipeline(sdfg, Pipeline("test", *calls_stay))
    module = lower_program(sdfg, default_signature(sdfg), CpuOptions(), {"c_code": C_CODE})
    require_valid(module.finished(), declared_by((C_CODE,)))
    return print_functions(tuple(function for function in module.functions if not function.exported))


PROGRAMS = {
    "stencil": STENCIL, "sum": SUM, "histogram": HISTOGRAM, "paths": PATHS, "grid": GRID, "network": NETWORK,
    "foreign": FOREIGN, "growing": GROWING,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_text(program, golden):
    golden(lir_of(program))


def test_literals_are_equal_where_their_bits_are():
    assert Literal(0.0, types.float64) != Literal(-0.0, types.float64)
    assert Literal(1, INDEX) != Literal(True, types.bool_)
    assert Literal(1.5, types.float32) == Literal(1.5, types.float32)
    assert len({Literal(0.0, types.float64), Literal(-0.0, types.float64)}) == 2


def test_types_are_values_and_the_host_has_no_memory_of_devices():
    pointer = Pointer(types.float64, const=True)
    assert type_text(pointer) == "*const f64"
    assert declared(CPP, pointer, "x", restrict=True) == "const double *__restrict x"
    assert declared(CPP, Pointer(Basic.VOID), "x", constant=True) == "void *const x"
    assert spelled(CPP, Pointer(Pointer(Basic.VOID), const=True)) == "void *const *"
    assert spelled(CPP, Reference(types.int32)) == "int32_t &"
    shared = Pointer(types.float32, space=Space.SHARED)
    assert type_text(shared) == "*shared f32"
    with pytest.raises(CodegenError, match="no pointer into the shared memory of a device"):
        spelled(CPP, shared)


def test_every_class_of_lir_has_a_text():
    """A class that `text` does not know would print as its own name, or raise."""
    x = Name("x", types.float64)
    made = {
        expr.Literal: Literal(1, INDEX), expr.Name: x, expr.Item: expr.Item(x, x, types.float64),
        expr.Field: expr.Field(x, "real", types.float64), expr.Infix: expr.Infix("+", x, x, INDEX),
        expr.Prefix: expr.Prefix("-", x, INDEX), expr.Call: expr.Call("f", (x,), INDEX),
        expr.Intrinsic: expr.Intrinsic("f", (x,), INDEX),
        expr.Operation: expr.Operation("add", (x, x), types.float64, types.float64),
        expr.Cast: expr.Cast(x, types.float64, types.int8), expr.Convert: expr.Convert(x, Pointer(INDEX)),
        expr.Conditional: expr.Conditional(x, x, x, types.float64), expr.SizeOf: expr.SizeOf(INDEX, Basic.SIZE),
        expr.Aggregate: expr.Aggregate((x, x), types.complex128),
    }  # fmt: skip
    names = {reference.__forward_arg__ for reference in typing.get_args(expr.LirExpr)}
    assert {kind.__name__ for kind in made} == names
    assert len({expr_text(one) for one in made.values()}) == len(made)


def test_operations_without_a_meaning_are_refused_at_their_place():
    floored = "sdfg @f(z: c128[2]) { tasklet (a <- z[0], b <- z[1]) -> (o -> z[0]) { o = floordiv(a, b) } }"
    sdfg = parse_sdfg(floored)
    for node in sdfg.body.walk_nodes():
        node.span = SrcSpan("f.py", 3)
    with pytest.raises(CodegenError, match="'floordiv' has no meaning on c128") as caught:
        source_of(sdfg)
    assert caught.value.span == SrcSpan("f.py", 3)


def test_every_statement_has_words_of_its_own():
    """`tree.Statement` and the printer know the same classes: the others print as their own name, a word."""
    owners = {"Compound", "Attempt", "Loop", "While", "If"}
    words = {"Break", "Continue"}
    known = {kind.__name__ for kind in text._LINES}
    assert {reference.__forward_arg__ for reference in typing.get_args(tree.Statement)} == known | owners | words
