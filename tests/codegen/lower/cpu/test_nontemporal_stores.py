"""Streaming stores: rows of large results are stored past the caches, with the same values, whatever their places."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.codegen.generate import generate
from dcpy.ir.text import parse_sdfg
from dcpy.transforms.cpu.lowering import cpu_pipeline, lower_for_cpu
from dcpy.transforms.overrides import without
from dcpy.transforms.pass_manager import run_pipeline

ROWS = """
sdfg @rows(A: f64[N, M], B: f64[N, M], lo: i64) symbols(N: size, M: size) {{
  state {{ map i = 0:N {{ state {{ map j = 1:M @vector{{streamed_above = {above}}} {{
    tasklet (a <- A[i, j]{more}) -> (o -> B[i, j]) {{ o = a * 2.0 + 1.0 }} }} }} }} }}
}}"""


def printed(text: str) -> str:
    sdfg = parse_sdfg(text)
    lower_for_cpu(sdfg)
    return generate(sdfg).units[0].text


def test_lines_are_written_then_stored_past_the_caches():
    text = printed(ROWS.format(above=4096, more=""))
    assert "const bool streams = 8*M*N > 4096;" in text
    assert "double *to = streams ? lines : &B[" in text
    assert "dcpy_store_past_caches(&B[" in text
    assert text.count("dcpy_stores_are_seen();") == 1


def test_nothing_is_streamed_unless_the_schedule_says_so():
    sdfg = parse_sdfg(ROWS.format(above=0, more=""))
    run_pipeline(sdfg, without(cpu_pipeline(CpuOptions()), ("stores-past-caches=off",)))
    assert "dcpy_store_past_caches" not in generate(sdfg).units[0].text


def test_arrays_that_are_read_inside_stay_in_the_caches():
    assert "dcpy_store_past_caches" not in printed(ROWS.format(above=4096, more=", b <- B[i, j]"))


@pytest.mark.cc
@pytest.mark.parametrize("above", [1, 1 << 40])
@pytest.mark.parametrize("shape", [(3, 5), (2, 128), (4, 1001), (1, 1), (5, 7), (0, 4), (3, 4096)])
def test_values_are_those_of_plain_stores(above, shape):
    program = dcpy.parse(ROWS.format(above=above, more="")).compile()
    A = np.random.default_rng(0).random(shape)
    B = np.full(shape, -1.0)
    program(A, B, 0)
    expected = A * 2 + 1
    expected[:, :1] = -1.0
    np.testing.assert_array_equal(B, expected)
