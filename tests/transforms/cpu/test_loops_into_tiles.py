"""LoopsIntoTiles: tiles of points go around a loop where no point sees another one; else the loop stays outside."""

from random import Random

import pytest

from dcpy.ir.machine_model import Costs
from dcpy.transforms.cpu.loops_into_tiles import LoopsIntoTiles
from tests.support.passes import Passed


def tiled(text):
    return Passed(text, LoopsIntoTiles())


def test_a_recurrence_of_rows_runs_in_tiles_of_columns():
    tiled("""
        sdfg @f(A: f64[N, M]) symbols(N: size, M: size) {
          loop t = 1:N {
            data u: f64[M] transient
            state {
              map i = 0:M { tasklet (a <- A[t - 1, i]) -> (o -> u[i]) { o = 0.5 * a } }
              map j = 0:M { tasklet (a <- A[t, j], b <- u[j]) -> (o -> A[t, j]) { o = a + b } }
            }
          }
        }""").becomes("""
        sdfg @f(A: f64[N, M]) symbols(N: size, M: size) {
          state {
            map i_tile = 0:M:256 {
              loop t = 1:N {
                state {
                  map i = i_tile:min(M, i_tile + 256) {
                    data u: f64 transient
                    tasklet (a <- A[t - 1, i]) -> (o -> u) { o = 0.5 * a }
                    tasklet (a <- A[t, i], b <- u) -> (o -> A[t, i]) { o = a + b }
                  }
                }
              }
            }
          }
        }""").same_values(N=[0, 1, 4], M=[1, 255, 257]).says("runs in tiles of 256 along i")


def test_tiles_are_as_long_as_a_vector_where_the_loop_walks_through_memory():
    tiled("""
        sdfg @f(A: f64[N, M]) symbols(N: size, M: size) {
          loop t = M - 2:-1:-1 {
            state { map i = 0:N { tasklet (a <- A[i, t + 1], b <- A[i, t]) -> (o -> A[i, t]) { o = a * b } } }
          }
        }""").becomes("""
        sdfg @f(A: f64[N, M]) symbols(N: size, M: size) {
          state {
            map i_tile = 0:N:8 {
              loop t = M - 2:-1:-1 {
                state {
                  map i = i_tile:min(N, i_tile + 8) {
                    tasklet (a <- A[i, t + 1], b <- A[i, t]) -> (o -> A[i, t]) { o = a * b }
                  }
                }
              }
            }
          }
        }""").same_values(N=[1, 8, 17], M=[1, 2, 5]).says("which memory does not follow")


def test_what_touches_complex_numbers_keeps_a_map_of_its_own():
    tiled("""
        sdfg @f(Z: c128[N, M], C: c128[N, M], K: i64[N, M]) symbols(N: size, M: size) {
          loop t = 0:4 {
            data m: bool[N, M] transient
            state {
              map i = 0:N, j = 0:M { tasklet (z <- Z[i, j]) -> (o -> m[i, j]) { o = cabs(z) < f64(t) } }
              map k = 0:N, l = 0:M { tasklet (c <- m[k, l], n <- K[k, l]) -> (o -> K[k, l]) { o = select(c, t, n) } }
              map p = 0:N, q = 0:M {
                tasklet (c <- m[p, q], z <- Z[p, q], a <- C[p, q]) -> (o -> Z[p, q]) { o = select(c, z * z + a, z) }
              }
            }
          }
        }""").becomes("""
        sdfg @f(Z: c128[N, M], C: c128[N, M], K: i64[N, M]) symbols(N: size, M: size) {
          state {
            map i = 0:N, j_tile = 0:M:256 {
              loop t = 0:4 {
                data m: bool[256] transient
                state {
                  map j = j_tile:min(M, j_tile + 256) {
                    tasklet (z <- Z[i, j]) -> (o -> m[j - j_tile]) { o = cabs(z) < f64(t) }
                  }
                }
                state {
                  map j_1 = j_tile:min(M, j_tile + 256) {
                    tasklet (c <- m[j_1 - j_tile], n <- K[i, j_1]) -> (o -> K[i, j_1]) { o = select(c, t, n) }
                  }
                }
                state {
                  map j_2 = j_tile:min(M, j_tile + 256) {
                    tasklet (c <- m[j_2 - j_tile], z <- Z[i, j_2], a <- C[i, j_2]) -> (o -> Z[i, j_2]) {
                      o = select(c, z * z + a, z)
                    }
                  }
                }
              }
            }
          }
        }""").same_values(N=[1], M=[2, 257])


