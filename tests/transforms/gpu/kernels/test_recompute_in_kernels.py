"""RecomputeInKernels: rows between sums are not stored where computing them again takes less than their bytes."""

from dataclasses import replace

import numpy as np
import pytest

import dcpy
from dcpy.ir.gpu.costs import GPU_COSTS
from dcpy.runtime.gpu.simulator.memory_checks import watching
from dcpy.transforms.gpu.blocks.map_to_grid import MapToGrid
from dcpy.transforms.gpu.blocks.reduce_to_blocks import ReduceToBlocks
from dcpy.transforms.gpu.kernels.form_kernels import FormKernels
from dcpy.transforms.gpu.kernels.recompute_in_kernels import RecomputeInKernels
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.support.passes import Passed

NORMED = """
    sdfg @f(x: f64[N, M], y: f64[N, M]) symbols(N: size, M: size) {
      state {
        map i = 0:N {
          data m: f64 transient
          data d: f64[M] transient
          data s: f64 transient
          tasklet () -> (o -> m) { o = -inf }
          map j = 0:M { tasklet (a <- x[i, j]) -> (o -> m (max)) { o = a } }
          map k = 0:M { tasklet (a <- x[i, k], b <- m) -> (o -> d[k]) { o = exp(a - b) } }
          tasklet () -> (o -> s) { o = 0.0 }
          map l = 0:M { tasklet (a <- d[l]) -> (o -> s (add)) { o = a } }
          map n = 0:M { tasklet (a <- d[n], b <- s) -> (o -> y[i, n]) { o = a / b } }
        }
      }
    }"""


def recomputed(text, costs=GPU_COSTS):
    return Passed(text, PlaceComputation(), RecomputeInKernels(costs))


def test_a_row_between_two_sums_is_not_stored():
    recomputed(NORMED).becomes("""
        sdfg @f(x: f64[N, M], y: f64[N, M]) symbols(N: size, M: size) {
          state {
            map i = 0:N @grid {
              data m: f64 transient
              data s: f64 transient
              tasklet () -> (o -> m) { o = -inf }
              map j = 0:M { tasklet (a <- x[i, j]) -> (o -> m (max)) { o = a } }
              tasklet () -> (o -> s) { o = 0.0 }
              map l = 0:M {
                data d_1: f64 transient
                tasklet (a <- x[i, l], b <- m) -> (o -> d_1) { o = exp(a - b) }
                tasklet (a <- d_1) -> (o -> s (add)) { o = a }
              }
              map n = 0:M {
                data d_2: f64 transient
                tasklet (a <- x[i, n], b <- m) -> (o -> d_2) { o = exp(a - b) }
                tasklet (a <- d_2, b <- s) -> (o -> y[i, n]) { o = a / b }
              }
            }
          }
        }""").same_values(N=[0, 2], M=[1, 5]).says("map i: 'd' is recomputed where it is read")


def test_rows_that_need_rows_vanish_together():
    """The deviation, and its square: a variance."""
    square = "map p = 0:M { tasklet (a <- d[p]) -> (o -> q[p]) { o = a * a } }"
    text = NORMED.replace("data s:", "data q: f64[M] transient data s:").replace("(a <- d[l])", "(a <- q[l])")
    found = recomputed(text.replace("tasklet () -> (o -> s)", f"{square} tasklet () -> (o -> s)"))
    found.same_values(N=[2], M=[1, 5]).says("'q' is recomputed", "'d' is recomputed")
    assert "f64[M] transient" not in found.text


