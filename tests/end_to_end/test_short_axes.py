"""Short axes of a call are numbers: coordinates, channels, weights. Another number gets a version for any."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy


def lengths(x):
    return np.sqrt((x * x).sum(axis=1))


def types_in(program, *arguments):
    return str(program.to_sdfg(*arguments, as_called=True)).partition("->")[0]


def test_a_short_axis_beside_a_long_one_is_a_number():
    program = dcpy.program(lengths)
    assert "x: f64[N, 3]" in types_in(program, np.ones((50, 3)))
    assert "x: f64[N, M]" in types_in(program, np.ones((50, 20)))
    assert "x: f64[N, M]" in types_in(program, np.ones((5, 3)))  # neither is short beside the other
    assert "x: f64[N, M]" in str(program.to_sdfg(np.ones((50, 3))))  # made for any sizes


def test_it_may_be_another_array_that_is_long():
    def filtered(x, weights):
        return np.convolve(x, weights)

    assert "weights: f64[5]" in types_in(dcpy.program(filtered), np.ones(100), np.ones(5))
    assert "weights: f64[M]" in types_in(dcpy.program(filtered), np.ones(10), np.ones(5))


@pytest.mark.cc
def test_the_second_number_makes_it_any_number():
    program = dcpy.program(lengths)
    for number, columns in enumerate((3, 4, 5, 6, 3)):
        x = np.random.default_rng(0).random((40, columns))
        np.testing.assert_allclose(program(x), lengths(x), rtol=1e-13)
        assert len(program._specializer.compiled_for) == min(number + 1, 2)


@pytest.mark.cc
def test_a_program_that_is_compiled_for_samples_knows_what_a_call_knows():
    x, other = np.ones((40, 3)), np.random.default_rng(0).random((7, 5))
    compiled = dcpy.program(lengths).compile(x)
    assert "x: f64[N, 3]" in str(compiled._sdfg)
    np.testing.assert_allclose(compiled(x), lengths(x))
    np.testing.assert_allclose(compiled(other), lengths(other))
