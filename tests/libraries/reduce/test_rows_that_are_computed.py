"""A sum over all axes of what a map computes: the map fuses with it; what is stored is one long row."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy


def squares(a):
    return (a * a).sum()


def largest(a):
    return np.abs(a).max()


def stored(a):
    return a.sum()


@pytest.mark.parametrize("function", [squares, largest])
def test_no_array_is_kept(function):
    sdfg = dcpy.program(function, auto_optimize=True).to_sdfg(np.ones((30, 40)))
    assert "f64[N, M] transient" in str(sdfg)
    assert "f64[N, M] transient" not in str(sdfg.lower())


def test_what_is_stored_is_one_row():
    assert "_flat" in str(dcpy.program(stored, auto_optimize=True).to_sdfg(np.ones((30, 40))).lower())


@pytest.mark.cc
@pytest.mark.parametrize("shape", [(30, 40), (1, 7), (7, 1), (0, 4), (300, 3), (5, 6, 7)])
def test_values(shape):
    a = np.random.default_rng(0).random(shape)
    np.testing.assert_allclose(dcpy.program(squares, auto_optimize=True)(a), squares(a))
    np.testing.assert_allclose(dcpy.program(stored, auto_optimize=True)(a), stored(a))
