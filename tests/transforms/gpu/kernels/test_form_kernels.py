"""FormKernels and MapToGrid: which thread does what, in which block, and where its own arrays are."""

import numpy as np
import pytest

from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.machine_model import Limits
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.loading.load import load
from dcpy.transforms.gpu.blocks.map_to_grid import MapToGrid
from dcpy.transforms.gpu.kernels.form_kernels import FormKernels
from dcpy.transforms.gpu.lowering import lower_for_gpu
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.support.expect import parse
from tests.support.passes import Passed


def formed(text, limits=None):
    return Passed(text, PlaceComputation(), FormKernels(limits) if limits else FormKernels())


def divided(text):
    return Passed(text, PlaceComputation(), FormKernels(), MapToGrid())


# -- what a thread does ------------------------------------------------------------------------------------------------


def test_a_parameter_whose_iterations_share_a_target_goes_inside():
    formed("""
        sdfg @f(A: f64[N, M], s: f64[M]) symbols(N: size, M: size) {
          state { map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> s[j] (add)) { o = a } } }
        }""").becomes("""
        sdfg @f(A: f64[N, M], s: f64[M]) symbols(N: size, M: size) {
          state {
            map j = 0:M @grid { map i = 0:N @sequential { tasklet (a <- A[i, j]) -> (o -> s[j] (add)) { o = a } } }
          }
        }""").same_values(N=[0, 3], M=[1, 4]).says("one thread runs all of i: iterations combine", applied=False)


HISTOGRAM = """
    sdfg @f(x: i64[N], h: i64[8]) symbols(N: size) {
      state { map i = 0:N { let k = wrap(x[i], 8, 0)
                            state { tasklet () -> (o -> h[k] (add)) { o = 1 } } } }
    }"""


def test_threads_meet_where_the_data_choose_and_the_order_does_not_show():
    assert "map i = 0:N @grid" in formed(HISTOGRAM).same_values(N=[0, 9]).text
    floats = HISTOGRAM.replace("i64[8]", "f64[8]").replace("o = 1 ", "o = 1.0 ")
    found = formed(floats).says("on the host: iterations may add to the same element, h[k] (add)", applied=False)
    assert "@grid" not in found.text
    assert "map i = 0:N @grid" in Passed(floats, PlaceComputation(any_order=True), FormKernels(any_order=True)).text
    few = floats.replace(" symbols(N: size)", "").replace("N", "9")
    assert "map one = 0:1 @grid" in formed(few).same_values().text


def test_small_arrays_are_a_threads_own_and_large_ones_parts_of_one_of_all():
    formed("""
        sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {
          state {
            map i = 0:N {
              data s: f64 transient
              data t: f64[4] transient
              data u: f64[M] transient
              state {
                copy A[i, 0:M] -> u[0:M]
                map k = 0:4 { tasklet () -> (o -> t[k]) { o = 2.0 } }
                tasklet (a <- t[3]) -> (o -> s) { o = a }
                map j = 0:M { tasklet (a <- u[j], b <- s) -> (o -> B[i, j]) { o = a * b } }
              }
            }
          }
        }""").becomes("""
        sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {
          data u: f64[N, M] strides (1, N) transient
          state {
            map i = 0:N @grid {
              data s: f64 transient @register
              data t: f64[4] transient @stack
              map c = 0:M @sequential { tasklet (a <- A[i, c]) -> (out -> u[i, c]) { out = a } }
              map k = 0:4 @sequential { tasklet () -> (o -> t[k]) { o = 2.0 } }
              tasklet (a <- t[3]) -> (o -> s) { o = a }
              map j = 0:M @sequential { tasklet (a <- u[i, j], b <- s) -> (o -> B[i, j]) { o = a * b } }
            }
          }
        }""").same_values(N=[1, 3], M=[1, 5]).says("the part of 'u' that belongs to a thread", applied=False)


def test_the_limits_say_what_is_small():
    text = """
        sdfg @f(B: f64[N]) symbols(N: size) {
          state { map i = 0:N { data t: f64[4] transient
                                tasklet () -> (o -> t[1]) { o = 2.0 }
                                tasklet (a <- t[1]) -> (o -> B[i]) { o = a } } }
        }"""
    assert "t: f64[4] transient @stack" in formed(text, Limits(stack_bytes=32)).text
    assert "t: f64[N, 4] strides (1, N) transient" in formed(text, Limits(stack_bytes=31)).text


@pytest.mark.cc
def test_threads_that_meet_count_all():
    options = resolve_options({"device": "gpu", "gpu.backend": "simulator", "gpu.seed": 1})
    sdfg, x, h = parse(HISTOGRAM), np.random.default_rng(0).integers(-8, 8, 5000), np.zeros(8, np.int64)
    lower_for_gpu(sdfg, options)
    compiled_function(load(generate_gpu(sdfg, None, None, options), options))(x, h)
    assert np.array_equal(h, np.bincount(x % 8))


