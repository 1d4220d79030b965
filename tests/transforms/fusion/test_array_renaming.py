"""ArrayRenaming: shape, value, refusal, and what is fused behind it."""

import numpy as np
import pytest

import dcpy
from dcpy.transforms.fusion.array_renaming import ArrayRenaming
from dcpy.transforms.fusion.map_fusion import MapFusion
from dcpy.transforms.fusion.map_inlining import MapInlining
from tests.support.expect import expect, parse
from tests.support.oracles import check_same


def program(
    first="(a <- A[i]) -> (o -> B[i]) { o = a * a }",
    second="(b <- B[j]) -> (o -> B[j]) { o = sqrt(b) }",
    domain="0:N",
    between="",
):
    return parse(f"""
        sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size) {{
          state {{
            map i = {domain} {{ tasklet {first} }}
            {between}
            map j = {domain} {{ tasklet {second} }}
          }}
        }}""")


RENAMED = """
    sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size) {
      data B_first: f64[N] transient
      state {
        map i = 0:N { tasklet (a <- A[i]) -> (o -> B_first[i]) { o = a * a } }
        map j = 0:N { tasklet (b <- B_first[j]) -> (o -> B[j]) { o = sqrt(b) } }
      }
    }"""


def test_the_value_that_is_updated_has_an_array_of_its_own():
    expect(ArrayRenaming(), on=program()).becomes(RENAMED).same_values(N=[0, 1, 7])


def test_then_nothing_of_it_is_left():
    expect(MapFusion(), on=program()).is_refused("'B' must stay in memory: it is an argument, a result, or has views")
    expect(MapFusion(), on=parse(RENAMED)).becomes("""
        sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size) {
          state {
            map i = 0:N {
              data B_first: f64 transient
              tasklet (a <- A[i]) -> (o -> B_first) { o = a * a }
              tasklet (b <- B_first) -> (o -> B[i]) { o = sqrt(b) }
            }
          }
        }""").same_values(N=[0, 1, 7])
    expect(MapInlining(), on=parse(RENAMED)).applies().same_values(N=[0, 1, 7])


def test_a_part_of_an_array_counts_from_its_beginning():
    expect(ArrayRenaming(), on=program(domain="2:N")).becomes("""
        sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size) {
          data B_first: f64[N - 2] transient
          state {
            map i = 2:N { tasklet (a <- A[i]) -> (o -> B_first[i - 2]) { o = a * a } }
            map j = 2:N { tasklet (b <- B_first[j - 2]) -> (o -> B[j]) { o = sqrt(b) } }
          }
        }""").same_values(N=[2, 3, 7])
    expect(ArrayRenaming(inline=True), on=program(domain="2:N")).is_refused("does not begin with 0")


def test_an_update_of_an_update():
    on = program(first="(a <- A[i], b <- B[i]) -> (o -> B[i]) { o = a + b }")
    expect(ArrayRenaming(), on=on).becomes("""
        sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size) {
          data B_first: f64[N] transient
          state {
            map i = 0:N { tasklet (a <- A[i], b <- B[i]) -> (o -> B_first[i]) { o = a + b } }
            map j = 0:N { tasklet (b <- B_first[j]) -> (o -> B[j]) { o = sqrt(b) } }
          }
        }""").same_values(N=[0, 1, 7])
    expect(ArrayRenaming(inline=True), on=on).is_refused("it reads what it writes")


def test_transposed_points_match():
    on = parse("""
        sdfg @f(A: f64[N, M], B: f64[M, N]) symbols(N: size, M: size) {
          state {
            map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> B[j, i]) { o = a * a } }
            map p = 0:M, q = 0:N { tasklet (b <- B[p, q]) -> (o -> B[p, q]) { o = b + 1.0 } }
          }
        }""")
    expect(ArrayRenaming(), on=on).becomes("""
        sdfg @f(A: f64[N, M], B: f64[M, N]) symbols(N: size, M: size) {
          data B_first: f64[N, M] transient
          state {
            map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> B_first[i, j]) { o = a * a } }
            map p = 0:M, q = 0:N { tasklet (b <- B_first[q, p]) -> (o -> B[p, q]) { o = b + 1.0 } }
          }
        }""").same_values(N=[0, 1, 4], M=[1, 3])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"second": "(b <- B[j]) -> (o -> C[j]) { o = b }"}, "the second map does not write 'B'"),
        ({"second": "(a <- A[j], b <- B[0]) -> (o -> B[j]) { o = a + b }"}, "does not read just the element"),
        ({"second": "(b <- B[N - j - 1]) -> (o -> B[j]) { o = b }"}, "does not read just the element"),
        ({"second": "(b <- B[j]) -> (o -> B[j] (add)) { o = b }"}, "does not write just one element"),
        ({"first": "(a <- A[i]) -> (o -> B[N - i - 1]) { o = a }"}, "another one reads B[i]"),
        ({"first": "(a <- A[i]) -> (o -> B[i], p -> B[i]) { o = a; p = a }"}, "does not write just one element"),
        ({"between": "map k = 0:N { tasklet (b <- B[k]) -> (o -> C[k]) { o = b } }"}, "a node between the maps"),
    ],
)
def test_refusals(changed, reason):
    expect(ArrayRenaming(), on=program(**changed)).is_refused(reason)


def test_two_readers_would_each_compute_it():
    on = program(second="(b <- B[j]) -> (o -> C[j]) { o = b } tasklet (b <- B[j]) -> (o -> B[j]) { o = sqrt(b) }")
    expect(ArrayRenaming(inline=True), on=on).is_refused("'B' is read by 2 tasklets")
    expect(ArrayRenaming(), on=on).applies().same_values(N=[0, 1, 7])


def test_what_only_the_two_maps_need_is_for_fusion():
    on = parse("""
        sdfg @f(A: f64[N]) symbols(N: size) {
          data t: f64[N] transient
          state {
            map i = 0:N { tasklet (a <- A[i]) -> (o -> t[i]) { o = a } }
            map j = 0:N { tasklet (b <- t[j]) -> (o -> t[j]) { o = b * b } }
          }
        }""")
    expect(ArrayRenaming(), on=on).is_refused("no other statement uses 't'")


def in_place(a, b, c, out):
    np.multiply(a, b, out=out)
    out += c
    np.sqrt(out, out=out)


@pytest.mark.parametrize("auto", [False, True])
def test_updates_in_place_are_one_pass(auto):
    a, b, c, out = np.random.default_rng(0).random((4, 5, 7))
    sdfg = dcpy.program(in_place).to_sdfg(a, b, c, out)
    if auto:
        sdfg.auto_optimize()
    text = str(sdfg.lower())
    assert text.count("sqrt") == 1
    assert "out_in <- out" not in text, "the array is read back"


@pytest.mark.cc
def test_values_are_numpys():
    def part(a, out):
        out[1:-1, 2:] = a[1:-1, 2:] * 3
        out[1:-1, 2:] -= 1
        out += a
        out[:] = out / 2

    a, b, c, out = np.random.default_rng(0).random((4, 5, 7))
    check_same(in_place, a, b, c, out, optimized=True)
    check_same(part, a, out, optimized=True)
