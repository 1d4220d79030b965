"""LoopsIntoTiles: loops, maps and copies in a row share tiles, and what only they touch is an array of the tile."""

import numpy as np
import pytest

import dcpy
from dcpy.transforms.cpu.loops_into_tiles import LoopsIntoTiles
from tests.support.passes import Passed


def tiled(text):
    return Passed(text, LoopsIntoTiles())


SWEEPS = """
    sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {
      data c: f64[N, M] transient
      data d: f64[N] transient
      check M - 1 >= 0 else IndexError "no column" ()
      state { map i = 0:N { tasklet (a <- A[i, 0]) -> (o -> c[i, 0]) { o = 0.5 * a } } }
      loop k = 1:M {
        state { map i = 0:N { tasklet (a <- A[i, k], b <- c[i, k - 1]) -> (o -> c[i, k]) { o = a - 0.5 * b } } }
      }
      state { copy c[0:N, M - 1] -> d[0:N] }
      loop l = M - 1:-1:-1 {
        state {
          map i = 0:N { tasklet (a <- c[i, l], b <- d[i]) -> (o -> B[i, l]) { o = a * b } }
          map j = 0:N { tasklet (b <- B[j, l]) -> (o -> d[j]) { o = b + 1.0 } }
        }
      }
    }"""


def test_sweeps_in_a_row_run_in_one_tile_and_what_they_alone_touch_has_its_points_next_to_each_other():
    tiled(SWEEPS).becomes("""
        sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {
          check M - 1 >= 0 else IndexError "no column" ()
          state {
            map i_tile = 0:N:8 {
              data c: f64[M, 8] transient
              data d: f64[8] transient
              state {
                map i = i_tile:min(N, i_tile + 8) {
                  tasklet (a <- A[i, 0]) -> (o -> c[0, i - i_tile]) { o = 0.5 * a }
                }
              }
              loop k = 1:M {
                state {
                  map i_1 = i_tile:min(N, i_tile + 8) {
                    tasklet (a <- A[i_1, k], b <- c[k - 1, i_1 - i_tile]) -> (o -> c[k, i_1 - i_tile]) {
                      o = a - 0.5 * b
                    }
                  }
                }
              }
              state {
                map i_2 = i_tile:min(N, i_tile + 8) {
                  tasklet (a <- c[M - 1, i_2 - i_tile]) -> (out -> d[i_2 - i_tile]) { out = a }
                }
              }
              loop l = M - 1:-1:-1 {
                state {
                  map i_3 = i_tile:min(N, i_tile + 8) {
                    tasklet (a <- c[l, i_3 - i_tile], b <- d[i_3 - i_tile]) -> (o -> B[i_3, l]) { o = a * b }
                    tasklet (b <- B[i_3, l]) -> (o -> d[i_3 - i_tile]) { o = b + 1.0 }
                  }
                }
              }
            }
          }
        }""").same_values(N=[1, 8, 19], M=[1, 2, 5]).says("in tiles of 8 along i, which memory does not follow, with 3")


@pytest.mark.cc
def test_sweeps_in_a_row_compute_what_they_did(tmp_path):
    def sweeps(a, b):
        c = np.empty(a.shape)
        c[:, 0] = 0.5 * a[:, 0]
        for k in range(1, a.shape[1]):
            c[:, k] = a[:, k] - c[:, k - 1] / (2.0 + c[:, k - 1])
        d = c[:, -1] * 2.0
        for k in range(a.shape[1] - 1, -1, -1):
            d[:] = c[:, k] - 0.25 * d
            b[:, k] = d

    program = dcpy.program(sweeps, auto_optimize=True)
    for rows, columns in ((1, 1), (8, 3), (37, 11)):
        a = np.random.default_rng(0).random((rows, columns))
        mine, theirs = np.zeros_like(a), np.zeros_like(a)
        program(a, mine)
        sweeps(a, theirs)
        np.testing.assert_array_equal(mine, theirs)


