"""OverlappedTiles: the sweeps of a time step as one kernel, whose blocks have their tiles in shared memory."""

from dataclasses import replace

import pytest

from dcpy.ir.gpu.costs import GPU_COSTS, GPU_LIMITS
from dcpy.transforms.gpu.loops.overlapped_tiles import OverlappedTiles
from tests.support.passes import Passed

STEPS = """
    sdfg @f(E: f64[N, M], F: f64[N, M], H: f64[N, M], T) symbols(T: i64, N: size, M: size) {
      loop t = 0:T {
        state {
          map i = 1:N, j = 0:M {
            tasklet (e <- E[i, j], h <- H[i, j], g <- H[i - 1, j]) -> (o -> E[i, j]) { o = e - (h - g) }
          }
          map k = 0:N, l = 1:M {
            tasklet (e <- F[k, l], h <- H[k, l], g <- H[k, l - 1]) -> (o -> F[k, l]) { o = e - (h - g) }
          }
          map m = 0:N - 1, n = 0:M {
            tasklet (h <- H[m, n], e <- E[m + 1, n], f <- F[m, n]) -> (o -> H[m, n]) { o = h - e * f }
          }
        }
      }
    }"""


JACOBI = """
    sdfg @f(A: f64[N, M], B: f64[N, M], T) symbols(T: i64, N: size, M: size) {
      loop t = 0:T {
        state {
          map i = 1:N - 1, j = 1:M - 1 {
            tasklet (l <- A[i - 1, j], r <- A[i + 1, j], d <- A[i, j - 1], u <- A[i, j + 1]) -> (o -> B[i, j]) {
              o = l + r + d + u }
          }
          map k = 1:N - 1, l = 1:M - 1 {
            tasklet (l <- B[k - 1, l], r <- B[k + 1, l], d <- B[k, l - 1], u <- B[k, l + 1]) -> (o -> A[k, l]) {
              o = l + r + d + u }
          }
        }
      }
    }"""
LINE = """
    sdfg @f(A: f64[N], B: f64[N], T) symbols(T: i64, N: size) {
      loop t = 0:T {
        state {
          map i = 1:N - 1 { tasklet (l <- A[i - 1], r <- A[i + 1]) -> (o -> B[i]) { o = l + r } }
          map k = 1:N - 1 { tasklet (l <- B[k - 1], r <- B[k + 1]) -> (o -> A[k]) { o = l + r } }
        }
      }
    }"""


def tiled(text, warp=8, points=64, **limits):
    costs = replace(GPU_COSTS, warp=warp)
    return Passed(text, OverlappedTiles(costs, replace(GPU_LIMITS, **limits), points))


def test_a_step_is_one_kernel():
    found = tiled(STEPS, shared_bytes=5 * 2160).same_values(T=[0, 1, 3], N=[1, 9], M=[4, 18])
    assert found.text.count("@grid") == 1
    assert "map tile0 = 0:N:8, tile1 = 0:M:8 @grid {" in found.text
    assert "data H_tile: f64[10, 9] transient @shared @stack" in found.text
    assert "(a <- H_bands[t_tile % 2, c" in found.text
    assert "map m = tile0:min(N - 1, tile0 + 8), n = tile1:min(M, tile1 + 8) @block {" in found.text
    found.says("loop t: 3 sweeps of a step are one kernel, in tiles of 8 x 8")


def test_several_steps_are_one_kernel_where_there_are_enough_of_them():
    found = tiled(STEPS, shared_bytes=5 * 3000).same_values(T=[3, 5], N=[9], M=[10])
    assert "T - 4 >= 0 and N - 8 >= 0 and M - 8 >= 0 {" in found.text  # else one kernel per sweep
    assert "loop t_1 = t_1_tile:min(T, t_1_tile + 2) {" in found.text  # in each block, to the last step exactly
    assert found.text.count("@grid") == 1
    found.says("2 steps are one kernel, in tiles of 8 x 8")


def test_what_goes_to_and_fro_is_tiled_for_several_steps():
    found = tiled(JACOBI, warp=32)
    assert "data A_tile: f64[48, 48] transient @shared @stack" in found.text
    found.says("4 steps are one kernel, in tiles of 32 x 32; 13.0 bytes a point")


def test_lines_are_tiled_for_many_steps():
    found = tiled(LINE, warp=1, points=32).same_values(T=[15, 16, 19], N=[32, 70])
    found.says("8 steps are one kernel, in tiles of 32")


def test_sizes_that_are_numbers_are_not_asked():
    few = LINE.replace("N - 1", "79").replace("f64[N]", "f64[80]")
    assert "if " not in tiled(few.replace("0:T", "0:99")).text
    tiled(few.replace("0:T", "0:99"), points=100).says("99 steps on 80 points are too few", applied=False)
    tiled(few.replace("0:T", "0:31")).says("31 steps on 80 points are too few", applied=False)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("F[m, n]", "F[0, 0]"), "one kernel per sweep"),
        (("f <- F[m, n]", "f <- F[m, n], d <- E[T, n]"), "one kernel per sweep"),
        (("0:T", "0:T:2"), "the loop does not go in steps of one"),
    ],
)
def test_it_is_refused(change, reason):
    tiled(STEPS.replace(*change)).says(reason, applied=False)


def test_one_sweep_is_left_alone():
    one = """sdfg @f(A: f64[N, M], B: f64[N, M], T) symbols(T: i64, N: size, M: size) { loop t = 0:T { state {
        map i = 1:N, j = 0:M { tasklet (a <- A[i - 1, j]) -> (o -> B[i, j]) { o = a } }
        map k = 0:N, l = 0:M { tasklet (b <- B[k, l]) -> (o -> A[k, l]) { o = b } } } } }"""
    reason = "tiles would move 34 bytes per point and step, single sweeps 32"
    tiled(one, shared_bytes=5 * 1200).says(reason, applied=False)


def test_tiles_have_to_fit():
    tiled(STEPS, shared_bytes=2000).says("tiles take 2160 bytes of shared memory", applied=False)
