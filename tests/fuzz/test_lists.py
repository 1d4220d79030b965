"""Random programs with lists of several kinds of items. `python -m tests.fuzz.lists N` runs many more."""

import pytest

from tests.fuzz import lists


@pytest.mark.parametrize("first", range(0, 40, 8))
def test_interpreted_lists_are_python(first):
    found = [lists.check(seed) for seed in range(first, first + 8)]
    assert found.count("refused") <= 1


@pytest.mark.cc
@pytest.mark.parametrize("seed", range(40, 46))
def test_compiled_lists_are_python(seed):
    lists.check(seed, compiled=True)