BESIDE = """
    sdfg @f(A: f64[N, M], B: f64[N, M], x: f64[N], y: f64[N]) symbols(N: size, M: size) {{
      data c: f64[N] transient
      state {{ {before} }}
      loop k = 1:M {{ state {{ map i = 0:N {{ tasklet (a <- A[i, k - 1]) -> (o -> A[i, k]) {{ o = 0.5 * a }} }} }} }}
      {behind}
    }}"""
NEXT = "state {{ map j = 0:N {{ tasklet (a <- {}) -> (o -> B[j, 0]) {{ o = a }} }} }}"


def blocks_of(text):
    return [block.kind for block in Passed(text, LoopsIntoTiles()).after.body.blocks]


@pytest.mark.parametrize(
    ("before", "behind", "kinds"),
    [
        ("", NEXT.format("A[j, 0]"), ["state", "state"]),  # joins: the empty state does not
        ("", NEXT.format("A[N - 1 - j, 0]"), ["state", "state", "state"]),  # points meet in A
        ("", NEXT.format("A[j, 0]").replace("0:N", "0:N - 1"), ["state", "state", "state"]),  # fewer points
        ("", "state { map j = 0:M { tasklet (a <- A[0, j]) -> (o -> B[0, j]) { o = a } } }", ["state"] * 3),  # others
        ("", "let m = M - 1 " + NEXT.format("A[j, m]"), ["state", "state", "assign", "state"]),  # no map
        ("copy x[0:N] -> x[0:N]", NEXT.format("x[j]"), ["state", "state"]),  # a copy onto itself is none
        ("copy x[0:N] -> c[0:N]", NEXT.format("c[j]"), ["state"]),  # a copy is a map, too
    ],
)
def test_neighbours_join_where_points_stay_apart(before, behind, kinds):
    text = BESIDE.format(before=before, behind=behind)
    assert blocks_of(text) == kinds
    Passed(text, LoopsIntoTiles()).same_values(N=[1, 9], M=[1, 4])


def test_of_a_state_only_the_maps_next_to_the_loop_join():
    passed = tiled("""
        sdfg @f(A: f64[N, M], x: f64[N], y: f64[M]) symbols(N: size, M: size) {
          loop k = 1:M { state { map i = 0:N { tasklet (a <- A[i, k - 1]) -> (o -> A[i, k]) { o = 0.5 * a } } } }
          state {
            map i = 0:N { tasklet (a <- A[i, M - 1]) -> (o -> x[i]) { o = a } }
            map j = 0:M { tasklet (a <- A[0, j]) -> (o -> y[j]) { o = a } }
            map l = 0:N { tasklet (a <- x[l]) -> (o -> x[l]) { o = a + 1.0 } }
          }
        }""").same_values(N=[1, 9], M=[1, 4])
    (row, rest) = passed.after.body.blocks
    assert [len(row.nodes), len(rest.nodes)] == [1, 2]


def test_what_an_earlier_run_left_is_no_array_of_the_tile():
    passed = tiled("""
        sdfg @f(A: f64[N, M], x: f64[N], T) symbols(N: size, M: size, T: i64) {
          data c: f64[N] transient
          data d: f64[N] transient
          state { map h = 0:N { tasklet () -> (o -> c[h]) { o = 0.0 } } }
          loop t = 0:T {
            loop k = 1:M {
              state { map i = 0:N { tasklet (a <- A[i, k - 1], b <- c[i]) -> (o -> A[i, k]) { o = a + b } } }
            }
            state {
              map l = 0:N { tasklet (a <- A[l, 0], b <- c[l]) -> (o -> d[l]) { o = a + b } }
              map j = 0:N { tasklet (a <- d[j]) -> (o -> c[j]) { o = 0.5 * a } }
            }
          }
        }""").same_values(N=[1, 9], M=[1, 4], T=[0, 3])
    assert "data c: f64[N]" in passed.text  # what one time step hands to the next
    assert "data d: f64 transient" in passed.text


