"""ReduceToBlocks: rows and whole sums by all threads of a block, in a fixed order."""

from dataclasses import replace

import numpy as np
import pytest

from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.gpu.costs import GPU_COSTS
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.loading.load import load
from dcpy.transforms.gpu.blocks.map_to_grid import MapToGrid
from dcpy.transforms.gpu.blocks.reduce_to_blocks import ReduceToBlocks
from dcpy.transforms.gpu.kernels.form_kernels import FormKernels
from dcpy.transforms.gpu.lowering import lower_for_gpu
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.support.expect import parse
from tests.support.passes import Passed

ROWS = """
    sdfg @f(A: f64[N, M], B: f64[N]) symbols(N: size, M: size) {
      state {
        map i = 0:N {
          data s: f64 transient
          tasklet () -> (o -> s) { o = 0.0 }
          map k = 0:M { tasklet (a <- A[i, k]) -> (o -> s (add)) { o = a } }
          tasklet (a <- s) -> (o -> B[i]) { o = sqrt(a * a) }
        }
      }
    }"""


def reduced(text, threads=64, warp=32):
    costs = replace(GPU_COSTS, block=threads, warp=warp)
    return Passed(text, PlaceComputation(), ReduceToBlocks(costs), FormKernels(), MapToGrid(costs))


def test_a_row_is_a_blocks():
    reduced(ROWS, warp=64).becomes("""
        sdfg @f(A: f64[N, M], B: f64[N]) symbols(N: size, M: size) {
          state {
            map i = 0:N @grid {
              data parts: f64[64] transient @shared @stack
              data few: f64[8] transient @shared @stack
              map t = 0:64 @block {
                data own: f64 transient @register
                tasklet () -> (o -> own) { o = 0.0 }
                map k = t:M:64 @sequential { tasklet (a <- A[i, k]) -> (o -> own (add)) { o = a } }
                tasklet (a <- own) -> (o -> parts[t]) { o = a }
              }
              map u = 0:8 @block {
                data own_1: f64 transient @register
                tasklet () -> (o -> own_1) { o = 0.0 }
                map v = 0:8 @sequential { tasklet (a <- parts[u + 8*v]) -> (o -> own_1 (add)) { o = a } }
                tasklet (a <- own_1) -> (o -> few[u]) { o = a }
              }
              map t_1 = 0:1 @block {
                data s: f64 transient @register
                tasklet () -> (o -> s) { o = 0.0 }
                map v_1 = 0:8 @sequential { tasklet (a <- few[v_1]) -> (o -> s (add)) { o = a } }
                tasklet (a <- s) -> (o -> B[i]) { o = sqrt(a * a) }
              }
            }
          }
        }""").same_values(N=[0, 2], M=[0, 5, 130]).says("map i: a block for each point")


def test_small_blocks_take_two_steps():
    found = reduced(ROWS, threads=16).same_values(N=[2], M=[0, 40])
    assert "few" not in found.text
    assert "map v = 0:16 @sequential" in found.text


def test_short_rows_get_a_warp_each():
    short = ROWS.replace("A: f64[N, M]", "A: f64[N, 70]").replace("0:M", "0:70").replace(", M: size", "")
    reduced(short).becomes("""
        sdfg @f(A: f64[N, 70], B: f64[N]) symbols(N: size) {
          state {
            map i_tile = 0:N:2 @grid {
              data parts: f64[2, 32] transient @shared @stack
              data few: f64[2, 4] transient @shared @stack
              map i = i_tile:min(N, i_tile + 2), t = 0:32 @block {
                data own: f64 transient @register
                tasklet () -> (o -> own) { o = 0.0 }
                map k = t:70:32 @sequential { tasklet (a <- A[i, k]) -> (o -> own (add)) { o = a } }
                tasklet (a <- own) -> (o -> parts[i - i_tile, t]) { o = a }
              }
              map i_1 = i_tile:min(N, i_tile + 2), u = 0:4 @block {
                data own_1: f64 transient @register
                tasklet () -> (o -> own_1) { o = 0.0 }
                map v = 0:8 @sequential { tasklet (a <- parts[i_1 - i_tile, u + 4*v]) -> (o -> own_1 (add)) { o = a } }
                tasklet (a <- own_1) -> (o -> few[i_1 - i_tile, u]) { o = a }
              }
              map i_2 = i_tile:min(N, i_tile + 2), t_1 = 0:1 @block {
                data s: f64 transient @register
                tasklet () -> (o -> s) { o = 0.0 }
                map v_1 = 0:4 @sequential { tasklet (a <- few[i_2 - i_tile, v_1]) -> (o -> s (add)) { o = a } }
                tasklet (a <- s) -> (o -> B[i_2]) { o = sqrt(a * a) }
              }
            }
          }
        }""").same_values(N=[0, 1, 3]).says("map i: 32 threads for each point, 2 points for each block")
    assert "parts: f64[64]" in reduced(short.replace("70", "1025")).text


