"""Checked vectors: parallel loops with checked indices and functions are vectors where no check fails."""

import numpy as np
import pytest

import dcpy
from dcpy.base.vector_math import vector_functions
from tests.support.oracles import check_same

pytestmark = pytest.mark.skipif("exp" not in vector_functions(), reason="this C library has no vectors of exp")


def decays(values, at):
    found = np.empty(len(at))
    for i in range(len(at)):
        found[i] = np.exp(-values[at[i]])
    return found


def roots(values, at):
    found = np.empty(len(at))
    for i in range(len(at)):
        found[i] = np.sqrt(values[at[i]])
    return found


def lengths(points, edges):
    found = np.empty(len(edges))
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        dx, dy = points[a, 0] - points[b, 0], points[a, 1] - points[b, 1]
        found[e] = np.sqrt(dx * dx + dy * dy)
    return found


def through_two(values, first, second):
    found = np.empty(len(first))
    for i in range(len(first)):
        found[i] = np.sin(values[second[first[i]]])
    return found


def into(found, values, at):
    for i in range(len(at)):
        found[i] = np.exp(values[at[i]])


rng = np.random.default_rng(5)
VALUES, POINTS = rng.random(50), rng.random((50, 2))
AT = rng.integers(-50, 50, 1000)
EDGES = rng.integers(0, 50, (1000, 2))


@pytest.mark.parametrize("count", [0, 1, 7, 256, 257, 1000])
def test_values(count):
    for optimized in (False, True):
        program = dcpy.program(auto_optimize=optimized)
        np.testing.assert_allclose(program(decays)(VALUES, AT[:count]), decays(VALUES, AT[:count]), rtol=1e-14)
        found = program(lengths)(POINTS, EDGES[:count])
        np.testing.assert_allclose(found, lengths(POINTS, EDGES[:count]), rtol=1e-14)


def test_indices_by_indices():
    second = rng.integers(0, 50, 60)
    first = rng.integers(0, 60, 700)
    check_same(through_two, VALUES, first, second, rtol=1e-14)
    first[600], second[0] = 0, 50
    with pytest.raises(IndexError, match="index 50 is out of bounds"):
        dcpy.program(auto_optimize=True)(through_two)(VALUES, first, second)


@pytest.mark.parametrize("place", [0, 255, 256, 700, 999])
def test_what_is_wrong_raises_where_it_is_and_memory_holds_what_was_before(place):
    at = AT.copy()
    at[place] = 50
    at[place + 1 :] = 51
    found = np.full(1000, -1.0)
    with pytest.raises(IndexError, match="index 50 is out of bounds for axis 0 with size 50"):
        dcpy.program(auto_optimize=True)(into)(found, VALUES, at)
    np.testing.assert_allclose(found[:place], np.exp(VALUES[at[:place]]), rtol=1e-14)
    assert np.all(found[place:] == -1)


def code(function, *arguments):
    return dcpy.program(auto_optimize=True)(function).to_sdfg(*arguments).code()


def test_a_tile_asks_first():
    for text in (code(decays, VALUES, AT), code(roots, VALUES, AT)):
        asked, _, taken = text.partition("if (odd != 0)")
        assert "#pragma omp simd reduction(| : odd)" in asked
        vectors = taken.partition("else {")[2].partition("static int32_t")[0]
        assert "#pragma omp simd" in vectors
        assert "dcpy_fail" not in vectors


def test_gathers_that_take_longer_than_a_root_saves_stay_scalar():
    assert "if (odd != 0)" not in code(lengths, POINTS, EDGES)


def test_loops_without_functions_stay_scalar():
    def taken(values, at):
        found = np.empty(len(at))
        for i in range(len(at)):
            found[i] = 2 * values[at[i]]
        return found

    assert "if (odd != 0)" not in code(taken, VALUES, AT)


def test_an_index_that_a_check_allows_to_be_read_is_not_read_before():
    def guarded(values, first, second):
        found = np.empty(len(first))
        for i in range(len(first)):
            found[i] = np.exp(values[second[i]])
        return found

    second = rng.integers(0, 50, 10)  # shorter than `first`
    with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10"):
        dcpy.program(auto_optimize=True)(guarded)(VALUES, np.zeros(1000), second)


def distances(lat, lon, first, second):
    found = np.empty(len(first))
    for k in range(len(first)):
        p, q = lat[first[k]], lat[second[k]]
        apart = np.sin((q - p) / 2) ** 2 + np.cos(p) * np.cos(q) * np.sin((lon[second[k]] - lon[first[k]]) / 2) ** 2
        found[k] = 2 * np.arcsin(np.sqrt(apart))
    return found


def test_what_is_read_between_checks_is_no_part_of_the_question():
    lat, lon = rng.random((2, 50))
    first, second = rng.integers(-50, 50, (2, 600))
    program = dcpy.program(auto_optimize=True)(distances)
    expected = distances(lat, lon, first, second)
    np.testing.assert_allclose(program(lat, lon, first, second), expected, rtol=1e-12, atol=1e-15)
    assert "if (odd != 0)" in code(distances, lat, lon, first, second)
    second[400] = -51
    with pytest.raises(IndexError, match="index -51 is out of bounds for axis 0 with size 50"):
        program(lat, lon, first, second)
