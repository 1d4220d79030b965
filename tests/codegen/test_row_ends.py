"""Row ends: the last vector of a row of functions begins before the others end."""

import numpy as np
import pytest

import dcpy
from dcpy.base.vector_math import vector_functions

N = dcpy.symbol("N")
M = dcpy.symbol("M")
WIDTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 39)
pytestmark = pytest.mark.skipif("tanh" not in vector_functions(), reason="this C library has no vectors of tanh")


def one_result(x, y):
    return np.tanh(x) * y


def two_results(x, y):
    slope = x / (1 + y * y)
    share = 0.5 * (1 + np.tanh(slope))
    return share * slope, np.exp(-share)


def in_place(x, y):
    for _ in range(3):
        x[:] = np.sin(x) + y
    return x


def reads_what_it_has_written(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = np.tanh(x[i, j] + y[i, j])
            y[i, j] = np.exp(x[i, j]) - y[i, j]
    return x, y


def every_third_place(x, y):
    found = np.zeros((*x.shape, 3))
    found[:, :, 1] = np.log1p(x * x)
    found[:, :, 2] += np.exp(y)
    return found


def some(x, y):
    return np.where(y > 0, np.exp(x), y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "function", [one_result, two_results, in_place, reads_what_it_has_written, every_third_place, some]
)
def test_rows_of_all_widths(function, dtype):
    program = dcpy.program(auto_optimize=True)(function)
    rounding = np.finfo(dtype).eps
    for width in WIDTHS:
        x, y = np.random.default_rng(width).standard_normal((2, 5, width)).astype(dtype)
        expected = function(x.copy(), y.copy())
        found = program(x.copy(), y.copy())
        for one, other in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=20 * rounding, atol=20 * rounding)


def code(function, columns=M):
    """The C++ of a function of rows which, in memory, do not follow each other."""

    def rows(x: dcpy.float64[N, columns + 2], y: dcpy.float64[N, columns + 2]):
        return function(x[:, 1:-1], y[:, 1:-1])

    return dcpy.program(auto_optimize=True)(rows).to_sdfg().code()


@pytest.mark.parametrize("function", [one_result, some])
def test_an_end_is_one_vector(function):
    text = code(function)
    assert "for (int64_t lane = 0; lane < 4; lane++)" in text


def test_an_iteration_that_reads_what_it_writes_runs_once():
    assert "lane < 4" not in code(in_place)
    assert "lane < 4" not in code(reads_what_it_has_written)


@pytest.mark.parametrize("columns", [16, 18])
def test_ends_of_these_rows_cost_nothing(columns):
    assert "lane < 4" not in code(one_result, columns)


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x, y: x * y + x**3, id="no functions"),
        pytest.param(lambda x, y: np.sum(np.exp(x + y), axis=1), id="a sum"),
        pytest.param(lambda x, y: np.exp(x[:, (y[0] % 2).astype(np.int64)]), id="places that are looked up"),
    ],
)
def test_these_loops_stay(function):
    assert "lane < 4" not in code(function)


def test_one_row_has_one_end():
    def one(x: dcpy.float64[N]):
        return np.tanh(x)

    assert "lane < 4" not in dcpy.program(auto_optimize=True)(one).to_sdfg().code()
