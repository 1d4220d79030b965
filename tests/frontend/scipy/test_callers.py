"""SciPy's solvers, which call a function of the user's: refused in a program; they take a program in place of it."""

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import dcpy
from tests.support.lowering import refusal


def decay(t, y):
    return -2.0 * y


def parabola(x):
    return x * x - 2.0


def line(x, slope, offset):
    return slope * x + offset


def distance(x):
    return ((x - 3.0) ** 2).sum()


def solves(y):
    return scipy.integrate.solve_ivp(decay, (0.0, 1.0), y).y


def minimizes(x):
    return scipy.optimize.minimize(distance, x).x


@pytest.mark.parametrize(
    ("function", "name"), [(solves, "scipy.integrate.solve_ivp"), (minimizes, "scipy.optimize.minimize")]
)
def test_refusals(function, name):
    said = refusal(function, np.ones(2))
    assert f"{name}() is not supported" in said
    assert "it is Python code of SciPy's, which calls your function" in said
    assert f"{name}(dcpy.program(f), ...)" in said


@pytest.mark.cc
def test_the_advice_runs():
    solved = scipy.integrate.solve_ivp(dcpy.program(decay), (0.0, 1.0), np.ones(2), rtol=1e-8)
    np.testing.assert_allclose(solved.y[:, -1], np.exp(-2.0), rtol=1e-5)
    np.testing.assert_allclose(scipy.integrate.quad(dcpy.program(parabola), 0.0, 1.0)[0], 1 / 3 - 2.0)
    np.testing.assert_allclose(scipy.optimize.brentq(dcpy.program(parabola), 0.0, 2.0), np.sqrt(2.0))
    np.testing.assert_allclose(scipy.optimize.minimize(dcpy.program(distance), np.ones(2)).x, 3.0, rtol=1e-4)
    x = np.arange(5.0)
    np.testing.assert_allclose(scipy.optimize.curve_fit(dcpy.program(line), x, 2 * x + 1)[0], [2.0, 1.0])
