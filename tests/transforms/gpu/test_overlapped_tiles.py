"""OverlappedTiles: the sweeps of a time step as one kernel, whose blocks have their tiles in shared memory."""

from dataclasses import replace

import pytest

from dcpy.ir.machine import GPU_COSTS, GPU_LIMITS
from dcpy.transforms.gpu.overlapped_tiles import OverlappedTiles
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


def tiled(text, warp=4, **limits):
    return Passed(text, OverlappedTiles(replace(GPU_COSTS, warp=warp), replace(GPU_LIMITS, **limits)))


def test_a_step_is_one_kernel():
    found = tiled(STEPS).same_values(T=[0, 1, 3], N=[1, 9], M=[4, 6])
    assert found.text.count("@grid") == 1
    assert "map tile0 = 0:N:4, tile1 = 0:M:4 @grid {" in found.text
    assert "data H_tile: f64[6, 5] transient @shared @stack" in found.text
    assert "(a <- H_bands[t_tile % 2, c" in found.text
    assert "map m = tile0:min(N - 1, tile0 + 4), n = tile1:min(M, tile1 + 4) @block {" in found.text
    found.says("loop t: 3 sweeps of a step are one kernel, in tiles of 4 x 4")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("F[m, n]", "F[0, 0]"), "sweep by sweep"),
        (("f <- F[m, n]", "f <- F[m, n], d <- E[T, n]"), "sweep by sweep"),
        (("0:T", "0:T:2"), "the loop does not go in steps of one"),
    ],
)
def test_it_is_refused(change, reason):
    tiled(STEPS.replace(*change)).says(reason, applied=False)


def test_one_sweep_is_left_alone():
    one = """sdfg @f(A: f64[N, M], B: f64[N, M], T) symbols(T: i64, N: size, M: size) { loop t = 0:T { state {
        map i = 1:N, j = 0:M { tasklet (a <- A[i - 1, j]) -> (o -> B[i, j]) { o = a } }
        map k = 0:N, l = 0:M { tasklet (b <- B[k, l]) -> (o -> A[k, l]) { o = b } } } } }"""
    tiled(one).says("one pass would move 4 grids, and the sweeps move 4", applied=False)


def test_tiles_have_to_fit():
    tiled(STEPS, shared_bytes=2000).says("tiles take 720 bytes of shared memory", applied=False)
