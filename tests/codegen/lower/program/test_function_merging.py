"""Maps that compute the same on other arrays share one function (decision 0037)."""

import re

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.codegen.signature import default_signature


def in_steps(a, b, c):
    x = 2.0 * a
    y = 3.0 * b
    c[:] = a * b
    return x, y


def unlike(a, b, c):
    a[:] = a * b
    c[:] = a / b
    b[1:] = c[1:] * 2.0


def numbers_elsewhere(a, b, c):
    a[:] = a / 3.0
    b[:] = np.minimum(b / 4.0, 0.25)
    c[:] = np.minimum(c, 1.5)


def guarded(a, b, c):
    n = 0
    while n < 3:  # a loop over a range would go into the maps
        a[:] = a * c
        b[:] = b * c
        n += 1


def arguments():
    rng = np.random.default_rng(1)
    return [rng.random((40, 50)) + 1.0 for _ in range(3)]


def text_of(function):
    sdfg = dcpy.program(function).to_sdfg(*arguments())
    (unit,) = driver.artifact_of(sdfg, default_signature(sdfg), resolve_options()).units
    text = unit.text
    return text


def functions(text):
    return re.findall(r"static void (\w+_map_\w+)\(", text)


def test_factors_are_passed():
    text = text_of(in_steps)
    assert text.count("double c0)") == 2  # the map and its team; 2.0 and 3.0 are passed
    assert len(re.findall(r"_by_team\(.*, 2\.0\);", text)) == 1
    assert len(re.findall(r"_by_team\(.*, 3\.0\);", text)) == 1


def test_a_team_is_decided_on_in_one_place():
    text = text_of(guarded)
    assert text.count("dcpy_team([=") == 1
    assert len(re.findall(r"\w+_by_team\(.*;", text)) == 2


@pytest.mark.parametrize(("function", "count"), [(unlike, 3), (numbers_elsewhere, 4)])
def test_other_loops_keep_their_functions(function, count):
    """Divisors and exponents stay where the compiler sees them: it may know a quicker way for the number."""
    text = text_of(function)
    assert "_by_team" not in text
    assert len(functions(text)) == count


@pytest.mark.cc
@pytest.mark.parametrize("auto_optimize", [False, True])
@pytest.mark.parametrize("function", [in_steps, unlike, numbers_elsewhere, guarded])
def test_values(function, auto_optimize):
    mine, theirs = arguments(), arguments()
    result, expected = dcpy.program(function, auto_optimize=auto_optimize)(*mine), function(*theirs)
    for x, y in zip((*mine, *(result or ())), (*theirs, *(expected or ())), strict=True):
        assert np.array_equal(x, y)
