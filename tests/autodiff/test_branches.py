"""Gradients of branches: the path that was taken, in loops and outside, with values that other paths overwrite."""

import numpy as np
import pytest

import dcpy
from dcpy.autodiff.activity import Activity
from dcpy.autodiff.reverse.branches import branch_as_loops, next_active_branch
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import rewriting
from dcpy.ir.text import parse_sdfg, print_sdfg
from tests.support.derivatives import along, assert_close
from tests.support.expect import assert_same_text, assert_same_values


def whole(x, c):
    y = x * c
    if x.sum() > 2.0:
        y = y * x
    else:
        y[:] = np.exp(x) * c
    return np.sum(y * y)


def three_paths(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        t = x[i] * y[i]
        if t > 0.2:
            t = 0.5 + 0.1 * t * t
        elif t < -0.2:
            t = -0.5 * t
        else:
            t = np.sin(t)
        total += t
        x[i] = t
    return total + np.sum(x * x)


def edges(u, k, n):
    for t in range(n):
        for i in range(u.shape[0]):
            if i > 0:
                u[i] = u[i] - k * (u[i] - u[i - 1])
            if i < u.shape[0] - 1 and t % 2 == 0:
                u[i] *= 1 + k * u[i + 1]
    return np.sum(u)


def one_in_another(x, n):
    a = 1.0
    for _ in range(n):
        if a > 3.0:
            if x[0] > 0:
                a = a / 2 + x[0]
            else:
                b = np.sqrt(a)
                a = b * x[1]
        else:
            a = a * (1 + x[1] * x[1])
    return a * a


def loops_inside(x):
    s = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.3:
            for j in range(i):
                s += x[i] * x[j] ** 2
    return s


def masked(x, r):
    total = 0.0
    for k in range(3):
        chosen = x[r > 0.3 * k]
        if chosen.size > 0:
            total += np.mean(chosen) / (k + 1.0)
    return total


RNG = np.random.default_rng(5)
PROGRAMS = [
    (whole, (RNG.random(5) + 0.2, 1.2)),
    (whole, (0.2 * RNG.random(5), 1.2)),
    (three_paths, (RNG.standard_normal(9), RNG.standard_normal(9))),
    (edges, (RNG.random(6), 0.2, 4)),
    (edges, (RNG.random(1), 0.2, 3)),
    (edges, (RNG.random(4), 0.2, -1)),
    (one_in_another, (np.array([0.4, 0.7]), 9)),
    (one_in_another, (np.array([-0.4, 0.7]), 9)),
    (loops_inside, (RNG.random(8),)),
    (masked, (RNG.random(7), RNG.random(7))),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
@pytest.mark.parametrize("optimized", [False, True])
def test_gradients_of_the_path_taken(function, arguments, optimized):
    floats = [place for place, one in enumerate(arguments) if isinstance(one, float | np.ndarray)]
    wrt = tuple(floats[:1] if function is masked else floats)
    program = dcpy.program(auto_optimize=optimized)(function)
    mine = tuple(np.copy(one) if isinstance(one, np.ndarray) else one for one in arguments)
    value, gradients = dcpy.value_and_grad(program, wrt=wrt)(*mine)
    expected = function(*(np.copy(one) if isinstance(one, np.ndarray) else one for one in arguments))
    assert_close(value, expected, 1e-12)
    for place, gradient in zip(wrt, gradients, strict=True):
        direction = np.random.default_rng(place).random(np.shape(arguments[place]))
        slope = along(function, arguments, {place: direction}, 1e-4)[0]
        assert_close(np.sum(gradient * direction), slope, 1e-7)


BRANCH = """
    sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) assumes(N >= 1) {
      if x[0] > 0.5 {
        map i = 0:N { tasklet (a <- x[i]) -> (o -> y[i]) { o = a * 2.0 } }
      } else {
        map i = 0:N { tasklet (a <- x[i]) -> (o -> y[i]) { o = a + 1.0 } }
      }
    }"""


def test_a_branch_is_two_loops_of_at_most_one_iteration():
    before = parse_sdfg(BRANCH)
    after = copy_sdfg(before)
    with rewriting(after, "test") as rw:
        branch = next_active_branch(rw, Activity(rw.uses, ["x"]))
        assert branch is not None
        branch_as_loops(branch, rw)
    assert_same_values(before, after, {"N": [1, 4]})
    assert_same_text(print_sdfg(after), print_sdfg(parse_sdfg("""
        sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) assumes(N >= 1) {
          let taken = i64(x[0] > 0.5)
          loop once = 0:min(1, taken) {
            map i_1 = 0:N { tasklet (a <- x[i_1]) -> (o -> y[i_1]) { o = a * 2.0 } }
          }
          loop once_1 = 0:min(1, 1 - taken) {
            map i_2 = 0:N { tasklet (a <- x[i_2]) -> (o -> y[i_2]) { o = a + 1.0 } }
          }
        }""")))  # fmt: skip