def test_points_are_left_when_nothing_of_them_changes_any_more():
    tiled("""
        sdfg @f(Z: c128[N], C: c128[N], K: i64[N], h: f64) symbols(N: size) {
          loop t = 0:9 {
            data m: bool[N] transient
            state {
              map i = 0:N {
                data s: f64 transient
                tasklet (z <- Z[i]) -> (o -> s) { o = cabs(z) }
                tasklet (a <- s, b <- h) -> (o -> m[i]) { o = a < b }
              }
              map k = 0:N { tasklet (c <- m[k], n <- K[k]) -> (o -> K[k]) { o = select(c, t, n) } }
              map p = 0:N { tasklet (c <- m[p], z <- Z[p], a <- C[p]) -> (o -> Z[p]) { o = select(c, z * z + a, z) } }
            }
          }
        }""").becomes("""
        sdfg @f(Z: c128[N], C: c128[N], K: i64[N], h: f64) symbols(N: size) {
          state {
            map i = 0:N {
              data own: c128 transient
              state { tasklet (a <- Z[i]) -> (out -> own) { out = a } }
              loop t = 0:9 {
                data s: f64 transient
                data m: bool transient
                state {
                  tasklet (z <- own) -> (o -> s) { o = cabs(z) }
                  tasklet (a <- s, b <- h) -> (o -> m) { o = a < b }
                }
                if not m[] { break }
                state {
                  tasklet () -> (o -> K[i]) { o = t }
                  tasklet (z <- own, a <- C[i]) -> (o -> own) { o = z * z + a }
                }
              }
              state { tasklet (a <- own) -> (out -> Z[i]) { out = a } }
            }
          }
        }""").same_values(N=[1, 9]).says("the loop over t runs at each point until 'm' is false")


CHOOSING = """
    sdfg @f(Z: c128[N], C: c128[N], K: i64[N], w: f64[9]) symbols(N: size) {{
      loop t = 0:9 {{
        data m: bool[N] transient
        {more}
        state {{ map p = 0:N {{ {body} }} }}
      }}
    }}"""
FLAG = "tasklet (z <- Z[p]) -> (o -> m[p]) { o = cabs(z) < 2.0 } "
STEP = "tasklet (c <- m[p], z <- Z[p], a <- C[p]) -> (o -> Z[p]) { o = select(c, z * z + a, z) } "


@pytest.mark.parametrize(
    "body",
    [
        FLAG.replace("2.0", "f64(t)") + STEP,  # it depends on the number of the iteration
        FLAG.replace("(z <- Z[p])", "(z <- Z[p], b <- w[t])").replace("2.0", "b") + STEP,  # on another element in each
        FLAG + STEP.replace("a, z)", "a, z + a)"),  # what it does not choose changes, too
        FLAG + STEP.replace("a, z)", "a, a)"),  # another element is kept
        FLAG + STEP + "tasklet (n <- K[p]) -> (o -> K[p]) { o = n + 1 }",  # something changes always
        FLAG + FLAG.replace("m[p]", "l[p]") + STEP + STEP.replace("m[p]", "l[p]"),  # two flags
        FLAG + STEP + FLAG,  # the flag is computed twice
    ],
)
def test_points_that_may_change_again_are_not_left(body):
    more = "data l: bool[N] transient" if "l[p]" in body else ""
    passed = Passed(CHOOSING.format(body=body, more=more), LoopsIntoTiles()).same_values(N=[1, 9])
    assert "break" not in passed.text
    assert "_tile" in passed.text


def test_numbers_of_an_iteration_are_computed_in_each_tile_once():
    passed = tiled("""
        sdfg @f(A: f64[N], w: f64[T]) symbols(N: size, T: size) {
          loop t = 0:T {
            data c: f64 transient
            state {
              tasklet (x <- w[t]) -> (o -> c) { o = 2.0 * x }
              map i = 0:N { tasklet (a <- A[i], f <- c) -> (o -> A[i]) { o = a * f } }
            }
          }
        }""")
    passed.same_values(N=[1, 300], T=[0, 3]).says("runs in tiles of 256 along i")
    assert passed.text.index("tasklet (x <- w[t])") < passed.text.index("map i = i_tile")


def test_what_points_share_is_computed_again_by_each():
    passed = tiled("""
        sdfg @f(A: f64[N], w: f64[P]) symbols(N: size, P: size) {
          loop t = 0:5 {
            data u: f64[P] transient
            state {
              map i = 0:P { tasklet (a <- w[i]) -> (o -> u[i]) { o = a * f64(t) } }
              map j = 0:N { tasklet (a <- A[j], b <- u[min(j, P - 1)]) -> (o -> A[j]) { o = a + b } }
            }
          }
        }""").same_values(N=[1, 5], P=[1, 3])
    passed.says("'u' is recomputed at each point that reads it", "runs in tiles of 256 along j")
    assert "f64[P] transient" not in passed.text


def test_copies_are_maps():
    passed = tiled("""
        sdfg @f(A: f64[N], B: f64[T, N]) symbols(N: size, T: size) {
          loop t = 0:T {
            state {
              map i = 0:N { tasklet (a <- A[i]) -> (o -> A[i]) { o = a * 0.5 } }
              copy A[0:N] -> B[t, 0:N]
            }
          }
        }""").same_values(N=[1, 5], T=[0, 3])
    assert "copy" not in passed.text


