"""Whole programs: compiled code does what the interpreter does, for each construct of the IR."""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import numpy as np
import pytest

from dcpy.base.library_environment import Environment
from dcpy.ir.interp import run
from dcpy.ir.text import parse_sdfg
from tests.support.compiled import compile_sdfg, source_of

pytestmark = pytest.mark.cc
RNG = np.random.default_rng(1)


def same(text: str, *arguments: Any, rtol: float = 0.0) -> Any:
    """Runs a program in the interpreter and compiled, twice; results and arguments must agree. Returns the result."""
    sdfg = parse_sdfg(text)
    reference = copy.deepcopy(arguments)
    expected = run(sdfg, dict(zip(sdfg.arguments, reference, strict=True)))
    function = compile_sdfg(sdfg)
    for _ in range(2):
        mine = copy.deepcopy(arguments)
        got = function(*mine)
        for left, right in ((got, expected), *zip(mine, reference, strict=True)):
            if left is not None and not isinstance(left, tuple):
                np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol)
    return expected


def floats(*shape: int, dtype: type = np.float64) -> np.ndarray:
    return RNG.random(shape).astype(dtype)


def test_loops_run_in_order_in_both_directions_and_with_any_step():
    text = """
        sdfg @loops(x: f64[N], s) symbols(N: size, s: i64) {
          loop i = 1:N { state { tasklet (a <- x[i - 1], b <- x[i]) -> (o -> x[i]) { o = a + b } } }
          loop j = N - 2:-1:-1 { state { tasklet (a <- x[j + 1], b <- x[j]) -> (o -> x[j]) { o = a * f64(0.5) + b } } }
          loop k = 0:N:s { state { tasklet (a <- x[k]) -> (o -> x[k]) { o = -a } } }
        }"""
    for size in (0, 1, 7):
        same(text, floats(size), 2)


def test_while_branches_and_leaving_loops():
    text = """
        sdfg @collatz(x: i64[N], steps: i64[N]) symbols(N: size) {
          data v: i64 transient
          data n: i64 transient
          loop i = 0:N {
            state { tasklet (a <- x[i]) -> (o -> v) { o = a }
                    tasklet () -> (o -> n) { o = i64(0) } }
            while v[] != i64(1) {
              if v[] % i64(2) == i64(0) { state { tasklet (a <- v) -> (o -> v) { o = a // i64(2) } } }
              else { state { tasklet (a <- v) -> (o -> v) { o = a * i64(3) + i64(1) } } }
              state { tasklet (a <- n) -> (o -> n) { o = a + i64(1) } }
              if n[] > i64(50) { break }
            }
            if n[] > i64(50) { continue }
            state { tasklet (a <- n) -> (o -> steps[i]) { o = a } }
          }
        }"""
    same(text, np.array([1, 7, 27, 12]), np.full(4, -1))


def test_return_leaves_the_program():
    text = """
        sdfg @early(x: f64[N]) symbols(N: size) {
          data tmp: f64[N + 1000] transient
          state { tasklet () -> (o -> tmp[0]) { o = f64(3) } }
          if x[0] > 0.5 { return }
          state { tasklet (a <- tmp[0]) -> (o -> x[0]) { o = a } }
        }"""
    same(text, np.array([0.7, 1.0]))
    same(text, np.array([0.2, 1.0]))


def test_symbols_are_assigned_and_address_elements():
    text = """
        sdfg @gather(x: f64[N], idx: i32[M], y: f64[M]) symbols(N: size, M: size) {
          loop i = 0:M {
            let k = wrap(idx[i], N)
            state { tasklet (a <- x[k]) -> (o -> y[i]) { o = a } }
          }
          let k = 0
          state { tasklet (a <- x[k]) -> (o -> y[k]) { o = a } }
        }"""
    same(text, floats(5), np.array([0, -1, 4, -5], np.int32), np.zeros(4))


def test_views_address_their_base():
    text = """
        sdfg @views(A: f64[N, M], B: f64[M, N]) symbols(N: size, M: size) {
          view t: f64[M, N] of A[0:N, 0:M] axes(1, 0)
          view inner: f64[M - 2, N] of t[1:M - 1, 0:N]
          state {
            map i = 0:M, j = 0:N { tasklet (a <- t[i, j]) -> (o -> B[i, j]) { o = a } }
            map i2 = 0:M - 2, j2 = 0:N { tasklet (a <- inner[i2, j2]) -> (o -> inner[i2, j2]) { o = a * f64(2) } }
          }
        }"""
    same(text, floats(4, 5), np.zeros((5, 4)))


