"""Random programs and random expressions survive text, JSON and copying."""

from __future__ import annotations

import json as stdlib_json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.expressions.ops import OPS, result_dtype
from dcpy.ir.expressions.scalar import Cast, Const, Index, Load, Op, Ref, WrapIndex, substitute_refs
from dcpy.ir.files.json import from_json, to_json
from dcpy.ir.interp import run
from dcpy.ir.region import SymbolAssign
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import max_of, min_of, sym
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.text.expr_parser import ExprParser
from dcpy.ir.text.expr_printer import print_expr
from dcpy.ir.types import BY_NAME, bool_, float64, int32, int64
from dcpy.ir.verify import verify
from tests.support.sdfg_strategies import arguments_for, programs

REFS = {"u": float64, "inf": float64, "n32": int32, "b": bool_, "f64": float64}
CONTAINERS = {"A": Array.packed(float64, (sym("N"), 3)), "s": Scalar(int64), "nan": Array.packed(int64, (4,))}
SYMBOLS = ("i", "j", "true")
DTYPES = st.sampled_from(list(BY_NAME.values()))


def symbolic():
    leaves = st.one_of(st.integers(-5, 5).map(lambda n: sym("i") * 0 + n), st.sampled_from(SYMBOLS).map(sym))

    def grow(inner):
        pair = st.tuples(inner, inner)
        return st.one_of(
            pair.map(lambda p: p[0] + p[1]),
            pair.map(lambda p: p[0] * p[1]),
            pair.map(lambda p: p[0] - p[1]),
            st.tuples(inner, st.integers(1, 4)).map(lambda p: p[0] // p[1]),
            st.tuples(inner, st.integers(1, 4)).map(lambda p: p[0] % p[1]),
            pair.map(lambda p: min_of(*p)),
            pair.map(lambda p: max_of(*p, sym("j"))),
        )

    return st.recursive(leaves, grow, max_leaves=5)


@st.composite
def constants(draw, dtype):
    match dtype.kind:
        case "b":
            return Const(draw(st.booleans()), dtype)
        case "f":
            return Const(draw(st.floats()), dtype)
        case "c":
            return Const(draw(st.complex_numbers(allow_nan=True, allow_infinity=True)), dtype)
        case "i":
            return Const(draw(st.integers(-100, 100)), dtype)
        case _:
            return Const(draw(st.integers(0, 100)), dtype)


def leaves(dtype):
    """Expressions without parts, of one dtype."""
    refs = [st.just(Ref(name, dtype)) for name, ref in REFS.items() if ref == dtype]
    choices = [constants(dtype), *refs]
    if dtype.kind == "i":
        choices.append(symbolic().map(lambda value: Index(value, dtype)))
    if dtype == float64:
        choices.append(st.tuples(symbolic(), symbolic()).map(lambda indices: Load("A", indices, dtype)))
    if dtype == int64:
        choices += [st.just(Load("s", (), dtype)), symbolic().map(lambda index: Load("nan", (index,), dtype))]
    return st.one_of(choices)


@st.composite
def operations(draw, dtype, depth):
    """An operation with a value of this dtype, whose arguments have one dtype."""
    part = draw(DTYPES)
    fitting = [
        (info.name, parts)
        for info in OPS.values()
        for parts in [(bool_, dtype, dtype) if info.result == "last" else (part,) * info.arity, (dtype,) * info.arity]
        if result_dtype(info.name, parts) == dtype
    ]
    name, parts = draw(st.sampled_from(fitting))
    return Op(name, tuple(draw(exprs(part, depth - 1)) for part in parts), dtype)


@st.composite
def exprs(draw, dtype=None, depth=3):
    """Any tree of this dtype."""
    dtype = dtype or draw(DTYPES)
    match draw(st.integers(0, 4)) if depth else 0:
        case 1 | 2:
            return draw(operations(dtype, depth))
        case 3:
            return Cast(draw(exprs(draw(DTYPES), depth - 1)), dtype)
        case 4 if dtype == int64:
            return WrapIndex(draw(exprs(int64, depth - 1)), draw(symbolic()), draw(st.integers(0, 3)))
    return draw(leaves(dtype))


@settings(max_examples=400)
@given(exprs())
def test_any_expression_is_read_back_as_it_was(expr):
    parser = ExprParser(print_expr(expr))
    parser.refs, parser.scopes = REFS, [CONTAINERS]
    parser.seen_symbols = dict.fromkeys(SYMBOLS, False)
    assert parser.scalar() == expr
    assert parser.token.kind == "end"


@settings(max_examples=100)
@given(exprs(dtype=int64))
def test_expressions_in_programs_survive_text_and_json(value):
    sdfg = Sdfg("e")
    for name, desc in CONTAINERS.items():
        sdfg.add_argument(name, desc)
    for name in ("N", "u", *SYMBOLS):
        sdfg.add_symbol(name)
    sdfg.body.add(SymbolAssign("k", substitute_refs(value, {name: Load("s", (), int64) for name in REFS})))
    assert print_sdfg(parse_sdfg(print_sdfg(sdfg))) == print_sdfg(sdfg)
    document = stdlib_json.loads(stdlib_json.dumps(to_json(sdfg), allow_nan=False))
    assert from_json(document).body.blocks[0].value == sdfg.body.blocks[0].value


def test_a_connector_hides_a_symbol_of_its_name():
    text = "sdfg @f(A: i64[N]) { map i = 0:N { tasklet (N <- A[i]) -> (o -> A[i]) { i = N + index(i + N); o = i } } }"
    printed = print_sdfg(parse_sdfg(text))
    assert "{ i = N + index(N + i); o = i }" in printed
    assert print_sdfg(parse_sdfg(printed)) == printed


@given(programs())
def test_programs_survive_text(sdfg):
    text = print_sdfg(sdfg)
    assert print_sdfg(parse_sdfg(text)) == text


@given(programs())
def test_programs_survive_json_and_copying(sdfg):
    document = stdlib_json.loads(stdlib_json.dumps(to_json(sdfg), allow_nan=False))
    assert print_sdfg(from_json(document)) == print_sdfg(sdfg)
    assert to_json(from_json(document)) == to_json(sdfg)
    assert to_json(copy_sdfg(sdfg)) == to_json(sdfg)


@given(programs())
def test_programs_are_valid_and_mean_the_same_when_read_back(sdfg):
    verify(sdfg)
    mine, theirs = arguments_for(), arguments_for()
    assert repr(run(sdfg, mine, strict=True)) == repr(run(parse_sdfg(print_sdfg(sdfg)), theirs))
    for name in mine:
        np.testing.assert_array_equal(mine[name], theirs[name])
    run(sdfg, arguments_for(2, 0), strict=True)