def test_parts_of_an_array_of_all_points_are_rows_too():
    text = NORMED.replace("data d: f64[M] transient", "").replace("d[", "d[i, ")
    text = text.replace("symbols(N: size, M: size) {", "symbols(N: size, M: size) { data d: f64[N, M] transient")
    assert recomputed(text).same_values(N=[0, 2], M=[1, 5]).text == recomputed(NORMED).text
    slow = replace(GPU_COSTS, operation_speed=GPU_COSTS.memory_speed // 4)
    steps = PlaceComputation(), RecomputeInKernels(slow), ReduceToBlocks(slow), FormKernels(), MapToGrid(slow)
    assert "d_1: f64[N, M]" in Passed(text, *steps).same_values(N=[0, 3], M=[1, 70]).text
    others = recomputed(text.replace("(a <- d[i, n], b <- s)", "(a <- d[N - 1 - i, n], b <- s)"))
    assert "d: f64[N, M]" in others.text


@pytest.mark.parametrize("read", ["map h = 0:M { tasklet (a <- d[i, h]) -> (o -> y[i, h]) { o = a } }", ""])
def test_what_an_earlier_launch_has_left_stays(read):
    """Read before it is computed, or computed in part."""
    part = "0:M" if read else "0:M // 2"
    text = f"""
        sdfg @f(x: f64[N, M], y: f64[N, M], z: f64[N, M]) symbols(N: size, M: size) {{
          data d: f64[N, M] transient
          loop t = 0:2 {{
            state {{
              map i = 0:N {{
                {read}
                map k = {part} {{ tasklet (a <- x[i, k]) -> (o -> d[i, k]) {{ o = a + f64(t) }} }}
                map l = 0:M {{ tasklet (a <- d[i, l]) -> (o -> z[i, l]) {{ o = a }} }}
              }}
            }}
          }}
        }}"""
    assert "data d: f64[N, M] transient" in recomputed(text).text


@pytest.mark.parametrize(
    ("costs", "reason"),
    [
        (replace(GPU_COSTS, operation_speed=3 * GPU_COSTS.memory_speed // 4), "13 units of work would be done again"),
        (GPU_COSTS, "32 bytes would be loaded again"),
    ],
)
def test_a_row_stays_where_its_bytes_take_less(costs, reason):
    text = NORMED
    if "bytes" in reason:
        others = "c <- x[i, M - 1 - k], e <- x[N - 1 - i, k], f <- x[N - 1 - i, M - 1 - k], b <- m"
        text = text.replace("x[i, k], b <- m", f"x[i, k], {others}")
    found = recomputed(text, costs)
    assert "d: f64[M]" in found.text
    found.says(f"'d' stays: {reason}", applied=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("M", "100"),  # so short that threads of a block share it
        ("y[i, n]", "x[i, n]"),  # what it is computed from is overwritten
        ("d[k]", "d[M - 1 - k]"),  # the transposed order is another pass's
    ],
)
def test_others_are_not_touched(old, new):
    text = NORMED.replace(old, new).replace(", 100: size", "")
    assert "d_1" not in recomputed(text).text


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layer_norm(x, gain, bias):
    deviation = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(deviation * deviation, axis=-1, keepdims=True)
    return deviation / np.sqrt(variance + 1e-5) * gain + bias


def standardized(x):
    return (x - np.mean(x, axis=1, keepdims=True)) / np.std(x, axis=1, keepdims=True)


def normed_planes(x):
    deviation = x - np.mean(x, axis=(1, 2), keepdims=True)
    return deviation / np.sqrt(np.mean(deviation * deviation, axis=(1, 2), keepdims=True) + 1e-5)


@pytest.mark.cc
@pytest.mark.parametrize(
    ("function", "shape", "vectors"),
    [(softmax, (9, 67), 0), (layer_norm, (9, 67), 2), (standardized, (9, 67), 0), (normed_planes, (3, 5, 67), 0)],
)
def test_rows_with_sums_of_sums_are_one_kernel_that_reads_and_writes_once(function, shape, vectors):
    rng = np.random.default_rng(0)
    x = rng.random(shape)
    arguments = [x, *(rng.random(67) for _ in range(vectors))]
    options = {"device": "gpu", "gpu.backend": "simulator", "gpu.hooks": True}
    with watching() as seen:
        found = dcpy.program(auto_optimize=True, **options)(function)(*arguments)
    np.testing.assert_allclose(found, function(*arguments), rtol=1e-13)
    (kernel,) = seen.report.kernels
    assert kernel.launches == 1
    assert kernel.moved_bytes <= 1.1 * (sum(each.nbytes for each in arguments) + found.nbytes)
