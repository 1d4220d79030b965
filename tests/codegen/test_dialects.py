"""Dialects as values: the same LIR in several, one laid over another, and what one has no words for."""

from __future__ import annotations

import pytest

from dcpy.base.errors import CodegenError
from dcpy.base.source import SrcSpan
from dcpy.codegen.emit.c99 import C99
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.emit.dialect import Dialect
from dcpy.codegen.emit.lir_printer import Printer
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, Convert, Intrinsic, Item, Literal, Name, Operation, integer
from dcpy.codegen.lir.reduction_operators import ReductionOperator
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, Pointer, Reference
from dcpy.ir import types
from dcpy.ir.data import Space
from dcpy.ir.types import bool_, float16, float32, float64, int8, int32, int64, uint8

X, Y, N = Name("x", float64), Name("y", float64), Name("n", int64)
F = Name("f", float32)
B = Item(Name("b", Pointer(bool_)), N, bool_)


def operation(name, *args, gives=None):
    return Operation(name, args, args[0].type, gives or args[0].type)


@pytest.mark.parametrize(
    ("expr", "cpp", "c"),
    [
        (operation("max", X, Y), "dcpy_maximum(x, y)", "dcpy_maximum(x, y)"),
        (operation("max", F, F), "dcpy_maximum(f, f)", "dcpy_maximumf(f, f)"),
        (operation("max", N, N), "dcpy_max<int64_t>(n, n)", "dcpy_max_i64(n, n)"),
        (operation("sin", F), "sinf(f)", "sinf(f)"),
        (operation("pow", X, Literal(3.0, float64)), "dcpy_power<3, double>(x)", "dcpy_power_f64(x, 3)"),
        (operation("pow", X, Literal(-1.5, float64)), "dcpy_half_power<-3, double>(x)", "dcpy_half_power_f64(x, -3)"),
        (operation("pow", X, Literal(-6.0, float64)), "dcpy_inverse_power<6, double>(x)",
         "dcpy_inverse_power_f64(x, 6)"),
        (operation("pow", X, Literal(16.5, float64)), "pow(x, 16.5)", "pow(x, 16.5)"),
        (operation("pow", X, Literal(-3.5, float64)), "pow(x, -3.5)", "pow(x, -3.5)"),
        (Intrinsic("truncate", (X,), uint8, uint8), "dcpy_truncate<uint8_t>(x)", "dcpy_truncate_to_u8(x)"),
        (Intrinsic("is_set", (B,), TRUTH), "dcpy_is_set(b[n])", "dcpy_is_set(&b[n])"),
        (Literal(None, Pointer(Basic.VOID)), "nullptr", "((void *)0)"),
        (Literal(True, TRUTH), "true", "1"),
        (Literal(float("-inf"), float32), "-__builtin_inff()", "-__builtin_inff()"),
        (Literal(-(2**63), int64), "(-__INT64_MAX__ - 1)", "(-__INT64_MAX__ - 1)"),
        (Literal(-3, int8), "(int8_t)-3", "(int8_t)-3"),
        (Convert(Name("p", Pointer(Basic.VOID)), Pointer(float64)), "(double *)p", "(double *)p"),
    ],
    ids=str,
)  # fmt: skip
def test_one_expression_in_two_dialects(expr, cpp, c):
    assert Printer(CPP).text(expr) == cpp
    assert Printer(C99).text(expr) == c


AT, P, TOTAL = Name("i", INDEX), Name("p", Pointer(float64, const=True)), Name("total", float64)
SUM = tree.Function(
    "add_up", Basic.VOID, (tree.Parameter("total", Reference(float64)), tree.Parameter("p", P.type)),
    (tree.Loop(
        "i", integer(0), integer(8), integer(1),
        (tree.Update(TOTAL, Item(P, AT, float64), ReductionOperator("add", float64), atomic=True),),
        marks=(tree.Unroll(4),),
    ),),
)  # fmt: skip
CALLER = tree.Function("run", STATUS, (tree.Parameter("p", P.type),), (
    tree.Declare("total", float64, Literal(0.0, float64)),
    tree.Evaluate(Call("add_up", (TOTAL, P), Basic.VOID)),
    tree.Return(Literal(0, STATUS)),
), exported=True)  # fmt: skip