def test_a_whole_sum_is_one_block_where_it_is_long():
    text = """
        sdfg @f(x: f64[100], c: f64[3], m: f64[1], s: f64[1]) {
          state {
            map k = 0:100 { tasklet (a <- x[k]) -> (p -> m[0] (max), q -> s[0] (add)) { p = a; q = a * a } }
            map l = 0:3 { tasklet (a <- c[l]) -> (o -> s[0] (add)) { o = a } }
          }
        }"""
    found = reduced(text).same_values()
    assert "map one = 0:1 @grid" in found.text
    assert found.text.count("parts: f64[64]") + found.text.count("parts_1: f64[64]") == 2
    assert "map l = t_1:3:64" in found.text  # beside a long one, short ones go the same way


def test_rows_of_unknown_length_have_two_versions():
    found = reduced(ROWS).same_values(N=[0, 3], M=[0, 70])
    assert "if M <= 1024 {" in found.text
    found.says("map i_1: 32 threads for each point, 2 points for each block", "map i: a block for each point")


COLUMNS = ROWS.replace("B: f64[N]", "B: f64[M]").replace("i = 0:N", "i = 0:M")
COLUMNS = COLUMNS.replace("k = 0:M", "k = 0:N").replace("A[i, k]", "A[k, i]")


def test_columns_share_a_block():
    found = reduced(COLUMNS).same_values(N=[0, 150], M=[0, 40])
    assert "map k_block = 0:N:128, i_1_tile = 0:M:32 @grid {" in found.text
    assert "data parts: f64[2, 32] transient @shared @stack" in found.text
    assert "map t = 0:2, i_1 = i_1_tile:min(M, i_1_tile + 32) @block {" in found.text
    assert "map k = k_block + t:min(N, k_block + 128):2 @sequential {" in found.text
    assert "-> (o -> sums[k_block // 128, i_" in found.text
    found.says("map i: 32 columns for each block, 2 threads for each")


def test_few_rows_are_one_blocks_columns():
    few = COLUMNS.replace("A: f64[N, M]", "A: f64[100, M]").replace("0:N", "0:100").replace("N: size, ", "")
    assert "sums" not in reduced(few).same_values(M=[5]).text


def test_points_of_a_plane_are_enough_threads():
    found = reduced("""
        sdfg @f(A: f64[N, M, L], B: f64[M, L]) symbols(N: size, M: size, L: size) {
          state { map i = 0:M, j = 0:L { map k = 0:N { tasklet (a <- A[k, i, j]) -> (o -> B[i, j] (add)) { o = a } } } }
        }""").same_values(N=[3], M=[2], L=[4])
    assert "parts" not in found.text
    found.says("one thread per point: adjacent threads along j read adjacent elements already", applied=False)


def test_what_follows_a_sum_in_its_row_is_done_by_the_block_too():
    found = reduced("""
        sdfg @f(x: f64[N, M], y: f64[N, M]) symbols(N: size, M: size) {
          state {
            map i = 0:N {
              data top: f64 transient
              data e: f64[M] transient
              data s: f64 transient
              tasklet () -> (o -> top) { o = -inf }
              map k = 0:M { tasklet (a <- x[i, k]) -> (o -> top (max)) { o = a } }
              map j = 0:M { tasklet (a <- x[i, j], b <- top) -> (o -> e[j]) { o = exp(a - b) } }
              tasklet () -> (o -> s) { o = 0.0 }
              map l = 0:M { tasklet (a <- e[l]) -> (o -> s (add)) { o = a } }
              map m = 0:M { tasklet (a <- e[m], b <- s) -> (o -> y[i, m]) { o = a / b } }
            }
          }
        }""", warp=64).same_values(N=[0, 2], M=[1, 70])
    assert "data e: f64[N, M] transient" in found.text
    assert "data top: f64[] transient @shared @stack" in found.text
    assert "map m = 0:M @block" in found.text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("map k = 0:M { tasklet (a <- A[i, k]) -> (o -> B[i] (add)) { o = a } } copy B[i] -> A[i, 0]", "is a copy"),
        ("if N > 1 { state { map k = 0:M { tasklet (a <- A[i, k]) -> (o -> B[i] (add)) { o = a } } } }", "is a branch"),
        ("map k = 0:8 { tasklet (a <- A[i, k]) -> (o -> B[i] (add)) { o = a } }", "it has no long loop"),
    ],
)
def test_a_thread_for_each_point_elsewhere(body, reason):
    text = f"sdfg @f(A: f64[N, M], B: f64[N]) symbols(N: size, M: size) {{ state {{ map i = 0:N {{ {body} }} }} }}"
    reduced(text).says(reason, applied=False)


