"""The verifier of LIR: each rule with a module that breaks it, and all kernels of the benchmark with none that do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.npbench import kernels
from dcpy import driver
from dcpy.base.errors import CodegenError
from dcpy.base.options import resolve_options
from dcpy.base.prototypes import prototype
from dcpy.base.source import SrcSpan
from dcpy.codegen import generate
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import (
    Aggregate,
    Call,
    Cast,
    Conditional,
    Convert,
    Field,
    Infix,
    Intrinsic,
    Item,
    Literal,
    Name,
    Operation,
    Prefix,
    SizeOf,
    integer,
)
from dcpy.codegen.lir.reduction_operators import ReductionOperator
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, Pointer, Reference
from dcpy.codegen.lir.verify import problems, require_valid
from dcpy.ir import types
from dcpy.ir.data import Space
from dcpy.ir.types import float32, float64

X, N = Name("x", float64), Name("n", INDEX)
P, Q = Name("p", Pointer(float64)), Name("q", Pointer(float64, const=True))
TEAM = Name("s", Pointer(STATUS))
D = Name("d", Pointer(float64, space=Space.GLOBAL))
PARAMS = tuple(tree.Parameter(one.name, one.type) for one in (X, N, P, Q, D))
ERROR = tree.Parameter("error", Pointer(INDEX))
ADD = ReductionOperator("add", float64)
ONE = Literal(1.0, float64)
YES = Literal(True, TRUTH)
HELPER = tree.Function("helper", STATUS, (tree.Parameter("x", Reference(float64)),), (tree.Return(Literal(0, STATUS)),))
FOREIGN = {"ddot": prototype("double ddot(int, const double *, double *);"), "untold": None}


def found(*body: tree.Statement, params: tuple[tree.Parameter, ...] = PARAMS, result=Basic.VOID) -> list[str]:
    function = tree.Function("f", result, params, body)
    return [problem.message for problem in problems(tree.Module("m", (HELPER, function)), FOREIGN)]


def element(base: Name, index=N) -> Item:
    return Item(base, index, float64)


def evaluated(expr) -> tree.Statement:
    return tree.Declare("y", expr.type, expr)


def test_what_is_right():
    body = (
        tree.Declare("y", float64, element(Q)),
        tree.Assign(element(P), Name("y", float64)),
        tree.Loop("i", integer(0), N, integer(1), (tree.Update(element(P, Name("i", INDEX)), ONE, ADD, atomic=True),)),
        tree.Loop("i", integer(0), N, integer(1), (tree.Break(),), marks=(tree.Reduction(ADD, "y"), tree.Simd())),
        tree.Attempt("next", (tree.CheckFail(YES, Literal(1, STATUS), (N,), TEAM, "next", order=(N,)),)),
        tree.Evaluate(Call("helper", (X,), STATUS)),
        tree.Evaluate(Call("ddot", (Literal(3, types.int32), Q, P), float64)),
        tree.Evaluate(Intrinsic("copy", (P, Q, Infix("*", N, SizeOf(float64, Basic.SIZE), Basic.SIZE)), Basic.VOID)),
        tree.Return(),
    )
    assert found(*body, params=(*PARAMS, ERROR, tree.Parameter("s", Pointer(STATUS)))) == []


WRONG_EXPRESSIONS = {
    "'z' is not declared": Name("z", float64),
    "'x' is f64, not f32": Name("x", float32),
    "f64 has no elements": Item(X, N, float64),
    "an element is f64, not f32": Item(P, N, float32),
    "an index is f64": Item(P, X, float64),
    "f64 has no 'real'": Field(X, "real", float64),
    "+ of f64 and i64 gives f64": Infix("+", X, N, float64),
    "< of f64 and i64": Infix("<", X, N, TRUTH),
    "&& of f64 and bool": Infix("&&", X, YES, TRUTH),
    "! of f64 gives bool": Prefix("!", X, TRUTH),
    "the address of f64 is *f32": Prefix("&", X, Pointer(float32)),
    "the address of a part of *const f64 is *f64": Prefix("&", element(Q), Pointer(float64)),
    "the address of a part of *global f64 is *f64": Prefix("&", element(D), Pointer(float64)),
    "a pointer into the global memory is seen as one into the host memory": Convert(D, Pointer(float32)),
    "the function 'nobody' is not declared": Call("nobody", (), float64),
    "1 arguments for 3 parameters": Call("ddot", (X,), float64),
    "argument 2 is *const f64, not *f64": Call("ddot", (N, Q, Q), float64),
    "argument 1 is *global f64, not *const f64": Call("ddot", (N, D, P), float64),
    "argument 0 is no variable": Call("helper", (ONE,), STATUS),
    "the result is i32, not f64": Call("helper", (X,), float64),
    "there is no intrinsic 'fly'": Intrinsic("fly", (), float64),
    "2 arguments for 1": Intrinsic("likely", (YES, YES), TRUTH),
    "argument 0 is f64, not bool": Intrinsic("likely", (X,), TRUTH),
    "sin.f64 of i64": Operation("sin", (N,), float64, float64),
    "i64 is converted as if it were f64": Cast(N, float64, float32),
    "a condition is f64": Conditional(X, X, X, float64),
    "i64 is selected as f64": Conditional(YES, X, N, float64),
    "c128 is not made of these parts": Aggregate((X, N), types.complex128),
    "a float is i64": Literal(1.5, INDEX),
    "null is f64": Literal(None, float64),
}


@pytest.mark.parametrize(("message", "expr"), WRONG_EXPRESSIONS.items(), ids=list(WRONG_EXPRESSIONS))
def test_expressions_that_are_wrong(message, expr):
    assert any(message in one for one in found(evaluated(expr)))


STOP = tree.CheckFail(YES, Literal(1, STATUS))
WRONG_STATEMENTS = {
    "'y' is declared twice": (tree.Declare("y", float64), tree.Declare("y", INDEX)),
    "the value of 'y' is f64, not i64": (tree.Declare("y", INDEX, X),),
    "'y' is no pointer, and restrict": (tree.Declare("y", float64, X, restrict=True),),
    "q[n] is written, but its pointer is const": (tree.Assign(element(Q), X),),
    "1.0 is no place to write to": (tree.Assign(ONE, X),),
    "what is assigned is i64, not f64": (tree.Assign(X, N),),
    "add.f64 updates i64": (tree.Update(N, X, ADD),),
    "the count of 'b' is f64, not i64": (tree.HeapBuffer("b", float64, X),),
    "the slot 'kept' is not declared": (tree.HeapBuffer("b", float64, N, kept="kept"),),
    "'b' has 0 elements": (tree.StackBuffer("b", float64, 0),),
    "'x' is no buffer": (tree.Grow("x", float64, N, N),),
    "a bound of 'i' is f64, not i64": (tree.Loop("i", X, N, integer(1), ()),),
    "add.f64 folds into 'n', which is no f64": (tree.Loop("i", N, N, N, (), marks=(tree.Reduction(ADD, "n"),)),),
    "'i' is not declared": (tree.Loop("i", N, N, N, ()), tree.Assign(N, Name("i", INDEX))),
    "a condition is i64, not bool": (tree.If(((N, ()),)),),
    "the condition of a loop is i64, not bool": (tree.While(N, ()),),
    "a break outside of loops": (tree.Break(),),
    "what a team calls is i32, not void": (tree.TeamCall(Call("helper", (X,), STATUS)),),
    "leaves 'next', which is not around it": (replace(STOP, status=TEAM, leaves="next"),),
    "a failed check leaves a function that returns void": (STOP,),
    "a check has nowhere to keep its numbers": (STOP,),
    "a check has 5 numbers": (replace(STOP, values=(N,) * 5),),
    "what is returned is f64, not void": (tree.Return(X),),
}


@pytest.mark.parametrize(("message", "body"), WRONG_STATEMENTS.items(), ids=list(WRONG_STATEMENTS))
def test_statements_that_are_wrong(message, body):
    assert any(message in one for one in found(*body))


def test_a_function_stands_before_its_callers():
    call = tree.Function("f", STATUS, (), (tree.Return(Call("g", (), STATUS)),))
    called = replace(call, name="g", body=(tree.Return(Literal(0, STATUS)),))
    assert problems(tree.Module("m", (called, call)), {}) == []
    assert [one.message for one in problems(tree.Module("m", (call, called)), {})] == [
        "the function 'g' is not declared, in g()"
    ]


def test_what_is_wrong_is_an_error_with_its_place():
    span = SrcSpan("f.py", 3)
    function = tree.Function("f", Basic.VOID, PARAMS, (tree.Assign(X, N, span=span),))
    with pytest.raises(CodegenError, match="not valid: f: what is assigned is i64, not f64") as caught:
        require_valid(tree.Module("m", (function,)), {})
    assert caught.value.span == span


def test_options_ask_for_it(monkeypatch):
    seen = []
    monkeypatch.setattr(generate, "require_valid", lambda module, foreign: seen.append(module.name))
    sdfg = kernels()["jacobi_1d"]
    lowered = driver.lower(program_of(sdfg, auto=False), resolve_options())[0]
    generate.generate(lowered, options=resolve_options())
    assert seen == []
    generate.generate(lowered, options=resolve_options({"check": True}))
    assert seen == ["jacobi_1d"]


def program_of(kernel, *, auto: bool):
    import dcpy

    sdfg = dcpy.program(kernel.function).to_sdfg(*kernel.initialize("XS").values())
    if auto:
        driver.auto_optimize(sdfg)
    return sdfg


@pytest.mark.parametrize("name", list(kernels()))
def test_kernels_are_lowered_to_valid_programs(name):
    """`tests.support.verified_lir` verifies what is generated here, as in every test."""
    sdfg = program_of(kernels()[name], auto=True)
    assert driver.artifact_of(sdfg, generate.default_signature(sdfg), resolve_options()).units
