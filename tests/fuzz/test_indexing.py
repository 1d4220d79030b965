"""Random index expressions under all oracles. `python -m tests.fuzz.indexing N` runs many more."""

from collections import Counter

import pytest

from tests.fuzz import indexing
from tests.fuzz.indices import drawn

COUNT = 40


@pytest.mark.parametrize("first", range(0, 400, COUNT))
def test_interpreted_index_expressions_are_numpy(first):
    found = indexing.check_all(range(first, first + COUNT))
    assert not found.failures
    assert found.checked["interpreted"] == COUNT


@pytest.mark.cc
def test_compiled_index_expressions_are_numpy():
    found = indexing.check_all(range(400, 424), ["compiled"])
    assert not found.failures


def test_what_numpy_does_is_refused_only_where_that_is_documented():
    found = indexing.check_all(range(400, 500))
    assert not [reason for reason in found.refused if "NumPy raises" not in reason]


def test_keys_of_all_kinds_are_drawn():
    cases = [drawn(seed) for seed in range(300)]
    text = "\n".join(case.source for case in cases)
    for part in ("...", "None", "True", "np.s_", ".at(", "+= ", "take_along_axis", "put_along_axis", "slice("):
        assert part in text
    ranks = {(value.dtype.kind == "b", value.ndim) for case in cases for name, value in case.arguments.items()
             if name[0] in "im"}  # fmt: skip
    assert ranks >= {(False, 1), (False, 2), (False, 3), (True, 1), (True, 2), (True, 3)}


def test_a_case_is_the_same_each_time_that_it_is_drawn():
    assert drawn(7).source == drawn(7).source


def verdict(seed, run):
    try:
        indexing.check(drawn(seed), run)
    except (AssertionError, indexing.NotComparable) as found:
        return found
    return None


def test_a_wrong_order_of_axes_is_found():
    def swapped(function, given):
        result = function(*given)
        return result.T if getattr(result, "ndim", 0) > 1 else result

    wrong = Counter(type(verdict(seed, swapped)) for seed in range(30))
    assert wrong[AssertionError] > 3
