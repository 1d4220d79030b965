"""Buffers that are never alive at the same time share their memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcpy.ir.data import Allocation, Array
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.text import parse_sdfg
from dcpy.transforms.cpu.share_buffers import ShareBuffers
from tests.support.expect import assert_same_values

CHAIN = """
    sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
      data t: f64[N] transient
      data u: f64[N] transient
      data v: f64[N] transient
      state {
        map i = 0:N { tasklet (a <- A[i]) -> (o -> t[i]) { o = a + 1.0 } }
        map j = 0:N { tasklet (a <- t[N - 1 - j]) -> (o -> u[j]) { o = a * 2.0 } }
        map k = 0:N { tasklet (a <- u[N - 1 - k]) -> (o -> v[k]) { o = a - 3.0 } }
        map l = 0:N { tasklet (a <- v[l]%s) -> (o -> B[l]) { o = a%s } }
      }
    }"""


def shared(text: str) -> list[str]:
    """The containers that are left, all of them on the heap; values stay the same."""
    before = parse_sdfg(text)
    for region in before.body.walk_regions():
        for name, desc in region.containers.items():
            if isinstance(desc, Array) and desc.transient:
                region.containers[name] = replace(desc, allocation=Allocation.HEAP)
    after = copy_sdfg(before)
    ShareBuffers().run(Rewriter(after, "test"))
    assert_same_values(before, after, {"N": [0, 1, 5]})
    return [name for region in after.body.walk_regions() for name, desc in region.containers.items() if desc.transient]


def test_a_chain_needs_two():
    assert shared(CHAIN % ("", "")) == ["t", "u"]


IN_PLACE = """
    sdfg @f(A: f64[N, N], B: f64[N, N]) symbols(N: size) {
      data t: f64[N, N] transient
      data u: f64[N, N] transient
      state {
        map i = 0:N, j = 0:N { tasklet (a <- A[i, j]) -> (o -> t[i, j]) { o = a + 1.0 } }
        %s
        map i = 0:N, j = 0:N { tasklet (a <- u[i, j]) -> (o -> B[i, j]) { o = a } }
      }
    }"""


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("map k = 0:N, l = 0:N { tasklet (a <- t[k, l]) -> (o -> u[k, l]) { o = a * 2.0 } }", ["t"]),
        ("map k = 0:N, l = 0:N { tasklet (a <- t[l, k], b <- t[k, l]) -> (o -> u[k, l]) { o = a } }", ["t", "u"]),
        ("map k = 0:N, l = 0:N { tasklet (a <- t[k, 0]) -> (o -> u[k, l]) { o = a } }", ["t", "u"]),
        ("map k = 0:N { tasklet (a <- t[k, k]) -> (o -> u[k, k]) { o = a }  tasklet (a <- t[k, 0]) -> (o -> u[k, 0]) { "
         "o = a } }", ["t", "u"]),
        ("map k = 0:N { loop l = 0:N { state { tasklet (a <- t[k, 0]) -> (o -> u[k, 0]) { o = a * 2.0 } } } }",
         ["t", "u"]),
        ("map k = 0:N { map l = 0:N { tasklet (a <- t[k, l]) -> (o -> u[k, l]) { o = a * 2.0 } } }", ["t"]),
        ("map k = 0:N { map l = 0:N { tasklet (a <- t[k, l]) -> (o -> u[k, l]) { o = a * 2.0 } }  map m = 0:N { "
         "tasklet (a <- t[k, N - 1 - m]) -> (o -> A[k, m]) { o = a } } }", ["t", "u"]),
        ("copy t[0:N, 0:N] -> u[0:N, 0:N]", ["t", "u"]),
    ],
)  # fmt: skip
def test_a_map_may_work_in_place(body, left):
    assert shared(IN_PLACE % body) == left


def test_one_that_is_read_later_stays():
    assert shared(CHAIN % (", b <- t[l]", " + b")) == ["t", "u", "v"]


def test_other_shapes_stay_apart():
    text = CHAIN % ("", "")
    assert shared(text.replace("data v: f64[N]", "data v: f64[N + 1]")) == ["t", "u", "v"]


def test_a_loop_counts_as_a_whole():
    text = """
    sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
      data t: f64[N] transient
      data u: f64[N] transient
      state { copy A[0:N] -> t[0:N] }
      loop s = 0:3 {
        state { copy t[0:N] -> u[0:N] }
        state { map i = 0:N { tasklet (a <- u[i]) -> (o -> t[i]) { o = a + 1.0 } } }
      }
      state { copy t[0:N] -> B[0:N] }
    }"""
    assert shared(text) == ["t", "u"]


def test_views_keep_their_base():
    text = CHAIN % ("", "")
    text = text.replace("data v: f64[N] transient", "data v: f64[N] transient\n view w: f64[N] of t[0:N]")
    text = text.replace("a <- v[l]", "a <- v[l], b <- w[l]").replace("{ o = a }", "{ o = a + b }")
    assert shared(text) == ["t", "u", "v", "w"]


ON_DEVICE = """
    sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
      data gpu_A: f64[N] transient @global
      data gpu_B: f64[N] transient @global
      data t: f64[N] transient @global
      data u: f64[N] transient @global
      data v: f64[N] transient @global
      state {
        copy A[0:N] -> gpu_A[0:N]
        map i = 0:N @grid { tasklet (a <- gpu_A[i]) -> (o -> t[i]) { o = a + 1.0 } }
        map j = 0:N @grid { tasklet (a <- t[N - 1 - j]) -> (o -> u[j]) { o = a * 2.0 } }
        map k = 0:N @grid { tasklet (a <- u[N - 1 - k]) -> (o -> v[k]) { o = a - 3.0 } }
        map l = 0:N @grid { tasklet (a <- v[N - 1 - l]) -> (o -> gpu_B[l]) { o = a } }
        copy gpu_B[0:N] -> B[0:N]
      }
    }"""


def test_what_holds_a_container_of_the_host_on_a_device_holds_no_other():
    assert shared(ON_DEVICE) == ["gpu_A", "gpu_B", "t", "u"]