# -- blocks ------------------------------------------------------------------------------------------------------------


def test_one_parameter_is_divided_into_blocks_of_256():
    divided("""
        sdfg @f(A: f64[N]) symbols(N: size) {
          state { map i = 3:N:2 { tasklet () -> (o -> A[i]) { o = 1.0 } } }
        }""").becomes("""
        sdfg @f(A: f64[N]) symbols(N: size) {
          state { map i_tile = 3:N:512 @grid { map i = i_tile:min(N, i_tile + 512):2 @block {
              tasklet () -> (o -> A[i]) { o = 1.0 } } } }
        }""").same_values(N=[0, 4, 530]).says("blocks of 256 threads")


def test_the_parameter_of_neighbours_in_memory_is_x():
    divided("""
        sdfg @f(A: f64[N, M], B: f64[M, N] strides (1, M)) symbols(N: size, M: size) {
          state { map j = 0:M, i = 0:N { tasklet (a <- A[i, j]) -> (o -> B[j, i]) { o = a } } }
        }""").becomes("""
        sdfg @f(A: f64[N, M], B: f64[M, N] strides (1, M)) symbols(N: size, M: size) {
          state {
            map i_tile = 0:N:8, j_tile = 0:M:32 @grid {
              map i = i_tile:min(N, i_tile + 8), j = j_tile:min(M, j_tile + 32) @block {
                tasklet (a <- A[i, j]) -> (o -> B[j, i]) { o = a }
              }
            }
          }
        }""").same_values(N=[1, 9], M=[2, 40]).says("adjacent threads run along j", "blocks of 8 x 32 threads")


def test_few_points_get_few_threads():
    divided("""
        sdfg @f(A: f64[N, 5], B: f64[3], C: f64[3, N]) symbols(N: size) {
          state {
            map i = 0:N, j = 0:5 { tasklet () -> (o -> A[i, j]) { o = 1.0 } }
            map k = 0:3 { tasklet () -> (o -> B[k]) { o = 1.0 } }
            map l = 0:3, m = 0:N { tasklet () -> (o -> C[l, m]) { o = 1.0 } }
          }
        }""").says("blocks of 32 x 8 threads", "blocks of 4 threads", "blocks of 4 x 64 threads").same_values(N=[1, 70])


def test_the_rest_of_many_parameters_is_the_grids():
    found = divided("""
        sdfg @f(A: f64[N, N, N, N]) symbols(N: size) {
          state { map i = 0:N, j = 0:N, k = 0:N, l = 0:N { tasklet () -> (o -> A[i, j, k, l]) { o = 1.0 } } }
        }""").same_values(N=[2])
    assert "map i = 0:N, j = 0:N, k_tile = 0:N:8, l_tile = 0:N:32 @grid" in found.text


def test_a_range_that_depends_on_another_one_is_divided_over_all_that_it_may_be():
    divided("""
        sdfg @f(A: f64[N, N]) symbols(N: size) {
          state { map i = 0:N, j = i:N { tasklet () -> (o -> A[i, j]) { o = 1.0 } } }
        }""").becomes("""
        sdfg @f(A: f64[N, N]) symbols(N: size) {
          state {
            map i = 0:N, j_tile = 0:N:256 @grid {
              map j = max(i, j_tile):min(N, j_tile + 256) @block { tasklet () -> (o -> A[i, j]) { o = 1.0 } }
            }
          }
        }""").same_values(N=[0, 1, 7])


def test_a_second_range_that_depends_is_a_loop_of_a_thread():
    divided("""
        sdfg @f(A: f64[N, N, N]) symbols(N: size) {
          state { map i = 0:N, j = 0:i + 1, k = j:N { tasklet () -> (o -> A[i, j, k]) { o = 1.0 } } }
        }""").says("one thread runs all of k: its range depends on others", applied=False).same_values(N=[0, 1, 7])


def test_one_thread_is_a_block_of_one():
    found = divided("""
        sdfg @f(x: f64[N], s: f64[1]) symbols(N: size) {
          state { map i = 0:N { tasklet (a <- x[i]) -> (o -> s[0] (add)) { o = a } } }
        }""").same_values(N=[0, 5])
    assert "map one_tile = 0:1 @grid" in found.text
    assert "map one = one_tile:one_tile + 1 @block" in found.text


def test_kernels_that_users_wrote_stay():
    text = """
        sdfg @f(A: f64[N]) symbols(N: size) {
          state { map b = 0:N:8 @grid { map i = b:min(N, b + 8) @block { tasklet () -> (o -> A[i]) { o = 1.0 } } } }
        }"""
    divided(text).becomes(text)
