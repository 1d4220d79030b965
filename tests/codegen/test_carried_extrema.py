"""Carried extrema: maxima and minima that wait for the iteration before take NaN off the chain."""

import itertools

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0)


def code(function, *arguments):
    return dcpy.program(function).to_sdfg(*arguments).code()


def running(x):
    return np.maximum.accumulate(x), np.minimum.accumulate(x)


def cheapest_paths(costs):
    best = costs.copy()
    for i in range(1, costs.shape[0]):
        for j in range(1, costs.shape[1]):
            best[i, j] += np.minimum(np.minimum(best[i - 1, j], best[i, j - 1]), best[i - 1, j - 1])
    return best


def envelope(x, decay):
    level = x[0]
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        level = np.maximum(level * decay, x[i])
        out[i] = level
    return out


def medians(x):
    y = x.copy()
    for i in range(1, len(x) - 1):
        y[i] = np.maximum(np.minimum(x[i - 1], x[i]), np.minimum(np.maximum(x[i - 1], x[i]), x[i + 1]))
    return y


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_with_nan_infinities_and_zeros_of_both_signs(dtype):
    rows = [np.array(row, dtype) for row in itertools.product(SPECIAL, repeat=3)]
    program = dcpy.program(running)
    for row in rows:
        for mine, expected in zip(program(row), running(row), strict=True):
            np.testing.assert_array_equal(mine, expected)
            np.testing.assert_array_equal(np.signbit(mine[1:]), np.signbit(expected[1:]))
    check_same(envelope, np.array([1.0, 3.0, np.nan, 2.0, 5.0], dtype), dtype(0.5))
    costs = np.random.default_rng(0).random((7, 6)).astype(dtype)
    check_same(cheapest_paths, costs)
    costs[2, 3] = np.nan
    check_same(cheapest_paths, costs)


@pytest.mark.parametrize("function", [running, cheapest_paths, envelope])
def test_loops_that_wait_for_an_extremum_ask_for_nan_first(function):
    arguments = {running: (np.ones(5),), cheapest_paths: (np.ones((3, 3)),), envelope: (np.ones(5), 0.5)}
    assert "dcpy_carried_m" in code(function, *arguments[function])


def test_loops_of_which_vectors_can_be_made_do_not():
    assert "dcpy_carried_m" not in code(medians, np.ones(5))
    assert "dcpy_carried_m" not in code(lambda x: np.maximum(x[1:], x[:-1]).max(), np.ones(5))


@pytest.mark.parametrize("limit", [0.0, -0.0, 0.5, -np.inf, np.nan])
def test_known_limits(limit):
    def limited(x):
        return np.maximum(x, limit), np.minimum(x, limit), np.maximum(limit, x), np.minimum(limit, x)

    check_same(limited, np.array([*SPECIAL, limit] * 3))
