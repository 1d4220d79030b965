"""Checks of scalar loops: one question for a conversion, one comparison for an index."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.programs.signatures import signature_of


def text_of(program) -> str:
    sdfg = program.to_sdfg()
    return driver.artifact_of(sdfg, signature_of(sdfg), resolve_options()).units[0].text


def whole(x: dcpy.float64[3], counts: dcpy.int64[3]):
    for i in range(3):
        counts[i] = int(x[i])


def short(x: dcpy.float32[3], counts: dcpy.int64[3]):
    for i in range(3):
        counts[i] = int(x[i])


N, M = dcpy.symbol("N"), dcpy.symbol("M")


def taken(x: dcpy.float64[N], places: dcpy.int64[M], found: dcpy.float64[M]):
    for i in range(len(places)):
        found[i] = x[places[i]]


def test_two_checks_stand_behind_one_question():
    text = text_of(dcpy.program(whole))
    assert "< 9.223372036854776e+18)) {\n" in text
    assert "trunc(" not in text.replace("dcpy_trunc", "")


def test_one_comparison_decides_both_sides_of_an_index():
    text = text_of(dcpy.program(taken))
    assert ">= (uint64_t)N) return" in text
    assert "< -N" not in text


@pytest.mark.cc
@pytest.mark.parametrize(("program", "dtype"), [(whole, "f8"), (short, "f4")])
@pytest.mark.parametrize(
    "number", [0.0, -0.0, 2.75, -2.75, -(2.0**63), 2.0**62, -(2.0**62), 1e18, np.nan, np.inf, -np.inf, 2.0**63, -1e19]
)
def test_conversions_at_their_limits(program, dtype, number):
    x = np.array([1.5, number, -7.9], dtype)
    outcomes = []
    for run in (program, dcpy.program(program), dcpy.program(program, auto_optimize=True)):
        counts = np.zeros(3, np.int64)
        try:
            run(x, counts)
            outcomes.append(("", counts.tolist()))
        except (ValueError, OverflowError) as error:
            outcomes.append((type(error).__name__, counts.tolist()))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == outcomes[2][0]


@pytest.mark.cc
@pytest.mark.parametrize("place", [0, 3, -1, -4, 4, -5, 2**63 - 1, -(2**63), 2**62, -(2**62)])
@pytest.mark.parametrize("step", [1, -1, 2])
def test_indices_at_their_limits(place, step):
    x = np.arange(8.0)[:: 2 * step // abs(step)] if abs(step) == 2 else np.arange(4.0)[::step]
    places = np.array([0, place, 2], np.int64)
    outcomes = []
    for run in (taken, dcpy.program(taken), dcpy.program(taken, auto_optimize=True)):
        found = np.zeros(3)
        try:
            run(x, places, found)
            outcomes.append(("", found.tolist()))
        except IndexError as error:
            outcomes.append((str(error), found.tolist()))
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.cc
def test_no_place_is_inside_of_nothing():
    program = dcpy.program(taken, auto_optimize=True)
    program(np.zeros(0), np.zeros(0, np.int64), np.zeros(0))
    with pytest.raises(IndexError, match="index 0 is out of bounds for axis 0 with size 0"):
        program(np.zeros(0), np.zeros(1, np.int64), np.zeros(1))