@pytest.mark.cc
def test_the_order_of_a_sum_is_fixed():
    given, found = np.random.default_rng(0).uniform(-1, 1, (2, 3000)), []
    for seed in range(3):
        options = resolve_options({"device": "gpu", "gpu.backend": "simulator", "gpu.seed": seed})
        sdfg, out = parse(ROWS), np.zeros(2)
        lower_for_gpu(sdfg, options)
        compiled_function(load(generate_gpu(sdfg, None, None, options), options))(given, out)
        found.append(out.tobytes())
    np.testing.assert_allclose(out, np.abs(given.sum(axis=1)), rtol=1e-14)
    assert len(set(found)) == 1


LONG = """
    sdfg @f(x: f64[N], y: f64[N], s: f64[1]) symbols(N: size) {
      data acc: f64 transient
      state {
        tasklet () -> (o -> acc) { o = 1.0 }
        map k = 2:N { tasklet (a <- x[k], b <- y[k]) -> (o -> acc (add)) { o = a * b } }
        tasklet (a <- acc) -> (o -> s[0]) { o = 2.0 * a }
      }
    }"""


def test_a_long_sum_is_that_of_several_blocks():
    found = reduced(LONG, threads=2).same_values(N=[0, 2, 5, 130, 300])
    assert "data sums: f64[-((2 - N) // 128)] transient" in found.text
    assert "map k_block = 2:N:128 @grid {" in found.text
    assert "map k = k_block + t:min(N, k_block + 128):2 @sequential {" in found.text
    assert "sums[(k_block - 2) // 128]" in found.text
    found.says("map k: several blocks compute partial sums, and one block adds these up")


def test_sums_in_loops_and_sums_of_sums_are_one_blocks():
    looped = LONG.replace("state {", "loop t = 0:3 { state {").replace("a }\n      }", "a }\n      } }")
    assert "sums" not in reduced(looped, threads=2).same_values(N=[140]).text
    again = "map l = 0:N { tasklet (a <- acc) -> (o -> s[0] (add)) { o = a } } tasklet (a <- acc)"
    found = reduced(LONG.replace("tasklet (a <- acc)", again), threads=2).same_values(N=[140])
    assert found.text.count("data sums") == 1


def test_short_sums_are_one_blocks():
    short = LONG.replace(" symbols(N: size)", "")
    assert "sums" not in reduced(short.replace("N", "130"), threads=2).text
    assert "sums" in reduced(short.replace("N", "131"), threads=2).text


def test_sums_over_several_parameters():
    found = reduced("""
        sdfg @f(A: f64[N, M], s: f64[1], m: f64[1]) symbols(N: size, M: size) {
          state {
            map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (p -> s[0] (add), q -> m[0] (max)) { p = a; q = a } }
          }
        }""", threads=2).same_values(N=[0, 3, 70], M=[0, 5])
    assert "map i_block = 0:N:64 @grid {" in found.text
    assert found.text.count("data sums") == 2


@pytest.mark.cc
def test_a_sum_that_needs_another_ones_result_has_its_place_in_the_block():
    text = """
        sdfg @spread(A: f64[N, M], B: f64[M]) symbols(N: size, M: size) {
          state {
            map i = 0:M {
              data mean: f64 transient
              data s: f64 transient
              tasklet () -> (o -> mean) { o = 0.0 }
              map k = 0:N { tasklet (a <- A[k, i]) -> (o -> mean (add)) { o = a } }
              tasklet (a <- mean) -> (o -> mean) { o = a / f64(N) }
              tasklet () -> (o -> s) { o = 0.0 }
              map l = 0:N { tasklet (a <- A[l, i], m <- mean) -> (o -> s (add)) { o = (a - m) * (a - m) } }
              tasklet (a <- s) -> (o -> B[i]) { o = a }
            }
          }
        }"""
    given, out = np.random.default_rng(0).uniform(-1, 1, (700, 40)), np.zeros(40)
    options = resolve_options({"device": "gpu", "gpu.backend": "simulator", "gpu.seed": 1, "gpu.warp": 64})
    sdfg = parse(text)
    lower_for_gpu(sdfg, options)
    compiled_function(load(generate_gpu(sdfg, None, None, options), options))(given, out)
    np.testing.assert_allclose(out, 700 * given.var(axis=0), rtol=1e-12)
