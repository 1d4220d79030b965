"""A map that computes a matrix goes into a product with it: shape, value, refusal; and bytes, in the simulator."""

import numpy as np
import pytest

import dcpy
from dcpy import plugins
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import print_sdfg
from dcpy.libraries.blas.passes.gemv_producer_fusion import UpdatedProduct
from dcpy.runtime.gpu.simulator.memory_checks import watching
from dcpy.transforms.api import apply_repeated
from tests.support.expect import assert_same_values, expect, parse

UPDATE = "map i = 0:N, j = 0:M { tasklet (a <- A[i, j], b <- u[i]) -> (o -> A[i, j]) { o = a + b } }"
FILL = "map j = 0:M, i = 0:N { tasklet (b <- u[i]) -> (o -> A[i, j]) { o = b } }"
COLUMNS = "blas.gemv (a <- A[0:N, 0:M], x <- u[0:N], alpha <- c, y <- s[0:M]) -> (y -> s[0:M]) {trans_a = true}"
ROWS = "blas.gemv (a <- A[0:N, 0:M], x <- v[0:M]) -> (y -> q[0:N])"


def program(*nodes, strides=""):
    plugins.load()
    return parse(
        f"sdfg @f(A: f64[N, M]{strides}, u: f64[N], v: f64[M], q: f64[N], s: f64[M], c: f64) "
        f"symbols(N: size, M: size) {{ state {{ {' '.join(nodes)} }} }}"
    )


FUSED = """sdfg @f(A: f64[N, M], u: f64[N], v: f64[M], q: f64[N], s: f64[M], c: f64) symbols(N: size, M: size) {
  data partial_sums: f64[-((-N) // 64), M] transient
  state {
    copy u[0:N] -> q[0:N]
    map j_1 = 0:N:64, j_2 = 0:M {
      data own: f64 transient
      tasklet () -> (out -> own) { out = 0.0 }
      map i_1 = j_1:min(N, j_1 + 64) @sequential {
        tasklet (a <- A[i_1, j_2], b <- u[i_1]) -> (o -> A[i_1, j_2]) { o = a + b }
        tasklet (a <- A[i_1, j_2], b <- u[i_1]) -> (out -> own (add)) { out = a * b }
      }
      tasklet (a <- own) -> (out -> partial_sums[j_1 // 64, j_2]) { out = a }
    }
    map j_3 = 0:M {
      data own_1: f64 transient
      tasklet () -> (out -> own_1) { out = 0.0 }
      map p = 0:-((-N) // 64) @sequential {
        tasklet (a <- partial_sums[p, j_3]) -> (out -> own_1 (add)) { out = a }
      }
      tasklet (a <- own_1, b <- c, c <- s[j_3]) -> (out -> s[j_3]) { out = b * a + c }
    }
  }
}
"""


def test_elements_are_used_as_they_come():
    """Nodes in between that touch nothing of it stay in front."""
    sdfg = program(UPDATE, "copy u[0:N] -> q[0:N]", COLUMNS)
    expect(UpdatedProduct(), on=sdfg).becomes(FUSED).same_values(N=[1, 3, 70], M=[1, 2])


def test_of_a_matrix_by_columns_rows_are_summed():
    """Neighbours in memory are side by side; the map may have its parameters in either order."""
    before = program(FILL, ROWS, strides=" strides(1, N)")
    after = copy_sdfg(before)
    assert apply_repeated(after, UpdatedProduct(), check=True) == 1
    assert_same_values(before, after, {"N": [1, 3], "M": [1, 2, 70]})


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ((COLUMNS,), "nothing in front of it in the state writes 'A'"),
        ((UPDATE, ROWS), "neighbours in the memory of 'A' are terms of one sum"),
        (("copy v[0:M] -> A[0, 0:M]", COLUMNS), "what writes 'A' in front of it is no map over its elements"),
        ((UPDATE.replace("0:N, j", "1:N, j"), COLUMNS), "the map writes A[1:N, 0:M], and A[0:N, 0:M] is read"),
        ((UPDATE.replace("a <- A[i, j]", "a <- A[N - 1, j]"), COLUMNS), "touches A[N - 1, j]"),
        ((UPDATE.replace("A[i, j]", "A[i, M - 1 - j]"), COLUMNS), "touches A[i, M - j - 1]"),
        ((UPDATE.replace("{ tasklet", "{ map k = 0:1 { tasklet") + " }", COLUMNS), "is no row of tasklets"),
        ((UPDATE.replace("u[i]", "s[j]"), COLUMNS), "'s', which the map reads, is written by what is behind it"),
        ((UPDATE, "copy A[0, 0:M] -> v[0:M]", COLUMNS), "'A', which the map writes, is touched by what is behind it"),
        ((UPDATE, "copy v[0:N] -> u[0:N]", COLUMNS), "'u', which the map reads, is written by what is behind it"),
        ((UPDATE, COLUMNS.replace("alpha <- c", "alpha <- A[0, 0]")), "'A', which the map writes, is touched"),
    ],
)
def test_refusals(nodes, reason):
    expect(UpdatedProduct(), on=program(*nodes)).is_refused(reason)


def test_two_products_of_an_update():
    """The first takes the update up; the other one reads what is there then."""
    before = program(UPDATE, COLUMNS, ROWS)
    after = copy_sdfg(before)
    assert apply_repeated(after, UpdatedProduct(), check=True) == 1
    assert ROWS in print_sdfg(after)
    assert_same_values(before, after, {"N": [3], "M": [2]})


def gemver(A, u, v, w, x, y):
    A += np.outer(u, v)
    x += y @ A
    w += A @ x


@pytest.mark.cc
def test_the_matrix_is_moved_three_times():
    """Read and written by the update, and read by the other product: not once more."""
    n = 96
    rng = np.random.default_rng(0)
    given = [rng.random((n, n)), *(rng.random(n) for _ in range(5))]
    here, there = ([np.copy(arg) for arg in given] for _ in range(2))
    options = {"gpu_backend": "simulator", "gpu_hooks": True, "auto_optimize": True, "gpu_libraries": False}
    with watching() as seen:
        dcpy.program(gemver, device=dcpy.DeviceType.GPU, **options)(*there)
    gemver(*here)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12)
    assert seen.report.races == ()
    matrix, vectors = given[0].nbytes, 20 * 8 * n
    assert 3 * matrix < seen.report.moved_bytes < 3 * matrix + vectors
