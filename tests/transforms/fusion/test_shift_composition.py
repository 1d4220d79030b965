"""ShiftComposition: shape, value, refusal; and programs that roll along two axes."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.fusion.shift_composition import ShiftComposition
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal

_ROLLS = """
    sdfg @f(x: f64[N, M], y: f64[N, M]) symbols(N: size, M: size) assumes(N >= 2, M >= 2) {{
      data t: f64[N, M] transient
      state {{
        map i = 0:N, j = 0:M {{
          tasklet (a <- x[N*max(0, min(1, 1 - i)) + i - 1, j]) -> (o -> t[i, j]) {{ o = {value} }}
        }}
        {between}
        map k = 0:N, l = 0:M {{ tasklet (a <- t[{index}]) -> (o -> y[k, l]) {{ o = a }} }}
      }}
    }}"""


def rolls(index="k, M*max(0, min(1, 1 - l)) + l - 1", value="a", between=""):
    return parse(_ROLLS.format(index=index, value=value, between=between))


def test_two_axes_become_one_index():
    expect(ShiftComposition(), on=rolls()).becomes("""
        sdfg @f(x: f64[N, M], y: f64[N, M]) symbols(N: size, M: size) assumes(N >= 2, M >= 2) {
          state {
            map k = 0:N, l = 0:M {
              data t_1: f64 transient
              tasklet (a <- x[N*max(0, min(1, 1 - k)) + k - 1, M*max(0, min(1, 1 - l)) + l - 1]) -> (o -> t_1) { o = a }
              tasklet (a <- t_1) -> (o -> y[k, l]) { o = a }
            }
          }
        }""").same_values(N=[2, 3, 7], M=[2, 4])


@pytest.mark.parametrize(
    ("sdfg", "reason"),
    [
        (rolls(index="N*max(0, min(1, 1 - k)) + k - 1, l"), "jump twice"),
        (rolls(value="a + 1.0"), "does not only move"),
        (rolls(between="copy y[0:N, 0:M] -> x[0:N, 0:M]"), "is written before"),
        (rolls(between="copy t[0:N, 0:M] -> y[0:N, 0:M]"), "read by more than tasklets"),
    ],
)
def test_refusals(sdfg, reason):
    expect(ShiftComposition(), on=sdfg).is_refused(reason)


def neighbours(g, n):
    for _ in range(n):
        k = np.zeros(g.shape, np.int64)
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dy or dx:
                    k += np.roll(g, (dy, dx), axis=(0, 1))
        g = (k == 3) | (g & (k == 2))
    return g


def corners(x):
    return np.roll(np.roll(x, 2, 0), -1, 1) - np.roll(x, (1, 0, -1), (0, 1, 0))


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (17, 40), (1, 4), (0, 3)])
def test_programs(shape):
    x = np.random.default_rng(1).random(shape)
    assert_equal(dcpy.program(auto_optimize=True)(neighbours)(x > 0.6, 4), neighbours(x > 0.6, 4))
    assert_equal(dcpy.program(auto_optimize=True)(corners)(x), corners(x))


def test_no_array_is_left_but_the_state_before():
    sdfg = dcpy.program(auto_optimize=True)(neighbours).to_sdfg(np.zeros((20, 20), bool), 3, as_called=True)
    arrays = [name for region in sdfg.body.walk_regions() for name, desc in region.containers.items() if desc.shape]
    assert sorted(arrays) == ["__return", "before", "g"]