HALVES = """
    sdfg @f(A: f64[N, M], B: f64[N, M], x: f64[N], y: f64[M], T) symbols(N: size, M: size, T: i64) {{
      data p: f64[N, M] transient
      check M - 3 >= 0 else IndexError "too few" ()
      loop t = 0:T {{
        state {{ map i = 0:N {{ tasklet (a <- A[i, 0]) -> (o -> p[i, 0]) {{ o = 0.5 * a }} }} }}
        loop k = 1:M {{
          state {{ map l = 0:N {{ tasklet (a <- A[l, k], b <- p[l, k - 1]) -> (o -> p[l, k]) {{ o = a - 0.5 * b }} }} }}
        }}
        loop m = M - 1:-1:-1 {{
          state {{ map n = 0:N {{ tasklet (a <- p[n, m]) -> (o -> B[n, m]) {{ o = a + 1.0 }} }} }}
        }}
        state {{ map z = 0:M {{ tasklet (a <- {between}) -> (o -> y[z]) {{ o = a }} }} }}
        {second}
      }}
    }}"""
BACK = """
    state { map c = 0:N { tasklet (a <- B[c, 0]) -> (o -> p[c, M - 1]) { o = a } } }
    state { map d = 0:N { tasklet (a <- B[d, 1]) -> (o -> p[d, M - 2]) { o = a } } }
    loop e = M - 3:-1:-1 {
      state { map f = 0:N { tasklet (a <- p[f, e + 1], b <- p[f, e + 2]) -> (o -> p[f, e]) { o = a + b } } }
    }
    loop g = 0:M { state { map h = 0:N { tasklet (a <- p[h, g]) -> (o -> A[h, g]) { o = 0.5 * a } } } }
    """


def test_an_array_that_two_rows_fill_anew_is_two_arrays_of_tiles():
    passed = tiled(HALVES.format(between="B[0, z]", second=BACK)).same_values(N=[1, 9], M=[3, 5], T=[0, 2])
    arrays = [line.strip() for line in passed.text.splitlines() if "data p" in line]
    assert arrays == ["data p_1: f64[M, 8] transient", "data p: f64[M, 8] transient"]


@pytest.mark.parametrize(
    ("between", "second"),
    [
        ("p[0, z]", BACK),  # somebody else reads what the first row wrote
        ("B[0, z]", BACK.replace("p[d, M - 2]", "B[d, 2]")),  # the second one reads an element that the first one wrote
        ("B[0, z]", BACK.replace("b <- p[f, e + 2]", "b <- p[f, e]")),  # in a loop
        ("B[0, z]", BACK.replace("loop g = 0:M", "loop g = 0:M - 1").replace("p[h, g]", "p[h, M - 1 - g]", 1)),
        ("B[0, z]", BACK.replace("o -> p[f, e]", "o -> p[f, e] (add)")),  # it is added to what was there
        ("B[0, z]", "loop e = 0:M { state { map f = 0:N { tasklet (a <- p[f, e]) -> (o -> A[f, e]) { o = a } } } }"),
    ],
)
def test_an_array_in_which_a_row_leaves_something_stays_one(between, second):
    passed = tiled(HALVES.format(between=between, second=second))
    wanted = "0:M - 1" not in second  # reads in another order are followed, too
    assert ("data p: f64[N, M] transient" in passed.text) == wanted
    passed.same_values(N=[9], M=[3, 5], T=[2])


SUMS = """
    sdfg @f(A: f64[N, M], B: f64[N, M], y: f64[N]) symbols(N: size, M: size) {{
      data c: f64[N, M] transient
      check M >= 1 else IndexError "no column" ()
      state {{ map i = 0:N {{ tasklet (a <- A[i, 0]) -> (o -> c[i, 0]) {{ o = 0.5 * a }} }} }}
      loop k = 1:M {{
        state {{ map i = 0:N {{ tasklet (a <- A[i, k], b <- c[i, k - 1]) -> (o -> c[i, k]) {{ o = a - 0.5 * b }} }} }}
      }}
      state {{
        map r = 0:N, q = 0:M {{ tasklet (c <- {read}, a <- A[r, q]) -> (o -> B[r, q]) {{ o = c + a }} }}
        {more}
      }}
    }}"""
