"""Reductions: every operation, axis, dtype and layout computes what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.ir import types
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.memlet import Memlet
from dcpy.ir.schedules import VECTOR
from dcpy.ir.subsets import parse_subset
from dcpy.libraries.reduce.nodes import ArgReduce, Reduce
from dcpy.transforms.cpu.lowering import lower_for_cpu
from tests.libraries.oracles import assert_expands, expanded

pytestmark = pytest.mark.usefixtures("small_tiles")

ROWS = """sdfg @rows(A: {src}[N, M], out: {dst}[N]) symbols(N: size, M: size) {{
            state {{ {kind} (x <- A[0:N, 0:M]) -> (out -> out[0:N]) {{op = "{op}", axes = (1,)}} }} }}"""
COLUMNS = """sdfg @columns(A: {src}[N, M], out: {dst}[M]) symbols(N: size, M: size) {{
            state {{ {kind} (x <- A[0:N, 0:M]) -> (out -> out[0:M]) {{op = "{op}", axes = (0,)}} }} }}"""
ALL = """sdfg @all(A: {src}[N, M], out: {dst}[]) symbols(N: size, M: size) {{
            state {{ {kind} (x <- A[0:N, 0:M]) -> (out -> out[]) {{op = "{op}", axes = (0, 1)}} }} }}"""
FORMS = {"rows": (ROWS, 0), "columns": (COLUMNS, 1), "all": (ALL, None)}
INTEGERS = ("int8", "int64", "uint8")


def data(dtype, *shape):
    rng = np.random.default_rng(7)
    values = rng.integers(0 if np.dtype(dtype).kind in "ub" else -4, 5, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.integers(-4, 5, shape)
    return values.astype(dtype)


def short(dtype):
    return types.from_numpy(dtype).name


def check(form, op, src, dst, shape, a=None, kind="reduce"):
    text, kept = FORMS[form]
    a = data(src, *shape) if a is None else a
    out = np.zeros(() if kept is None else shape[kept], dst)
    assert_expands(text.format(src=short(src), dst=short(dst), op=op, kind=kind), {"A": a, "out": out})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (5, 1), (1, 9), (5, 10)])
def test_sums_in_every_shape(form, shape):
    check(form, "add", "float64", "float64", shape)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", ["add", "mul", "min", "max"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "complex128", *INTEGERS])
def test_numbers(form, op, dtype):
    check(form, op, dtype, dtype, (3, 5))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", ["and", "or"])
@pytest.mark.parametrize("dtype", ["bool", "float32", "int64"])
def test_all_and_any_take_what_is_not_zero_as_true(form, op, dtype):
    check(form, op, dtype, "bool", (4, 3))


def test_elements_are_converted_before_they_are_summed():
    check("all", "add", "uint8", "uint64", (5, 60), a=np.full((5, 60), 255, "uint8"))


def test_a_sum_of_halves_is_taken_in_single_precision():
    check("rows", "add", "float16", "float16", (1, 3), a=np.array([[2048, 1, 1]], "float16"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", ["min", "max"])
def test_nan_propagates(form, op):
    a = data("float64", 4, 6)
    a[1, 4] = np.nan
    check(form, op, "float64", "float64", a.shape, a)


@pytest.mark.parametrize("op", ["add", "mul", "min", "max", "and", "or"])
@pytest.mark.parametrize("dtype", types.DTYPES, ids=str)
def test_the_identity_changes_nothing(op, dtype):
    from dcpy.libraries.reduce.nodes import REDUCTIONS

    start = np.asarray(identity_value(op, dtype), dtype.numpy)
    for value in data(dtype.numpy, 5):
        expected = bool(value) if op in ("and", "or") else value
        assert REDUCTIONS[op](start, value) == expected


def test_sums_over_two_of_three_axes():
    text = """sdfg @f(A: f64[N, M, K], out: f64[M]) symbols(N: size, M: size, K: size) {
                state { reduce (x <- A[0:N, 0:M, 0:K]) -> (out -> out[0:M]) {axes = (0, 2)} } }"""
    assert_expands(text, {"A": data("float64", 3, 4, 5), "out": np.zeros(4)})


def test_sums_over_the_middle_axis_of_a_strided_part():
    text = """sdfg @f(A: f64[N, M, K], out: f64[N, K]) symbols(N: size, M: size, K: size) {
                state { reduce (x <- A[N - 1, 0:M:2, 1:K]) -> (out -> out[0, 1:K]) {axes = (0,)} } }"""
    assert_expands(text, {"A": data("float64", 3, 5, 6), "out": np.zeros((3, 6))})


def test_nothing_to_sum_over_converts_each_element():
    text = """sdfg @f(A: i32[N], out: f64[N]) symbols(N: size) {
                state { reduce (x <- A[0:N]) -> (out -> out[0:N]) } }"""
    assert_expands(text, {"A": data("int32", 4), "out": np.zeros(4)})


def test_the_result_may_overwrite_the_operand():
    text = """sdfg @f(A: f64[N, N]) symbols(N: size) {
                state { reduce (x <- A[0:N, 0:N]) -> (out -> A[0, 0:N]) {axes = (1,)} } }"""
    assert_expands(text, {"A": data("float64", 5, 5)})


def test_the_result_is_combined_where_its_memlet_says_so():
    text = """sdfg @f(A: f64[N, M], out: f64[N]) symbols(N: size, M: size) {
                state { reduce (x <- A[0:N, 0:M]) -> (out -> out[0:N] (add)) {axes = (1,)} } }"""
    assert_expands(text, {"A": data("float64", 3, 5), "out": np.ones(3)})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", ["min", "max"])
@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64", "bool"])
def test_positions_are_those_of_the_first_extremum(form, op, dtype):
    check(form, op, dtype, "int64", (4, 6), kind="argreduce")


@pytest.mark.parametrize("form", FORMS)
def test_the_first_nan_is_the_extremum(form):
    a = data("float64", 3, 5)
    a[1, 2] = a[2, 2] = a[2, 0] = np.nan
    check(form, "min", "float64", "int64", a.shape, a, kind="argreduce")


def test_the_innermost_loop_is_simd_and_runs_along_memory():
    for form in FORMS:
        sdfg = expanded(FORMS[form][0].format(src="f64", dst="f64", op="add", kind="reduce"))
        lower_for_cpu(sdfg)
        reading = [(node, memlet) for node in sdfg.body.walk_nodes() for memlet in node.reads() if "A" in str(memlet)]
        assert reading
        for node, memlet in reading:
            loop = node.state.region.owner
            assert (loop.schedule, (memlet.subset.dims[-1].name,)) == (VECTOR, loop.params)


def node_of(kind, x, out, **properties):
    return kind({"x": Memlet("A", parse_subset(x))}, {"out": Memlet("B", parse_subset(out))}, **properties)


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (node_of(Reduce, "0:N", "", op="avg", axes=(0,)), "reduces with 'avg'"),
        (node_of(Reduce, "0:N", "", axes=(1,)), "axes (1,) do not fit an operand of 1 dimensions"),
        (node_of(Reduce, "0:N, 0:M", "", axes=(0,)), "leaves 1 dimensions, but the output has 0"),
        (node_of(Reduce, "0:N, 0:3", "0:4", axes=(0,)), "leaves [3], but the output is [4]"),
        (node_of(ArgReduce, "0:N", "", op="add", axes=(0,)), "searches 'add'"),
        (node_of(ArgReduce, "0:N", "0:N", axes=()), "needs at least one axis"),
    ],
)
def test_problems_are_said(node, problem):
    assert any(problem in sentence for sentence in node.problems())


def test_a_good_node_has_no_problems():
    assert list(node_of(Reduce, "0:N, 0:M", "0:M", axes=(0,)).problems()) == []
