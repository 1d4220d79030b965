"""Distances of recurrences, intervals that follow from them, and nests that are one loop."""

from __future__ import annotations

import pytest

from dcpy.base.options import resolve_options
from dcpy.codegen.fpga.program import generate_fpga, predicted
from dcpy.codegen.lir.expr import Infix, Literal, Name
from dcpy.codegen.lir.types import INDEX
from dcpy.codegen.lower.fpga.pipeline_recurrences import NestLoop, dependence_distance, reuse_distance
from dcpy.ir.text import parse_sdfg

i, j, N = (Name(name, INDEX) for name in "ijN")


def plus(left, right):
    return Infix("+", left, right, INDEX)


def times(left, right):
    return Infix("*", left, right, INDEX)


def number(value):
    return Literal(value, INDEX)


@pytest.mark.parametrize(
    ("index", "axes", "distance"),
    [
        (number(3), [("i", None)], 1),
        (i, [("i", None)], None),
        (i, [("j", 8), ("i", None)], 1),
        (j, [("j", 8), ("i", None)], 8),
        (j, [("j", None), ("i", None)], 1),
        (plus(times(i, N), j), [("j", None), ("i", None)], None),
        (plus(i, j), [("j", 8), ("i", None)], 1),
        (plus(times(i, number(8)), j), [("j", 8), ("i", 5)], None),
        (plus(times(i, number(7)), j), [("j", 8), ("i", 5)], 1),
        (plus(times(i, N), times(j, N)), [("j", 8), ("i", 5)], 1),
        (times(i, j), [("j", 8), ("i", 5)], 1),
        (Infix("%", i, number(16), INDEX), [("i", None)], 16),
        (Infix("%", i, number(16), INDEX), [("i", None), ("j", None)], 1),
    ],
)
def test_when_an_index_comes_again(index, axes, distance):
    assert reuse_distance(index, [NestLoop(*axis) for axis in axes]) == distance


@pytest.mark.parametrize(
    ("read", "written", "distance"),
    [
        (i, i, None),
        (plus(i, number(-1)), i, 1),
        (plus(i, number(-3)), i, 3),
        (plus(i, number(1)), i, None),
        (times(i, number(2)), plus(times(i, number(2)), number(1)), None),
        (N, N, 1),
        (N, i, 1),
    ],
)
def test_when_a_value_is_read_that_was_written(read, written, distance):
    assert dependence_distance(read, written, "i") == distance


def time_of(body):
    arguments = "(x: f32[N], y: f32[N], A: f32[N, M]) symbols(N: size, M: size)"
    sdfg = parse_sdfg(f"sdfg @f{arguments} {{ dataflow {{ process a {{ {body} }} }} }}")
    (kernel,) = predicted(sdfg, {"N": 20, "M": 30}, options=resolve_options({"device": "fpga"})).kernels.values()
    (process,) = kernel.longest.processes
    return process, generate_fpga(sdfg).units[1].text


def test_a_loop_waits_for_what_it_has_computed():
    process, _ = time_of(
        "loop i = 1:N @pipelined { tasklet (a <- y[i - 1], b <- x[i]) -> (o -> y[i]) { o = a * b } }"
    )
    (pipeline,) = process.pipelines
    assert pipeline.ii == 20 + 4  # memory, and a product
    assert "what each iteration needs of one before, y" in pipeline.bound


def test_nests_are_one_loop():
    copied = "{ copy A[i, j] -> A[i, j] }"
    process, text = time_of(f"state {{ map i = 0:N, j = 0:M @pipelined {copied} }}")
    (pipeline,) = process.pipelines
    assert (pipeline.iterations, process.course.cycles) == (600, 599 + 3 + 20 + 1)
    assert "iteration < iterations" in text
    assert "if (j >= M) {" in text


def test_nests_that_depend_on_rows_before_are_not():
    body = "tasklet (a <- A[i - 1, j]) -> (o -> A[i, j]) { o = a + f32(1.0) }"
    process, text = time_of(f"loop i = 1:N {{ loop j = 0:M @pipelined {{ {body} }} }}")
    assert "iteration" not in text
    assert process.course.cycles == 19 * ((29 * process.pipelines[0].ii) + process.pipelines[0].depth + 1)


def test_triangles_are_not():
    _, text = time_of("state { map i = 0:N, j = 0:i @pipelined { copy x[j] -> x[j] } }")
    assert "iteration" not in text