MORE = "tasklet (b <- B[0, 0]) -> (o -> y[0]) { o = b }"


def test_a_map_behind_the_row_that_reads_what_it_fills_is_a_loop_of_it():
    tiled(SUMS.format(read="c[r, q]", more=MORE)).becomes("""
        sdfg @f(A: f64[N, M], B: f64[N, M], y: f64[N]) symbols(N: size, M: size) {
          check M >= 1 else IndexError "no column" ()
          state {
            map i_tile = 0:N:8 {
              data c: f64[M, 8] transient
              state {
                map i = i_tile:min(N, i_tile + 8) {
                  tasklet (a <- A[i, 0]) -> (o -> c[0, i - i_tile]) { o = 0.5 * a }
                }
              }
              loop k = 1:M {
                state {
                  map i_1 = i_tile:min(N, i_tile + 8) {
                    tasklet (a <- A[i_1, k], b <- c[k - 1, i_1 - i_tile]) -> (o -> c[k, i_1 - i_tile]) {
                      o = a - 0.5 * b
                    }
                  }
                }
              }
              loop q = 0:M {
                state {
                  map i_2 = i_tile:min(N, i_tile + 8) {
                    tasklet (c <- c[q, i_2 - i_tile], a <- A[i_2, q]) -> (o -> B[i_2, q]) { o = c + a }
                  }
                }
              }
            }
          }
          state { tasklet (b <- B[0, 0]) -> (o -> y[0]) { o = b } }
        }""").same_values(N=[1, 8, 19], M=[1, 2, 5]).says("with 2 blocks beside it")


def test_of_two_dimensions_as_large_the_loop_goes_over_that_which_is_no_points():
    square = SUMS.format(read="c[r, q]", more="").replace("M: size", "").replace("size, ", "size").replace("M", "N")
    assert "loop q = 0:N" in tiled(square).same_values(N=[1, 8, 11]).text
    turned = square.replace("r = 0:N, q = 0:N", "q = 0:N, r = 0:N")
    assert "loop q = 0:N" in tiled(turned).same_values(N=[1, 8, 11]).text


@pytest.mark.parametrize(
    "text",
    [
        SUMS.format(read="c[N - 1 - r, q]", more=""),  # what another point has
        SUMS.format(read="y[r]", more=""),  # nothing that the row fills
        SUMS.format(read="c[r, q]", more="").replace("q = 0:M {", "q = 0:M:2 {"),
    ],
)
def test_other_maps_stay_behind_the_row(text):
    assert "map r = 0:N, q = 0:M" in tiled(text).same_values(N=[1, 9], M=[1, 4]).text


@pytest.mark.cc
@pytest.mark.parametrize("shape", [(2, 2), (3, 70), (70, 3), (65, 65)])
def test_smoothing_to_and_fro_computes_what_it_did(shape):
    def smoothed(image):
        to, fro = np.empty_like(image), np.empty_like(image)
        to[:, 0] = image[:, 0]
        for j in range(1, image.shape[1]):
            to[:, j] = 0.25 * image[:, j] + 0.5 * to[:, j - 1]
        fro[:, -1] = 0.0
        for j in range(image.shape[1] - 2, -1, -1):
            fro[:, j] = image[:, j + 1] + 0.5 * fro[:, j + 1]
        out = to + fro
        to[0, :] = out[0, :]
        for i in range(1, image.shape[0]):
            to[i, :] = out[i, :] + 0.5 * to[i - 1, :]
        out[:] = to * 0.125
        return out

    image = np.random.default_rng(0).integers(0, 9, shape).astype(float)
    np.testing.assert_array_equal(dcpy.program(smoothed, auto_optimize=True)(image), smoothed(image))