@pytest.mark.parametrize(("op", "size"), [*product(["add", "mul", "min", "max"], [0, 1, 3, 1000]), ("add", 20_000)])
def test_reductions(op, size):
    text = f"""
        sdfg @reduce_{op}(x: f64[N], r: f64[1]) symbols(N: size) {{
          state {{ map i = 0:N {{ tasklet (a <- x[i]) -> (o -> r[0] ({op})) {{ o = a }} }} }}
        }}"""
    same(text, 0.5 + floats(size), np.array([1.5]), rtol=1e-12)


@pytest.mark.parametrize("size", [10, 100_000])
def test_extrema_of_nan_are_nan(size):
    text = """
        sdfg @extrema(x: f64[N], low: f64[1], high: f64[1]) symbols(N: size) {
          state { map i = 0:N { tasklet (a <- x[i]) -> (o -> low[0] (min)) { o = a } }
                  map j = 0:N { tasklet (a <- x[j]) -> (o -> high[0] (max)) { o = a } } }
        }"""
    x, low, high = floats(size), np.full(1, np.inf), np.full(1, -np.inf)
    x[7] = np.nan
    compile_sdfg(text)(x, low, high)
    assert np.isnan([low[0], high[0]]).all()


def test_reductions_of_rows_columns_and_histograms():
    text = """
        sdfg @sums(A: f64[N, M], rows: f64[N], columns: f64[M], h: i64[4], k: i32[N]) symbols(N: size, M: size) {
          state {
            map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> rows[i] (add)) { o = a } }
            map i2 = 0:N, j2 = 0:M { tasklet (a <- A[i2, j2]) -> (o -> columns[j2] (add)) { o = a } }
            map i3 = 0:N { let b = k[i3]  state { tasklet () -> (o -> h[b] (add)) { o = i64(1) } } }
          }
        }"""
    for rows, columns in ((0, 3), (3, 0), (7, 9)):
        k = RNG.integers(0, 4, rows).astype(np.int32)
        same(text, floats(rows, columns), np.zeros(rows), np.zeros(columns), np.zeros(4, np.int64), k, rtol=1e-12)
    a, k = floats(600, 800), RNG.integers(0, 4, 600).astype(np.int32)
    by_row, by_column, h = np.zeros(600), np.zeros(800), np.zeros(4, np.int64)
    compile_sdfg(text)(a, by_row, by_column, h, k)  # on threads
    np.testing.assert_allclose(by_row, a.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(by_column, a.sum(axis=0), rtol=1e-12)
    assert h.tolist() == np.bincount(k, minlength=4).tolist()


def test_conflicts_in_parallel_maps_are_atomic():
    text = """
        sdfg @histogram(k: i32[N], h: i64[4], m: f64[4], z: c128[4], w: f64[N]) symbols(N: size) {
          state { map i = 0:N @parallel {
            let b = k[i]
            state { tasklet () -> (o -> h[b] (add)) { o = i64(1) }
                    tasklet (a <- w[i]) -> (o -> m[b] (max)) { o = a }
                    tasklet (a <- w[i]) -> (o -> z[b] (add)) { o = c128(a) } }
          } }
        }"""
    size = 200_000
    k = RNG.integers(0, 4, size).astype(np.int32)
    h, m, z, w = np.zeros(4, np.int64), np.zeros(4), np.zeros(4, np.complex128), floats(size)
    compile_sdfg(text)(k, h, m, z, w)
    assert h.tolist() == np.bincount(k, minlength=4).tolist()
    np.testing.assert_array_equal(m, [w[k == b].max() for b in range(4)])
    np.testing.assert_allclose(z, [w[k == b].sum() for b in range(4)], rtol=1e-10)


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64", "i8", "u16", "i64", "bool", "c64", "c128"])
def test_every_conflict_resolution_on_every_kind(dtype):
    ops = {"f": ["add", "mul", "min", "max"], "c": ["add", "mul"], "b": ["and", "or", "xor", "max"]}.get(
        dtype[0], ["add", "mul", "min", "max", "bitand", "bitor", "bitxor"]
    )
    ops = ["and", "or", "xor"] if dtype == "bool" else ops
    arguments = ", ".join(f"r_{op}: {dtype}[1]" for op in ops)
    nodes = "\n".join(
        f"map i_{op} = 0:N {{ tasklet (a <- x[i_{op}]) -> (o -> r_{op}[0] ({op})) {{ o = a }} }}" for op in ops
    )
    text = f"sdfg @wcr_{dtype}(x: {dtype}[N], {arguments}) symbols(N: size) {{ state {{ {nodes} }} }}"
    kind = parse_sdfg(text).desc("x").dtype.numpy
    for size in (0, 5, 40):
        x = (RNG.random(size) * 3).astype(kind)
        rtol = 0 if kind.kind in "iub" else 1e-2 if kind.itemsize < 4 else 1e-5
        same(text, x, *[np.ones(1, kind) for _ in ops], rtol=rtol)


def test_without_openmp_programs_mean_the_same():
    text = """
        sdfg @plain(A: f64[N, M], rows: f64[N], total: f64[1], h: i64[4], k: i64[N]) symbols(N: size, M: size) {
          state { map i = 0:N @parallel { map j = 0:M @vector {
                    tasklet (a <- A[i, j]) -> (o -> rows[i] (add), p -> total[0] (add)) { o = a  p = a * f64(2) } } }
                  map q = 0:N @parallel { let b = wrap(k[q], 4)
                    state { tasklet () -> (o -> h[b] (add)) { o = i64(1) } } } }
        }"""
    A, k = floats(20, 30), RNG.integers(-4, 4, 20)
    rows, total, h = np.zeros(20), np.zeros(1), np.zeros(4, np.int64)
    assert "omp for" not in source_of(text, cpu_openmp=False)
    compile_sdfg(text, cpu_openmp=False)(A, rows, total, h, k)
    np.testing.assert_allclose(rows, A.sum(1))
    np.testing.assert_allclose(total[0], 2 * A.sum())
    assert h.tolist() == np.bincount(k % 4, minlength=4).tolist()


def test_copies_read_all_before_they_write():
    text = """
        sdfg @shift(x: f64[N], A: f64[N, N]) symbols(N: size) {
          state { copy x[0:N - 1] -> x[1:N]
                  copy A[0:N, 0:N - 1] -> A[0:N, 1:N]
                  copy A[0, 0:N] -> A[0:N, 0]
                  copy x[0:N:2] -> A[1, 0:N:2] }
        }"""
    for size in (2, 3, 8):
        same(text, floats(size), floats(size, size))


def test_invented_names_differ_from_those_of_the_program():
    text = """
        sdfg @names(A: f64[N, N], names_map_i0_1: f64[N]) symbols(N: size) {
          state { map i0_1 = 0:N @parallel { copy A[i0_1, 0:N:2] -> A[i0_1, 0:N:2]
                                     copy A[0:N:2, i0_1] -> A[i0_1, 0:N:2] }
                  copy A[0:N, 0] -> names_map_i0_1[0:N] }
        }"""
    A = np.tril(floats(6, 6))
    A[::2] = 0
    same(text, A * 0 + 2.0, np.zeros(6))


def test_containers_in_maps_are_private():
    text = """
        sdfg @private(A: f64[N, M], out: f64[N]) symbols(N: size, M: size) {
          state { map i = 0:N {
            data row: f64[M] transient
            data small: f64[3] transient
            data total: f64 transient
            state { copy A[i, 0:M] -> row[0:M]
                    tasklet () -> (o -> total) { o = f64(0) }
                    map k = 0:3 { tasklet () -> (o -> small[k]) { o = f64(k) } }
                    map j = 0:M { tasklet (a <- row[j], b <- small[1]) -> (o -> total (add)) { o = a + b } }
                    tasklet (a <- total) -> (o -> out[i]) { o = a } }
          } }
        }"""
    same(text, floats(50, 60), np.zeros(50), rtol=1e-12)


def test_errors_leave_with_their_numbers():
    text = """
        sdfg @checked(x: f64[N], idx: i64[M], y: f64[M]) symbols(N: size, M: size) {
          data tmp: f64[N + 100] transient
          state { copy x[0:N] -> tmp[0:N] }
          check N > 2 else ValueError "need more than {0} of {1}" (N, i64(3))
          state { map i = 0:M @parallel {
            let k = wrap(idx[i], N)
            state { tasklet (a <- tmp[k]) -> (o -> y[i]) { o = a } }
          } }
        }"""
    function = compile_sdfg(text)
    y = np.zeros(3)
    function(np.arange(4.0), np.array([0, -1, 2]), y)
    assert y.tolist() == [0, 3, 2]
    with pytest.raises(ValueError, match="need more than 2 of 3"):
        function(np.arange(2.0), np.array([0]), np.zeros(1))
    with pytest.raises(IndexError, match="index -5 is out of bounds for axis 0 with size 4"):
        function(np.arange(4.0), np.array([0, -5, 2]), y)
    many = np.zeros(100_000, np.int64)
    many[77_777] = 9
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4"):
        function(np.arange(4.0), many, np.zeros(100_000))


def test_calls_pass_subsets_with_their_strides():
    text = """
        sdfg @main_program(A: f64[N, M], factor: f64, n) symbols(N: size, M: size, n: i64) {
          state { call @scale (v = A[0:N, 1], f = factor) with (L = N, n = n) }
          state { call @scale (v = A[1, 0:M], f = factor) with (L = M, n = 3) }
        }
        sdfg @scale(v: f64[L], f: f64, n) symbols(L: size, n: i64) {
          check n > 0 else ValueError "n is {0}" (n)
          state { map l = 0:L { tasklet (a <- v[l], b <- f) -> (o -> v[l]) { o = a * b + f64(n) } } }
        }"""
    same(text, floats(3, 4), 2.0, 5)
    with pytest.raises(ValueError, match="n is -1"):
        compile_sdfg(text)(floats(3, 4), 2.0, -1)


def test_calls_in_parallel_maps_stay_on_their_thread():
    text = """
        sdfg @rows(A: f64[N, M], total: f64[1]) symbols(N: size, M: size) {
          state { map i = 0:N @parallel { call @fill (row = A[i, 0:M], sum = total[0:1]) with (L = M, n = i) } }
        }
        sdfg @fill(row: f64[L], sum: f64[1], n) symbols(L: size, n: i64) {
          state { map l = 0:L @parallel { tasklet (a <- row[l]) -> (o -> row[l]) { o = a + f64(n) } }
                  map k = 0:L { tasklet () -> (o -> sum[0] (add)) { o = f64(1) } } }
        }"""
    same(text, floats(30, 40), np.zeros(1))
    a, total = floats(3000, 300), np.zeros(1)
    expected = a + np.arange(3000.0)[:, np.newaxis]
    compile_sdfg(text)(a, total)  # on threads
    np.testing.assert_array_equal(a, expected)
    assert total[0] == a.size


def test_what_grows_in_a_loop_outlives_its_iterations():
    """It was made anew in each iteration where nothing else used it: 1 instead of 5."""
    text = """
        sdfg @growing(x: f64[N], s: f64[1]) symbols(N: size) {
          data list: f64[room] transient
          let room = 1
          let k = 0
          loop i = 0:N {
            if k >= room { resize list: room = 2 * room keep k }
            state { copy x[i] -> list[k] }
            let k = k + 1
            state { tasklet (a <- list[0], b <- s[0]) -> (o -> s[0]) { o = a + b } }
          }
        }"""
    interpreted, s = np.zeros(1), np.zeros(1)
    run(parse_sdfg(text), {"x": np.arange(1.0, 6.0), "s": interpreted})
    compile_sdfg(text)(np.arange(1.0, 6.0), s)
    assert interpreted.tolist() == s.tolist() == [5]


def test_foreign_functions_take_pointers_and_values():
    text = """
        sdfg @foreign(x: f64[N, N], y: f64[N], r: f64[1]) symbols(N: size) {
          data c: f64 transient
          state { tasklet () -> (o -> c) { o = f64(2) }
                  foreign (u <- x[1, 0:N], f <- c) -> (s -> r[0]) from c_code { s = weighted(N, &u, f + 1.0) }
                  foreign (u <- x[0, 0:N]) -> (v -> y[0:N]) from c_code { twice(&u, &v, i64(N)) } }
        }"""
    code = Environment(
        "c_code",
        declarations="""
            static double weighted(int64_t n, const double *x, double f) { return n > 0 ? f*x[n - 1] : 0; }
            static void twice(double *x, double *y, long n) { for (long i = 0; i < n; i++) y[i] = 2*x[i]; }""",
    )
    x, y, r = np.arange(9.0).reshape(3, 3), np.zeros(3), np.zeros(1)
    compile_sdfg(text, {"c_code": code})(x, y, r)
    assert y.tolist() == [0, 2, 4]
    assert r.tolist() == [15]


def test_results_are_new_arrays_scalars_and_views():
    text = """
        sdfg @results(A: f64[N, M]) symbols(N: size, M: size)
            -> (first: array, total: scalar, column: view, A: argument) {
          data first: f64[N]
          data total: f64[]
          view column: f64[N] of A[0:N, 1]
          state { tasklet () -> (o -> total) { o = f64(0) }
                  map i = 0:N { tasklet (a <- A[i, 0]) -> (o -> first[i]) { o = a } }
                  map i2 = 0:N, j = 0:M { tasklet (a <- A[i2, j]) -> (o -> total (add)) { o = a } } }
        }"""
    A = floats(3, 4)
    first, total, column, same_object = compile_sdfg(text)(A)
    np.testing.assert_array_equal(first, A[:, 0])
    np.testing.assert_allclose(total, A.sum())
    np.testing.assert_array_equal(column, A[:, 1])
    assert np.shares_memory(column, A)
    assert same_object is A


def test_large_sums_of_float32_are_close_to_exact():
    text = """
        sdfg @sum32(x: f32[N], r: f32[1]) symbols(N: size) {
          state { map i = 0:N { tasklet (a <- x[i]) -> (o -> r[0] (add)) { o = a } } }
        }"""
    x, r = floats(10_000_000, dtype=np.float32), np.zeros(1, np.float32)
    compile_sdfg(text)(x, r)
    np.testing.assert_allclose(r[0], x.sum(dtype=np.float64), rtol=1e-7)


def test_constants_are_tables():
    text = """
        sdfg @closure(y: f64[3]) {
          constant c: f64[3] = {1.5, nan, -inf}
          data c: f64[3]
          state { copy c[0:3] -> y[0:3] }
        }"""
    same(text, np.zeros(3))


def test_warnings_let_the_program_run_to_its_end():
    text = """
        sdfg @warned(x: f64[N], y: f64[N]) symbols(N: size) {
          check N > 2 else RuntimeWarning "only {0} elements" (N)
          state { call @inner (v = x[0:N], w = y[0:N]) with (L = N) }
          state { map i = 0:N { tasklet (a <- y[i]) -> (o -> y[i]) { o = a + f64(1) } } }
        }
        sdfg @inner(v: f64[L], w: f64[L]) symbols(L: size) {
          check L != 3 else UserWarning "three, not {0}" (L + 1)
          state { copy v[0:L] -> w[0:L] }
          if L > 5 { return }
        }"""
    function = compile_sdfg(text)
    for size, category, message in ((2, RuntimeWarning, "only 2 elements"), (3, UserWarning, "three, not 4")):
        y = np.zeros(size)
        with pytest.warns(category, match=message):
            function(np.arange(float(size)), y)
        assert y.tolist() == [1 + k for k in range(size)]
    function(np.arange(8.0), np.zeros(8))


def test_warnings_in_parallel_maps():
    text = """
        sdfg @signs(x: f64[N], y: f64[N]) symbols(N: size) {
          state { map i = 0:N @parallel {
            check x[i] >= 0.0 else RuntimeWarning "a negative number at {0}" (i)
            state { tasklet (a <- x[i]) -> (o -> y[i]) { o = sqrt(abs(a)) } }
          } }
        }"""
    x, y = np.arange(100_000.0), np.zeros(100_000)
    compile_sdfg(text)(x, y)
    x[77_777] *= -1
    with pytest.warns(RuntimeWarning, match="a negative number at 77777"):
        compile_sdfg(text)(x, y)
    np.testing.assert_array_equal(y, np.sqrt(np.abs(x)))


@pytest.mark.parametrize("schedule", ["@sequential", "@vector", "@parallel"])
def test_what_a_view_of_one_row_combines_is_that_row(schedule):
    """The element that the view names first is another one in each iteration."""
    text = f"""
        sdfg @rows(A: f64[N, M], x: f64[N, M]) symbols(N: size, M: size) {{
          map i = 0:N {schedule} {{
            view row: f64[M] of A[i, 0:M]
            state {{ tasklet (a <- x[i, 0]) -> (o -> row[0] (add)) {{ o = a }} }}
          }}
        }}"""
    same(text, np.zeros((3, 2)), floats(3, 2))
