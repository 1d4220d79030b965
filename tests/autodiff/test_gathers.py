"""Gathered adjoints: texts, sizes at which the core would be inside out, and what is no gather."""

import numpy as np
import pytest

import dcpy
from tests.support.derivatives import assert_close, complex_gradient


def pairs(x, y):
    y[1:] = 2.0 * x[1:] + 3.0 * np.sin(x[:-1])
    return np.sum(y)


def test_text_of_core_and_rim():
    text = str(dcpy.grad(pairs, wrt="x").to_sdfg(np.ones(8), np.ones(8)))
    assert "assumes(N >= 1, N >= 2)" in text
    core = text[text.index("map j ="):]
    assert core.startswith("map j = 1:N - 1 {")
    assert "(g0 <- y_bar[j], g1 <- x[j], g2 <- y_bar[j + 1], before <- x_bar[j]) -> (n -> x_bar[j])" in core
    assert "n = before + (2.0 * g0 + cos(g1) * a1_0_1)" in core
    rims = [line.strip() for line in core.splitlines() if "map j" in line][1:]
    assert rims == ["map j_1 = N - 1:N {", "map j_2 = 0:1 {"]


def cross(u, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] * u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] * u[1:-1, :-2])
    return np.sum(u * u)


def transposed(a, b):
    b[1:, 1:] = a.T[1:, 1:] * a.T[:-1, 1:]
    return np.sum(b)


def strided(x, y):
    y[::2] = x[::2] * x[::2] + 1.0
    y[2::2] += x[:-2:2]
    return np.sum(y)


def mixed(a, x):
    return np.sum(a[1:] * a[:-1] * x + a[1:] * x * x)


CASES = {
    "pairs": (pairs, lambda n: (np.linspace(0, 1, n), np.ones(n)), 0),
    "cross": (cross, lambda n: (np.random.default_rng(n).random((n, n)), 2), 0),
    "transposed": (transposed, lambda n: (np.random.default_rng(n).random((n, n)), np.ones((n, n))), 0),
    "strided": (strided, lambda n: (np.linspace(1, 2, 2 * n), np.ones(2 * n)), 0),
    "mixed": (mixed, lambda n: (np.random.default_rng(n).random((n, 3)), np.ones(3)), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_values_at_all_small_sizes(name):
    function, made, which = CASES[name]
    gradient = dcpy.grad(function, wrt=which)
    for size in (9, 1, 2, 3, 4, 5, 6, 9, 3):
        given = made(size)
        mine = [np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in given]
        assert_close(gradient(*mine), complex_gradient(function, given, which), 1e-11)
        again = [np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in given]
        _, (found,) = gradient.to_sdfg(*given).interpret(*again)
        assert_close(found, complex_gradient(function, given, which), 1e-11)


def test_no_conflicts_are_left_in_a_stencil():
    text = str(dcpy.grad(cross, wrt="u").to_sdfg(np.ones((8, 8)), 3))
    assert "(add)" not in text
