"""MapsIntoLoops: maps that no kernel can be made of run in order, and what is inside of them is kernels."""

import numpy as np
import pytest

import dcpy
from dcpy.transforms.gpu.kernels.maps_into_loops import MapsIntoLoops
from dcpy.transforms.loops.loop_to_map import LoopToMap
from tests.support.expect import expect, parse
from tests.support.passes import Passed
from tests.transforms.gpu.placement.test_place_copies import add

ROWS = """
    sdfg @f(A: f64[N], B: f64[N, N]) symbols(N: size) {
      BEGIN i = 0:N {
        data t: f64[N - i] transient
        state {
          map j = 0:N - i { tasklet (a <- A[j]) -> (o -> t[j]) { o = a * 2.0 } }
          map k = 0:N - i { tasklet (a <- t[N - i - 1 - k]) -> (o -> B[i, k]) { o = a } }
        }
      } END
    }"""
MAP = ROWS.replace("BEGIN", "state { map").replace("END", "}")
LOOP = ROWS.replace("BEGIN", "loop").replace("END", "")


def test_arrays_whose_sizes_differ_are_allocated_by_the_host():
    Passed(MAP, MapsIntoLoops()).becomes(LOOP).same_values(N=[0, 1, 5]).says(
        "the host launches a kernel in each iteration: the size of 't' differs between iterations"
    )


def test_loops_stay_where_threads_would_allocate():
    refused = "the size of 't' differs between iterations"
    expect(LoopToMap(allocates=False), on=parse(LOOP)).is_refused(refused)
    expect(LoopToMap(), on=parse(LOOP)).becomes(MAP)


@pytest.mark.parametrize(
    "text",
    [
        f"sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {{ state {{ {add('A', 'B')} }} }}",
        MAP.replace("N - i]", "N]"),  # each thread has a part of one array
    ],
)
def test_other_maps_stay(text):
    Passed(text, MapsIntoLoops()).becomes(text)


def test_maps_inside_are_looked_at_in_turn():
    text = """
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          state { map i = 0:N, m = 0:2 {
            state { map l = 0:N {
              data t: f64[N - l] transient
              map j = 0:N - l { tasklet (a <- A[j]) -> (o -> t[j]) { o = a * 2.0 } }
              map k = 0:N - l { tasklet (a <- t[k]) -> (o -> B[k] (add)) { o = a } }
            } }
          } }
        }"""
    found = Passed(text, MapsIntoLoops()).same_values(N=[0, 2])
    assert [line.split(" = ")[0].strip() for line in found.text.splitlines() if "loop " in line] == [
        "loop i",
        "loop m",
        "loop l",
    ]


@pytest.mark.cc
def test_all_of_it_is_on_the_device():
    def rows(a):
        n = a.shape[0]
        found = np.zeros((n, n))
        for i in range(n):
            kept = a[a > a[i]]
            found[i, 0] = kept.sum() + np.cumsum(a[i:])[-1]
        return found

    program = dcpy.program(rows, device=dcpy.DeviceType.GPU, gpu_backend="simulator", auto_optimize=True)
    a = np.random.default_rng(1).random(40)
    np.testing.assert_allclose(program(a), rows(a), rtol=1e-13)
    assert "on the host: the size of" not in program.explain(a)
