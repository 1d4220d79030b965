"""HistogramPrivatization: what the data scatter goes to copies of a block; in order, or by atomic updates."""

from dataclasses import replace

import numpy as np
import pytest

from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.gpu.costs import GPU_COSTS
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.loading.load import load
from dcpy.transforms.gpu.blocks.histogram_privatization import HistogramPrivatization
from dcpy.transforms.gpu.lowering import lower_for_gpu
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.support.expect import parse
from tests.support.passes import Passed

SUM = """
    sdfg @f(p: i64[N], w: f64[N], h: f64[8]) symbols(N: size) {
      state { map i = 0:N { let k = wrap(p[i], 8, 0)
                            if k > 0 { state { tasklet (a <- w[i]) -> (o -> h[k] (add)) { o = a } } } } }
    }"""
COUNT = SUM.replace("w: f64[N], h: f64[8]", "h: i64[8]").replace("(a <- w[i])", "()").replace("o = a", "o = 1")


def privatized(text, threads=2):
    costs = replace(GPU_COSTS, block=threads)
    return Passed(text, HistogramPrivatization(costs), PlaceComputation())


def points(count):
    return [np.arange(count) * 5 % 8]


def test_each_thread_owns_bins():
    found = privatized(SUM).becomes("""
        sdfg @f(p: i64[N], w: f64[N], h: f64[8]) symbols(N: size) {
          data copies: f64[-((-N) // 32), 8] transient
          state {
            map chunk = 0:N:32 @grid {
              data mine: f64[4096] transient @shared @stack
              data bins: i64[2] transient @shared @stack
              data values: f64[2] transient @shared @stack
              state {
                map t = 0:2 @block {
                  map b = t:8:2 @sequential { tasklet () -> (o -> mine[b]) { o = 0.0 } }
                }
              }
              loop r = 0:16 @sequential {
                state {
                  map t_2 = 0:2 @block { tasklet () -> (o -> bins[t_2]) { o = -1 } }
                  map i = chunk + 2*r:min(N, chunk + 2*r + 2) @block {
                    let k = wrap(p[i], 8, 0)
                    if k > 0 {
                      state {
                        tasklet (a <- w[i]) -> (o -> values[i - chunk - 2*r]) { o = a }
                        tasklet () -> (o -> bins[i - chunk - 2*r]) { o = k }
                      }
                    }
                  }
                  map u = 0:2 @block {
                    loop s = 0:2 @sequential {
                      let k_1 = bins[s]
                      if k_1 >= 0 and k_1 & 1 == u {
                        state { tasklet (a <- mine[k_1], b <- values[s]) -> (o -> mine[k_1]) { o = a + b } }
                      }
                    }
                  }
                }
              }
              state {
                map t_1 = 0:2 @block {
                  map b_1 = t_1:8:2 @sequential {
                    tasklet (a <- mine[b_1]) -> (o -> copies[chunk // 32, b_1]) { o = a }
                  }
                }
              }
            }
            map b_2 = 0:8 @grid {
              map q = 0:-((-N) // 32) { tasklet (a <- copies[q, b_2]) -> (o -> h[b_2] (add)) { o = a } }
            }
          }
        }""")
    for count in (0, 3, 40):
        found.same_values(N=[count], p=points(count))
    found.says("map i: each block has a copy of 'h'")


def test_integers_meet_in_the_copy():
    found = privatized(COUNT)
    for count in (0, 40):
        found.same_values(N=[count], p=points(count))
    assert "map i = chunk + t_2:min(N, chunk + 32):2 @sequential {" in found.text
    assert "-> (o -> mine[k] (add)) { o = 1 }" in found.text


def test_sizes_that_are_not_known_are_asked_for():
    text = SUM.replace("h: f64[8]", "h: f64[B]").replace("N: size", "N: size, B: size").replace(", 8,", ", B,")
    found = privatized(text)
    found.same_values(N=[40], B=[8], p=points(40))
    assert "if B <= 4096 {" in found.text
    found.says("on the host: iterations may add to the same element, h[k] (add)", applied=False)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("N", "32"), "it is short"),
        (("h: f64[8]", "h: f64[5000]"), "'h' does not fit into the memory that a block shares"),
        (("{ o = a }", "{ o = a } tasklet (a <- w[i]) -> (o -> h[k] (add)) { o = a }"), "accessed at several places"),
        (("map i = 0:N", "map i = 0:N, j = 0:2"), "it has several parameters"),
        (("map i = 0:N", "map i = 0:N:2"), "does not go up one by one"),
    ],
)
def test_it_is_refused(change, reason):
    text = SUM.replace("symbols(N: size) ", "") if change[0] == "N" else SUM
    privatized(text.replace(*change)).says(reason, applied=False)


@pytest.mark.cc
@pytest.mark.parametrize("text", [SUM, COUNT])
def test_each_run_has_the_same_bits(text):
    rng, found = np.random.default_rng(0), []
    points, weights = rng.integers(0, 8, 9000), rng.uniform(-1, 1, 9000)
    for seed, warp in ((0, 32), (1, 64)):
        options = resolve_options({"device": "gpu", "gpu.backend": "simulator", "gpu.seed": seed, "gpu.warp": warp})
        sdfg, out = parse(text), np.zeros(8, np.float64 if text is SUM else np.int64)
        lower_for_gpu(sdfg, options)
        arguments = (points, weights, out) if text is SUM else (points, out)
        compiled_function(load(generate_gpu(sdfg, None, None, options), options))(*arguments)
        found.append(out.tobytes())
    expected = np.bincount(points, weights if text is SUM else None, 8)
    np.testing.assert_allclose(out[1:], expected[1:], rtol=1e-12)
    assert found[0] == found[1]
