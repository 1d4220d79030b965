"""TransposedTiles: what is read along columns comes in tiles; what cannot, and why; sectors and banks, as counted."""

import numpy as np
import pytest

import dcpy
from dcpy.runtime.gpu.simulator.memory_checks import watching
from dcpy.transforms.gpu.blocks.map_to_grid import MapToGrid
from dcpy.transforms.gpu.blocks.transposed_tiles import TransposedTiles
from dcpy.transforms.gpu.kernels.form_kernels import FormKernels
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.support.passes import Passed

HEAD = "sdfg @f(A: f64[N, M], C: f64[M, N], B: f64[N, M]) symbols(N: size, M: size)"
SUM = HEAD + """ {
      state { map i = 0:N, j = 0:M { tasklet (a <- A[i, j], c <- C[j, i]) -> (o -> B[i, j]) { o = a + 2.0 * c } } }
    }"""


def tiled(text):
    return Passed(text, PlaceComputation(), FormKernels(), TransposedTiles(), MapToGrid())


def of(tasklet, domain="i = 0:N, j = 0:M", head=HEAD):
    return tiled(f"{head} {{ state {{ map {domain} {{ {tasklet} }} }} }}")


def test_columns_come_in_tiles():
    tiled(SUM).becomes("""
        sdfg @f(A: f64[N, M], C: f64[M, N], B: f64[N, M]) symbols(N: size, M: size) {
          state {
            map i_tile = 0:N:32, j_tile = 0:M:32 @grid {
              data C_tile: f64[32, 33] transient @shared @stack
              state {
                map turn_1 = 0:8, i_1 = i_tile:min(N, i_tile + 32) @block {
                  map j_1 = j_tile + turn_1:min(M, j_tile + 32):8 @sequential {
                    tasklet (a <- C[j_1, i_1]) -> (out -> C_tile[j_1 - j_tile, i_1 - i_tile]) { out = a }
                  }
                }
              }
              state {
                map turn = 0:8, j = j_tile:min(M, j_tile + 32) @block {
                  map i = i_tile + turn:min(N, i_tile + 32):8 @sequential {
                    tasklet (a <- A[i, j], c <- C_tile[j - j_tile, i - i_tile]) -> (o -> B[i, j]) { o = a + 2.0 * c }
                  }
                }
              }
            }
          }
        }""").same_values(N=[0, 1, 33], M=[1, 40]).says("C in tiles of 32 x 32, by 8 x 32 threads")


def test_threads_lie_along_what_is_written():
    found = of("tasklet (c <- C[j, i]) -> (o -> B[i, j]) { o = c }", domain="j = 0:M, i = 0:N")
    assert "C_tile[j - j_tile, i - i_tile]) -> (o -> B[i, j])" in found.same_values(N=[5, 34], M=[3]).text


def test_a_part_and_a_third_dimension():
    head = "sdfg @f(A: f64[L, N, M], B: f64[M, L, N]) symbols(N: size, M: size, L: size)"
    found = of("tasklet (a <- A[k, i + 2, j - 1]) -> (o -> B[j, k, i]) { o = a }",
               domain="k = 0:L, j = 1:M, i = 0:N - 2", head=head)  # fmt: skip
    found.same_values(N=[3, 40], M=[1, 6], L=[2])
    assert "map k = 0:L, j_tile = 1:M:32, i_tile = 0:N - 2:32 @grid" in found.text


@pytest.mark.parametrize(
    ("tasklet", "reason"),
    [
        ("tasklet (c <- C[j, 2 * i]) -> (o -> B[i, j]) { o = c }", ""),
        ("tasklet (a <- A[i, j], b <- C[j, i]) -> (o -> B[i, j], p -> C[j, i]) { o = a  p = b }",
         "is not written along"),
        ("tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a }", ""),
    ],
)  # fmt: skip
def test_refusals(tasklet, reason):
    found = of(tasklet)
    assert "@shared" not in found.text
    told = [str(remark) for remark in found.remarks if "tiles in shared memory" in str(remark)]
    assert bool(told) == bool(reason)
    assert all(reason in text for text in told)


def test_few_columns_stay():
    head = "sdfg @f(C: f64[8, N], B: f64[N, 8]) symbols(N: size)"
    found = of("tasklet (c <- C[j, i]) -> (o -> B[i, j]) { o = c }", domain="i = 0:N, j = 0:8", head=head)
    found.says("no tiles in shared memory: 'j' has few values", applied=False)


def transposed(A, B):
    B[:] = A.T * 2.0


def with_transposed(A, B):
    B[:] = A + A.T


@pytest.mark.cc
@pytest.mark.parametrize("warp", [32, 64])
@pytest.mark.parametrize(("function", "loads"), [(transposed, 1), (with_transposed, 2)])
def test_neighbours_move_sectors_together_and_banks_take_turns_once(function, loads, warp):
    A = np.random.default_rng(1).random((64, 64))
    B = np.zeros_like(A)
    sdfg = dcpy.program(function).to_sdfg(A, B)
    compiled = sdfg.compile(device="gpu", **{"gpu.backend": "simulator", "gpu.hooks": True, "gpu.warp": warp})
    with watching() as seen:
        compiled(A, B)
    assert ((A.T * 2.0 if loads == 1 else A + A.T) == B).all()
    assert seen.report.races == ()
    (kernel,) = seen.report.kernels
    assert kernel.moved_bytes <= 1.1 * 2 * A.nbytes
    shared = [site for site in kernel.sites if site.space == "shared"]
    assert shared
    assert [site for site in kernel.sites if site.units > 1.1 * site.least] == []
