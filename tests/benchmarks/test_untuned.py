"""Untuned programs: all forms of each agree, and nothing of them says who develops against it."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from benchmarks.ab import geometric_mean
from benchmarks.contenders import Contender, Row, differences, measured
from benchmarks.untuned import HALVES, programs
from benchmarks.untuned.__main__ import best_peer, ratio

FIRST_CACHE = 48 * 1024  # bytes


@pytest.mark.parametrize("name", programs())
def test_all_forms_agree_fit_the_first_cache_and_leave_the_arguments_alone(name):
    program = programs()[name]
    arguments = program.made("S")
    results = []
    for form in dict.fromkeys((program.function, program.numpy, program.numba)):
        if form is not None:
            mine = copy.deepcopy(arguments)
            with np.errstate(over="ignore"):  # integers that are mixed wrap around
                found = form(*mine)
            results.append([np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))])
            assert not differences([*map(np.asarray, mine)], [*map(np.asarray, arguments)], 0.0)
    for other in results[1:]:
        assert not differences(other, results[0], program.tolerance)
    assert sum(each.nbytes for each in (*map(np.asarray, arguments), *results[0])) <= FIRST_CACHE


def test_a_hash_of_the_name_says_in_which_half_a_program_is():
    halves = [program.half for program in programs().values()]
    assert {*halves} == {*HALVES}
    assert programs()["distances"].half == "develop"


def test_loops_that_may_be_parallel_are_those_of_the_form_for_numba():
    for program in programs().values():
        names = program.numba.__code__.co_varnames if program.numba is not None else ()
        assert {*program.parallel} <= {*names}, program.name


def test_a_ratio_is_that_over_the_fastest_peer():
    row = Row("f", "S", {"numpy": 4.0, "numba": 2.0, "dcpy": 1.0})
    assert (ratio(row), best_peer(row)) == (2.0, "numba")
    assert ratio(Row("f", "S", {"numpy": 4.0, "numba": 2.0}, refused={"dcpy": "wrong"})) == 0.5
    assert ratio(Row("f", "S", {"numba": 2.0}, refused={"dcpy": "wrong"})) == pytest.approx(0.01)
    assert np.isnan(ratio(Row("f", "S", {"dcpy": 1.0})))
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)


def test_results_that_differ_are_told():
    ones = np.ones(3)
    assert differences([ones], [ones + 1e-9], 1e-7) == ""
    assert differences([ones], [ones + 1e-3], 1e-7) == "result 0 differs"
    assert differences([ones], [np.ones(4)], 1e-7) == "result 0 is [3], not [4]"
    assert differences([ones.astype(int)], [ones.astype(int) + 1], 1.0) == "result 0 differs"
    assert differences([], [ones], 1e-7) == "0 results, not 1"


def test_contenders_are_called_in_turn_and_what_they_refuse_is_told():
    contenders = [Contender("one", "numpy", 1), Contender("other", "numpy", 1)]
    try:
        row = measured(contenders, "untuned", "distances", "S", seconds=0.02)
        assert row.seconds.keys() == {"one", "other"}
        assert all(0 < seconds < 1 for seconds in row.seconds.values())
        assert not row.refused
        row = measured(contenders, "untuned", "exponential_average", "S", seconds=0.02)
        assert row.refused["one"] == "LookupError: there is no NumPy form"
    finally:
        for each in contenders:
            each.close()
