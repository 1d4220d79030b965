"""CyclicShiftToMap: shape, value, refusal; and programs that roll arrays."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.maps.cyclic_shift_to_map import CyclicShiftToMap
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal

_ROLL = """
    sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) assumes(N >= 2) {{
      data t: f64[N] transient
      state {{
        copy x[0:N - 1] -> t[1:N]
        {between}
        copy x[N - 1:N] -> t[0:1]
        map j = 0:N {{ tasklet (a <- x[j], b <- t[j]) -> (o -> y[j]) {{ o = a + b }} }}
        {behind}
      }}
    }}"""


def test_the_halves_of_a_roll_become_a_map():
    expect(CyclicShiftToMap(), on=parse(_ROLL.format(between="", behind=""))).becomes("""
        sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) assumes(N >= 2) {
          data t: f64[N] transient
          state {
            map i = 0:N { tasklet (a <- x[N*max(0, min(1, 1 - i)) + i - 1]) -> (out -> t[i]) { out = a } }
            map j = 0:N { tasklet (a <- x[j], b <- t[j]) -> (o -> y[j]) { o = a + b } }
          }
        }""").same_values(N=[2, 3, 9])


def test_all_shifts_of_what_is_written_later_read_one_copy():
    expect(
        CyclicShiftToMap(),
        on=parse("""
            sdfg @f(x: f64[M, N]) symbols(M: size, N: size) assumes(N >= 2) {
              data t: f64[M, N] transient
              data u: f64[M, N] transient
              state {
                copy x[0:M, 0:N - 1] -> t[0:M, 1:N]
                copy x[0:M, N - 1:N] -> t[0:M, 0:1]
                copy x[0:M, 1:N] -> u[0:M, 0:N - 1]
                copy x[0:M, 0:1] -> u[0:M, N - 1:N]
                map i = 0:M, j = 0:N {
                  tasklet (a <- t[i, j], b <- u[i, j]) -> (o -> x[i, j]) { o = a + b }
                }
              }
            }"""),
    ).becomes("""
        sdfg @f(x: f64[M, N]) symbols(M: size, N: size) assumes(N >= 2) {
          data t: f64[M, N] transient
          data u: f64[M, N] transient
          data before: f64[M, N] transient
          state {
            copy x[0:M, 0:N] -> before[0:M, 0:N]
            map i_1 = 0:M, i_2 = 0:N {
              tasklet (a <- before[i_1, N*max(0, min(1, 1 - i_2)) + i_2 - 1]) -> (out -> t[i_1, i_2]) { out = a }
            }
            map i_3 = 0:M, i_4 = 0:N {
              tasklet (a <- before[i_3, N*max(0, min(1, N - i_4 - 1)) - N + i_4 + 1]) -> (out -> u[i_3, i_4]) {
                out = a
              }
            }
            map i = 0:M, j = 0:N { tasklet (a <- t[i, j], b <- u[i, j]) -> (o -> x[i, j]) { o = a + b } }
          }
        }""").same_values(M=[1, 3], N=[2, 5])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("x[N - 1:N] -> t[0:1]", "x[0:1] -> t[0:1]"), ""),  # another element comes first: still two parts of x
        (("x[N - 1:N] -> t[0:1]", "y[N - 1:N] -> t[0:1]"), "the copies have different sources"),
        (("-> t[0:1]", "-> t[1:2]"), "the copies are not two parts of the array along an axis"),
        (("b <- t[j]", "b <- x[j]"), "'t' is read by more than tasklets"),
    ],
)
def test_other_copies_stay(change, why):
    found = expect(CyclicShiftToMap(), on=parse(_ROLL.format(between="", behind="").replace(*change)))
    if why:
        found.is_refused(why)
    else:
        found.applies().same_values(N=[2, 5])


def test_a_source_that_is_written_between_the_copies_stays():
    text = _ROLL.format(between="map k = 0:N { tasklet () -> (o -> x[k]) { o = 1.0 } }", behind="")
    expect(CyclicShiftToMap(), on=parse(text)).is_refused("'x' is written between the copies")


def test_an_array_that_is_read_between_the_copies_stays():
    text = _ROLL.format(between="map k = 1:N { tasklet (a <- t[k]) -> (o -> y[k]) { o = a } }", behind="")
    expect(CyclicShiftToMap(), on=parse(text)).is_refused("'t' is read before both parts are there")


# -- programs --------------------------------------------------------------------------------------------------------


def life(grid, steps):
    for _ in range(steps):
        near = np.roll(grid, 1, 0) + np.roll(grid, -1, 0) + np.roll(grid, 1, 1) + np.roll(grid, -1, 1)
        grid = np.where(near == 3, 1, np.where(near == 2, grid, 0))
    return grid


def waves(u, v, steps):
    for _ in range(steps):
        v += 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u)
        u += v
    return u, v


def with_functions(u, v):
    return np.exp(-np.roll(u, 1, 1)) * v + np.sin(np.roll(u, -2, 0) + v), np.roll(np.sqrt(u), 1, 1)


def of_rolled(u, v):
    return np.roll(np.roll(u, 2, axis=1), -1, axis=0) - np.roll(v, (1, -1), axis=(0, 1))


def in_reductions(u, v):
    return (u * np.roll(v, 1, axis=1)).sum(), (np.roll(u, 1, axis=1) > u).sum(axis=1), np.roll(u, 3).max()


def by_hand(u, v):
    return np.concatenate((u[1:], u[:1])) + np.concatenate((v[-2:], v[:-2]))


@pytest.mark.cc
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 2), (9, 7), (20, 70)])
@pytest.mark.parametrize("function", [waves, with_functions, of_rolled, in_reductions, by_hand])
def test_programs_that_roll(function, shape):
    rng = np.random.default_rng(0)
    arguments = [*rng.random((2, *shape)), *([3] if function is waves else [])]
    given = [np.copy(each) for each in arguments]
    expected = function(*arguments)
    assert_equal(dcpy.program(auto_optimize=True)(function)(*given), expected, rtol=1e-13)


@pytest.mark.cc
@pytest.mark.parametrize("n", [1, 2, 3, 30])
def test_a_roll_of_integers_in_a_loop(n):
    grid = np.random.default_rng(1).integers(0, 2, (n, n + 1))
    assert_equal(dcpy.program(auto_optimize=True)(life)(grid, 3), life(grid, 3))
