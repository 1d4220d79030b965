"""NodeSplitting: shape, value, refusal, and what is fused behind it."""

import numpy as np
import pytest

import dcpy
from dcpy.transforms.fusion.map_fusion import MapFusion
from dcpy.transforms.fusion.node_splitting import NodeSplitting
from tests.support.expect import expect, parse
from tests.support.oracles import check_same


def program(reads="a <- A[i, k], b <- A[k, j]", target="A[p, q]", more="", domain="i = 0:N, j = 0:N", loop="0:N"):
    return parse(f"""
        sdfg @f(A: f64[N, N], B: f64[N], C: f64[2, N, N]) symbols(N: size) {{
          loop k = {loop} {{
            data t: f64[N, N] transient
            state {{
              map {domain} {{ tasklet ({reads}) -> (o -> t[i, j]{more}) {{ o = a + 2.0 * b }} }}
              map p = 0:N, q = 0:N {{
                tasklet (a <- A[p, q], b <- t[p, q]) -> (o -> {target}) {{ o = min(a, b) }}
              }}
            }}
          }}
        }}""")


SPLIT = """
    sdfg @f(A: f64[N, N], B: f64[N], C: f64[2, N, N]) symbols(N: size) {{
      loop k = 0:N {{
        data t: f64[N, N] transient
        data ahead: f64[N] transient
        data ahead_1: f64[N] transient
        state {{
          copy A[0:N, k] -> ahead[0:N]
          copy A[k, 0:N] -> ahead_1[0:N]
          map i = 0:N, j = 0:N {{ tasklet (a <- ahead[i], b <- ahead_1[j]) -> (o -> t[i, j]) {{ o = a + 2.0 * b }} }}
          map p = 0:N, q = 0:N {{ tasklet (a <- A[p, q], b <- t[p, q]) -> (o -> A[p, q]) {{ o = min(a, b) }} }}
        }}
      }}
    }}""".format()


def test_what_conflicts_is_copied():
    expect(NodeSplitting(), on=program()).becomes(SPLIT).same_values(N=[0, 1, 4])


def test_then_the_maps_can_be_fused():
    expect(MapFusion(), on=program()).is_refused("another one writes A")
    expect(MapFusion(), on=parse(SPLIT)).becomes("""
        sdfg @f(A: f64[N, N], B: f64[N], C: f64[2, N, N]) symbols(N: size) {
          loop k = 0:N {
            data ahead: f64[N] transient
            data ahead_1: f64[N] transient
            state {
              copy A[0:N, k] -> ahead[0:N]
              copy A[k, 0:N] -> ahead_1[0:N]
              map i = 0:N, j = 0:N {
                data t: f64 transient
                tasklet (a <- ahead[i], b <- ahead_1[j]) -> (o -> t) { o = a + 2.0 * b }
                tasklet (a <- A[i, j], b <- t) -> (o -> A[i, j]) { o = min(a, b) }
              }
            }
          }
        }""").same_values(N=[0, 1, 4])


def test_a_shifted_row_is_copied_as_far_as_it_is_read():
    on = parse("""
        sdfg @f(A: f64[N, N]) symbols(N: size {least = 2}) {
          data t: f64[N, N - 1] transient
          state {
            map i = 0:N, j = 0:N - 1 { tasklet (b <- A[0, j + 1]) -> (o -> t[i, j]) { o = b } }
            map p = 0:N, q = 0:N - 1 { tasklet (b <- t[p, q]) -> (o -> A[p, q]) { o = b } }
          }
        }""")
    expect(NodeSplitting(), on=on).becomes("""
        sdfg @f(A: f64[N, N]) symbols(N: size {least = 2}) {
          data t: f64[N, N - 1] transient
          data ahead: f64[N - 1] transient
          state {
            copy A[0, 1:N] -> ahead[0:N - 1]
            map i = 0:N, j = 0:N - 1 { tasklet (b <- ahead[j]) -> (o -> t[i, j]) { o = b } }
            map p = 0:N, q = 0:N - 1 { tasklet (b <- t[p, q]) -> (o -> A[p, q]) { o = b } }
          }
        }""").same_values(N=[2, 5])


REFUSED = {
    "the maps can be fused as they are": program(target="C[0, p, q]", reads="a <- C[1, i, k], b <- B[j]"),
    "nothing that the second one changes at fewer points": program(target="C[0, p, q]"),
    "another one writes A": program(reads="a <- A[i, k], b <- A[j, i]"),  # as large as the temporary
    "is no box": program(reads="a <- A[i, i], b <- B[j]"),
    "is not proved to be inside of 'A'": program(loop="0:N + 1"),
    "iteration spaces differ": program(domain="i = 0:N - 1, j = 0:N"),
}


@pytest.mark.parametrize(("reason", "on"), REFUSED.items(), ids=REFUSED)
def test_what_is_not_copied(reason, on):
    expect(NodeSplitting(), on=on).is_refused(reason)


def closure(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def test_a_program_needs_no_temporary_of_its_size():
    text = str(dcpy.program(closure, auto_optimize=True).to_sdfg(np.zeros((5, 5))))
    assert "ahead" in text


@pytest.mark.cc
def test_the_compiled_program_is_numpys():
    rng = np.random.default_rng(3)
    for shape in ((1, 1), (17, 17), (5, 9)):
        check_same(closure, rng.integers(0, 99, shape).astype(np.int32), optimized=True)
    check_same(closure, rng.random((9, 9)), optimized=True)
