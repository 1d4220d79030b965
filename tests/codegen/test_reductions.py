"""Reductions in vectors: extrema of floats and logical operations are folded as integers, to the values of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.codegen.generate import generate
from dcpy.ir.text import parse_sdfg
from dcpy.transforms.cpu.lowering import lower_for_cpu
from tests.support.compiled import compile_sdfg

FOLDED = """
sdfg @folded(A: {dtype}[N], s: {dtype}[1]) symbols(N: size) {{
  map i = 0:{size} @vector {{ tasklet (a <- A[i]) -> (o -> s[0] ({op})) {{ o = a }} }}
}}"""
BESIDE = FOLDED.replace("symbols", ", B: {dtype}[N]) symbols", 1).replace("1]) ,", "1],").replace(
    "{{ o = a }} }}", "{{ o = a }} tasklet (a <- A[i]) -> (o -> B[i]) {{ o = a }} }}"
)
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, -5e-324, 1e308, -1e308)


def printed(op, dtype="f64", size="N", program=FOLDED):
    sdfg = parse_sdfg(program.format(op=op, dtype=dtype, size=size))
    lower_for_cpu(sdfg)
    return generate(sdfg).units[0].text


def test_extrema_alone_are_folded_in_lanes():
    text = printed("max")
    assert "if (N >= 16) {" in text
    assert "const int64_t i_first = dcpy_min<int64_t>(i_piece, N - 16);" in text
    assert "s_lanes[lane] = dcpy_maximum(s_lanes[lane], A[i]);" in text
    assert "s_max = dcpy_maximum(s_max, s_lanes[0]);" in text
    assert "to_order" not in text


def test_lanes_fill_vectors_and_need_no_other_loop_where_iterations_are_many():
    text = printed("min", "f32", "64")
    assert "float s_lanes[32];" in text
    assert "if (" not in text.split("_program(", 1)[1].split("return")[0]


def test_short_rows_fill_one_vector():
    text = printed("max")
    assert "} else if (N >= 4) {" in text
    assert "const int64_t i_first_1 = dcpy_min<int64_t>(i_piece_1, N - 4);" in text
    assert "} else if" not in printed("max", size="12")
    assert "lanes" not in printed("max", size="3")


@pytest.mark.cc
@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("op", ["min", "max"])
@pytest.mark.parametrize("size", ["N", "3", "4", "9", "12", "15"])
def test_extrema_of_short_rows(op, dtype, size):
    program = FOLDED.format(op=op, dtype=dtype, size=size)
    run, rng = compile_sdfg(program), np.random.default_rng(5)
    for count in range(1, 36) if size == "N" else [int(size)]:
        for special in (False, True):
            values = rng.standard_normal(count).astype(np.float64 if dtype == "f64" else np.float32)
            with np.errstate(over="ignore"):
                values[rng.integers(0, count)] = SPECIAL[rng.integers(0, len(SPECIAL))] if special else 0.5
            total = np.full(1, -np.inf if op == "max" else np.inf, values.dtype)
            run(values, total)
            expected = getattr(np, "maximum" if op == "max" else "minimum").reduce(values)
            assert np.array_equal(total[0], expected, equal_nan=True), (count, values)


def test_beside_other_writes_the_largest_float_is_the_largest_integer():
    text = printed("max", program=BESIDE)
    assert "#pragma omp simd reduction(max : s_max)" in text
    assert "s_max = dcpy_max<int64_t>(s_max, dcpy_to_order_f64(A[i], 9223372036854775807));" in text
    assert "s[0] = dcpy_maximum(s[0], dcpy_from_order_f64(s_max));" in text


def test_nan_is_the_smallest_of_all_where_the_smallest_is_asked_for():
    assert "dcpy_to_order_f32(A[i], (-__INT32_MAX__ - 1))" in printed("min", "f32", program=BESIDE)


@pytest.mark.parametrize("dtype", ["c64", "c128"])
def test_complex_sums_are_two(dtype):
    text = printed("add", dtype)
    assert "#pragma omp simd reduction(+ : s_real) reduction(+ : s_imag)" in text
    assert "s_imag += term_imag;" in text


@pytest.mark.parametrize(("op", "sign"), [("or", "|"), ("and", "&"), ("max", "|"), ("min", "&")])
def test_truths_are_bits(op, sign):
    text = printed(op, "bool")
    assert f"#pragma omp simd reduction({sign} : s_" in text
    assert f" {sign}= (int8_t)dcpy_is_set(A[i]);" in text


@pytest.mark.parametrize(("op", "dtype", "size"), [("max", "f64", "32"), ("max", "i64", "N"), ("add", "f64", "N")])
def test_what_is_short_or_quick_is_folded_as_it_is(op, dtype, size):
    text = printed(op, dtype, size)
    assert "dcpy_to_order" not in text
    assert f"s_{'sum' if op == 'add' else 'max'}" in text


@pytest.mark.cc
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("auto", [False, True])
def test_extrema_are_numpys(dtype, auto):
    def extrema(x):
        return np.max(x), np.min(x), np.max(x, axis=1), np.min(x, axis=0)

    program = dcpy.program(extrema, auto_optimize=auto)
    rng = np.random.default_rng(0)
    for special in (None, *SPECIAL):
        for shape in ((3, 41), (2, 70_000)):
            x = (rng.random(shape) - 0.5).astype(dtype)
            if special is not None:
                with np.errstate(over="ignore"):
                    x[1, rng.integers(shape[1])] = dtype(special)
                x[0] = x[0, 0] if special == 0 else dtype(-np.inf)
            for mine, theirs in zip(program(x), extrema(x), strict=True):
                np.testing.assert_array_equal(mine, theirs)


@pytest.mark.cc
@pytest.mark.parametrize("where", [None, 0, 40, 69_999])
def test_truths_are_numpys(where):
    def truths(x):
        return np.any(x > 1), np.all(x < 1), np.max(x > 1), np.min(x < 1)

    x = np.random.default_rng(0).random(70_000)
    if where is not None:
        x[where] = 2
    for size in (41, 70_000):
        assert dcpy.program(truths)(x[:size]) == truths(x[:size])


@pytest.mark.cc
@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("auto", [False, True])
def test_complex_sums_are_numpys(dtype, auto):
    def sums(z):
        return z.sum(), z.sum(axis=1), z.sum(axis=0), (z * z).mean(), np.vdot(z, z)

    rng = np.random.default_rng(0)
    z = (rng.random((40, 70)) - 0.5 + 1j * rng.random((40, 70))).astype(dtype)
    special = z.copy()
    special[3, 5], special[7, 9] = complex(np.inf, 1.0), complex(0.0, np.nan)
    tolerance = 1e-4 if dtype == "c8" else 1e-12
    program = dcpy.program(sums, auto_optimize=auto)
    for each in (z, special, z[:, :3]):
        for mine, theirs in zip(program(each), sums(each), strict=True):
            np.testing.assert_allclose(mine.real, theirs.real, rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(mine.imag, theirs.imag, rtol=tolerance, atol=tolerance)
            assert mine.dtype == theirs.dtype


@pytest.mark.cc
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extrema_of_all_lengths(dtype):
    def extrema(x):
        return np.max(x), np.min(x[:, ::2], axis=1), np.max(np.abs(x) + x, axis=1), np.max(x[:, ::-1] * x)

    program = dcpy.program(extrema, auto_optimize=True)
    rng = np.random.default_rng(1)
    for length in (*range(1, 70), 100, 1000):
        x = (rng.random((3, length)) - 0.5).astype(dtype)
        x[1, rng.integers(length)] = np.nan
        for mine, theirs in zip(program(x), extrema(x), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_teams_have_copies_of_what_they_do_not_change():
    """A variable that a team refers to is read anew behind each store of a loop that follows: vectors end."""
    head = "sdfg @f(A: f64[N], B: f64[N], s: f64[1]) symbols(N: size)"
    team = f"{head} {{ state {{ map i = 0:N @parallel {{ tasklet (a <- A[i]) -> "
    text = generate(_lowered(f"{team}(o -> B[i]) {{ o = a }} }} }} }}")).units[0].text
    assert "dcpy_team([=, A = A + 0, B = B + 0] {" in text or "dcpy_team([=, B = B + 0, A = A + 0] {" in text
    text = generate(_lowered(f"{team}(o -> s[0] (add)) {{ o = a }} }} }} }}")).units[0].text
    assert "&" in text.split("dcpy_team([", 1)[1].split("]", 1)[0]


def _lowered(text):
    sdfg = parse_sdfg(text)
    lower_for_cpu(sdfg)
    return sdfg
