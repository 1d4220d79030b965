"""Versions: what is kept, and how much of it; values wherever something is overwritten, or just not."""

import re

import numpy as np
import pytest

import dcpy
from tests.support.derivatives import assert_close, complex_gradient

RNG = np.random.default_rng(5)


def tapes(function, arguments, which):
    text = str(dcpy.grad(function, wrt=which).to_sdfg(*arguments))
    return re.findall(r"data (\w*_tape\w*: f64(?:\[[^\n]*\])?) transient", text)


def lower(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            a[i, j] /= a[j, j]
    return np.sum(a * a)


def solved(a, b):
    x = np.zeros_like(b)
    for i in range(b.shape[0]):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x * x)


def growing(x, y):
    for i in range(1, x.shape[0]):
        y[i] = y[i - 1] * x[i]
    return np.sum(y)


def shrinking(x, y):
    for i in range(x.shape[0] - 2, -1, -1):
        y[i] = y[i + 1] * x[i]
    return np.sum(y)


def ahead(x):
    for i in range(x.shape[0] - 1):
        x[i] = x[i + 1] * x[i]
    return np.sum(x)


def every_step(x, steps):
    for t in range(steps):
        for i in range(1, x.shape[0]):
            x[i] = x[i - 1] * x[i]
    return np.sum(x)


def shifted_index(x, idx):
    for i in range(idx.shape[0]):
        k = idx[i]
        x[k] = x[k + 1] * x[k + 1]
    return np.sum(x)


def after_the_loop(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    x[:] = 0.0
    return total * total


def by_halves(x):
    n = x.shape[0] // 2
    for i in range(n):
        x[i] = x[i + n] * x[i + n]
        x[i + n] = x[i] * 0.5
    return np.sum(x)


def inside(x, y):
    for i in range(y.shape[0]):
        t = x * y[i]
        u = t * t
        x[:] = x + u
    return np.sum(x)


CASES = {
    "lower": (lower, (RNG.random((5, 5)) + 2 * np.eye(5),), 0, ["a_tape: f64[max(0, N), max(0, N - 1), 1, 1]"]),
    "solved": (solved, (RNG.random((4, 4)) + 2 * np.eye(4), RNG.random(4)), 0, ["tmp_tape: f64[max(0, N)]"]),
    "growing": (growing, (RNG.random(6), RNG.random(6)), 0, []),
    "shrinking": (shrinking, (RNG.random(6), RNG.random(6)), 0, []),
    "ahead": (ahead, (RNG.random(6),), 0, None),
    "every_step": (every_step, (RNG.random(5), 3), 0, None),
    "shifted_index": (shifted_index, (RNG.random(6), np.array([3, 2, 4, 0])), 0, None),
    "after_the_loop": (after_the_loop, (RNG.random(4), RNG.random(4)), 1, None),
    "by_halves": (by_halves, (RNG.random(6),), 0, None),
    "inside": (inside, (RNG.random(4), RNG.random(3)), 0, ["x_tape: f64[max(0, M), N]"]),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, arguments, which, _ = CASES[name]
    given = [np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in arguments]
    expected = complex_gradient(function, arguments, which)
    assert_close(dcpy.grad(function, wrt=which)(*given), expected, 1e-11)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[3] is not None])
def test_what_is_kept(name):
    function, arguments, which, expected = CASES[name]
    assert tapes(function, arguments, which) == expected


def test_an_sdfg_takes_a_gradient():
    sdfg = dcpy.program(growing).to_sdfg(*CASES["growing"][1]).gradient(["x"])
    x, y = CASES["growing"][1]
    _, (found,) = sdfg.compile()(x, y.copy())
    assert_close(found, complex_gradient(growing, (x, y), 0), 1e-12)
    assert sdfg.history[-1] == "reverse-mode{wrt=(x)}"