@pytest.mark.parametrize("dialect", [CPP, C99], ids=lambda dialect: dialect.name)
def test_one_function_in_two_dialects(dialect, golden):
    golden(Printer(dialect).functions((SUM, CALLER)) + "\n")


# -- a third one, made here: what docs/how-to/dialects.md does -----------------------------------------------------

OPENCL = C99.but(
    "OpenCL C",
    language="OpenCL C",
    suffix=".cl",
    numbers={"i64": "long", "i32": "int", "u8": "uchar", "f64": "double", "f16": "half"},
    typedefs={},
    spaces={Space.HOST: "", Space.GLOBAL: "__global ", Space.SHARED: "__local "},
    words={"exported": "__kernel", "internal": "", "restrict": "restrict", "nan": "nan(0u{})", "infinity": "INFINITY"},
    intrinsics={"likely": "{0}", "take_kept": None, "owned_buffer": None, "free": None},
    statements={tree.TeamCall: None, tree.HeapBuffer: None},
    loops=lambda out, loop: [f"#pragma unroll {mark.factor}" for mark in loop.marks if isinstance(mark, tree.Unroll)],
    flags=(),
)
INPUT = Name("x", Pointer(float32, const=True, space=Space.GLOBAL))
OUTPUT = Name("y", Pointer(float32, space=Space.GLOBAL))
DOUBLED = operation("mul", Item(INPUT, AT, float32), Literal(2.0, float32))
KERNEL = tree.Function(
    "scale", Basic.VOID,
    (tree.Parameter("x", INPUT.type, restrict=True), tree.Parameter("y", OUTPUT.type, restrict=True)),
    (tree.StackBuffer("row", float32, 16),
     tree.Loop("i", integer(0), integer(16), integer(1),
               (tree.Assign(Item(OUTPUT, AT, float32), DOUBLED),), marks=(tree.Unroll(8),))),
    exported=True,
)  # fmt: skip


def test_a_dialect_laid_over_another_one():
    text = Printer(OPENCL).functions((KERNEL,))
    assert text.splitlines() == [
        "__kernel void scale(__global const float *restrict x, __global float *restrict y)",
        "{",
        "    __attribute__((aligned(64))) float row[16];",
        "    #pragma unroll 8",
        "    for (long i = 0; i < 16; i++)",
        "        y[i] = x[i]*2.0f;",
        "}",
    ]
    assert Printer(CPP).text(Literal(float("nan"), float64)) == '__builtin_nan("")'  # the others have not changed


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (tree.HeapBuffer("b", float64, N), "OpenCL C has no words for a HeapBuffer"),
        (tree.TeamCall(Call("f", (), Basic.VOID)), "OpenCL C has no words for a Team"),
        (tree.Evaluate(Intrinsic("free", (Name("p", Pointer(Basic.VOID)),), Basic.VOID)), "for the intrinsic 'free'"),
        (tree.Declare("z", types.complex128), "OpenCL C has no words for numbers of dtype c128"),
        (tree.Declare("z", int32, operation("gcd", Name("k", int32), Name("k", int32))), "the operation 'gcd' on i32"),
    ],
    ids=["buffer", "team", "intrinsic", "dtype", "operation"],
)  # fmt: skip
def test_what_a_dialect_lacks_is_refused_at_its_place(statement, reason):
    span = SrcSpan("f.py", 3)
    with pytest.raises(CodegenError, match=reason) as caught:
        Printer(OPENCL).body((tree.with_span(statement, span),))
    assert caught.value.span == span


def test_cpp_has_no_memory_of_devices_and_opencl_has():
    assert Printer(OPENCL).type(Pointer(float16, space=Space.SHARED)) == "__local half *"
    with pytest.raises(CodegenError, match=r"C\+\+ has no pointer into the shared memory of a device"):
        Printer(CPP).type(Pointer(float16, space=Space.SHARED))


def test_every_statement_and_expression_has_an_entry_in_cpp():
    import typing

    from dcpy.codegen.lir import expr

    by_operations = {"Operation", "Cast"}  # `emit.operations` and `emit.conversions` put them in terms of the others
    expressions = {reference.__forward_arg__ for reference in typing.get_args(expr.LirExpr)} - by_operations
    assert {kind.__name__ for kind in CPP.expressions} == expressions
    assert {kind.__name__ for kind in CPP.statements} == {r.__forward_arg__ for r in typing.get_args(tree.Statement)}
    assert isinstance(CPP, Dialect)