BODY = """
    sdfg @f(A: f64[N, N], B: f64[N, N], s: f64[N], q: f64) symbols(N: size {{least = 3}}) {{
      loop t = 1:N - 1 {{ {body} }}
    }}"""

REFUSED = [
    (
        "state { map i = 1:N { tasklet (a <- A[t, i - 1]) -> (o -> A[t + 1, i]) { o = a } } }",
        "iterations that differ in i use the same element of 'A'",
    ),
    (
        "state { map i = 0:t { tasklet (a <- s[i]) -> (o -> s[i]) { o = a + 1.0 } } }",
        "the range 0:t differs between iterations",
    ),
    (
        "state { map i = 0:N, j = 0:N { tasklet (a <- A[i, j]) -> (o -> s[i] (add)) { o = a } } }",
        "iterations of map i, j add to the same element",
    ),
    (
        'check N - t > 1 else ValueError "no" '
        "state { map i = 0:N { tasklet (a <- s[i]) -> (o -> s[i]) { o = a + 1.0 } } }",
        "there is a check inside",
    ),
    (
        "state { map i = 0:N { map j = 0:N { tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a } } } }",
        "does more than tasklets",
    ),
    (
        "state { tasklet (a <- s[t]) -> (o -> q) { o = a } "
        "map i = 0:N { tasklet (a <- s[i], b <- q) -> (o -> s[i]) { o = a + b } } }",
        "writes what is not of an iteration",
    ),
    (
        "state { copy A[0:N, t] -> A[0:N, t + 1] "
        "map i = 0:N { tasklet (a <- A[i, t]) -> (o -> A[i, t]) { o = a + 1.0 } } }",
        "'A' may be copied onto itself",
    ),
    (
        "data u: f64[N, N] transient state { map i = 0:N { tasklet (a <- s[i]) -> (o -> u[i, t]) { o = a } } "
        "map j = 0:N { tasklet (a <- u[j, t]) -> (o -> s[j]) { o = a + 1.0 } } }",
        "each point would have an array 'u' of its own",
    ),
]


@pytest.mark.parametrize(("body", "reason"), REFUSED)
def test_the_loop_stays_outside(body, reason):
    passed = tiled(BODY.format(body=body)).says(reason, applied=False)
    assert "_tile" not in passed.text


def test_nothing_is_said_of_loops_without_maps():
    passed = tiled(BODY.format(body="state { tasklet (a <- s[t - 1]) -> (o -> s[t]) { o = a + 1.0 } }"))
    assert not passed.remarks


def test_copies_stay_where_the_loop_does():
    passed = tiled("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size {least = 2}) {
          loop t = 0:4 {
            state {
              map i = 1:N { tasklet (a <- B[i - 1]) -> (o -> A[i]) { o = a } }
              copy A[0:N] -> B[0:N]
            }
          }
        }""").same_values(N=[2, 5])
    assert "copy A[0:N] -> B[0:N]" in passed.text


def _random_loop(chosen):
    """A loop over one to four maps of random recurrences, mostly along the loop; sometimes across points."""

    def element(name, param, target):
        across = chosen.choice((-1, 1)) if name in "ABsw" and name != target and chosen.random() < 0.1 else 0
        return f"{name}[{param} + {across}" + (f", t + {chosen.choice((-1, 0, 1))}]" if name in "AB" else "]")

    known, body = ["A", "B", "s", "w"], []
    for number in range(chosen.randint(1, 4)):
        param, target = f"i{number}", chosen.choice(["A", "B", "s", "u", "v"])
        if chosen.random() < 0.15 and target in "suv":
            source = chosen.choice([name for name in known if name != target])
            part = "[1:N - 1, t]" if source in "AB" else "[1:N - 1]"
            body.append(f"copy {source}{part} -> {target}[1:N - 1]")
        else:
            first, second = (element(chosen.choice(known), param, target) for _ in range(2))
            into = f"{target}[{param}, t]" if target in "AB" else f"{target}[{param}]"
            tasklet = f"(a <- {first}, b <- {second}, f <- c) -> (o -> {into}) {{ o = 0.5 * a - b * f }}"
            body.append(f"map {param} = 1:N - 1 {{ tasklet {tasklet} }}")
        if target not in known:
            known.append(target)
    own = "".join(f"data {name}: f64[N] transient " for name in "uv" if name in known)
    return f"""
        sdfg @f(A: f64[N, M], B: f64[N, M], s: f64[N], w: f64[N])
        symbols(N: size {{least = 2}}, M: size {{least = 2}}) {{
          loop t = 1:M - 1 {{
            data c: f64 transient {own}
            state {{ tasklet (x <- w[0]) -> (o -> c) {{ o = x + f64(t) }} {" ".join(body)} }}
          }}
        }}"""


def test_random_loops_keep_their_values():
    count = 0
    for seed in range(60):
        passed = Passed(_random_loop(Random(seed)), LoopsIntoTiles(costs=Costs(lanes=2, tile=3)))
        count += "_tile" in passed.text
        passed.same_values(N=[2, 6], M=[5])
    assert 20 < count < 55
