"""Buffers of the bodies of maps: allocated before the loops, where their size is the same in each iteration."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.compiled import compile_sdfg, source_of

ROWS = """sdfg @rows(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {{ state {{ map i = 0:N {schedule} {{
    data t: f64[{size}] transient
    map j = 0:{size} {{ tasklet (a <- A[i, j]) -> (o -> t[j]) {{ o = a*a }} }}
    map k = 0:{size} {{ tasklet (a <- t[{size} - 1 - k], b <- t[0]) -> (o -> B[i, k]) {{ o = a + b }} }} }} }} }}"""


@pytest.mark.parametrize("schedule", ["@parallel", "@sequential"])
def test_a_row_is_allocated_once_per_thread(schedule):
    text = source_of(ROWS.format(size="M", schedule=schedule))
    assert text.count("dcpy_heap_buffer<double> t_buffer_") == 1
    assert text.index("dcpy_heap_buffer<double> t_buffer_") < text.index("for (int64_t i = 0")


def test_a_size_that_changes_is_allocated_in_each_iteration():
    text = source_of(ROWS.format(size="i + 1", schedule="@sequential"))
    assert text.index("dcpy_heap_buffer<double> t_buffer_") > text.index("for (int64_t i = 0")


def test_a_size_that_changes_is_allocated_by_a_thread_where_no_row_was_as_long():
    text = source_of(ROWS.format(size="i + 1", schedule="@parallel"))
    loop = text.index("for (int64_t i = 0")
    assert text.index("dcpy_growing_buffer<double> t_buffer_(0)") < loop
    assert text.index("int64_t t_room_ = 0;") < loop < text.index("if (t_room_ < ") < text.index("t_buffer_.grow(0, ")


LANES = """sdfg @lanes(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {{ state {{
    map i = 0:N {outer} {{ map j = 0:M @vector {{
        data t: f64[{size}] transient
        tasklet (a <- A[i, j]) -> (o -> t[0]) {{ o = a*a }}
        tasklet (a <- t[0]) -> (o -> B[i, j]) {{ o = a + 1.0 }} }} }} }} }}"""


@pytest.mark.parametrize("outer", ["@parallel", "@sequential"])
def test_nothing_leaves_a_loop_of_vectors(outer):
    """OpenMP forbids it: whether there is memory is asked before, or the loop has no vectors."""
    before = source_of(LANES.format(size="N + 1", outer=outer))
    assert "omp simd" in before
    assert before.index("if (t == nullptr)") < before.index("omp simd")
    assert "omp simd" not in source_of(LANES.format(size="j + 1", outer=outer))


@pytest.mark.cc
@pytest.mark.parametrize("outer", ["@parallel", "@sequential"])
@pytest.mark.parametrize("size", ["N + 1", "j + 1"])
def test_values_of_vectors_with_buffers(size, outer):
    lanes, a = compile_sdfg(LANES.format(size=size, outer=outer)), np.random.default_rng(0).random((40, 30))
    b = np.zeros_like(a)
    lanes(a, b)
    np.testing.assert_array_equal(b, a * a + 1.0)


@pytest.mark.cc
@pytest.mark.parametrize("size", ["M", "i + 1"])
@pytest.mark.parametrize("schedule", ["@parallel", "@sequential"])
def test_values(schedule, size):
    rows = compile_sdfg(ROWS.format(size=size, schedule=schedule))
    for shape in ((0, 3), (5, 5), (400, 400)):
        a, b = np.random.default_rng(0).random(shape), np.zeros(shape)
        expected = b.copy()
        for i in range(shape[0]):
            n = shape[1] if size == "M" else i + 1
            expected[i, :n] = (a[i, :n] * a[i, :n])[::-1] + a[i, 0] * a[i, 0]
        rows(a, b)
        np.testing.assert_array_equal(b, expected)
