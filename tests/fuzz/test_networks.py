"""Random process networks under all oracles. `python -m tests.fuzz.networks N` runs many more."""

import pytest

from tests.fuzz import networks


@pytest.mark.parametrize("seed", range(15))
def test_interpreted_networks_are_python(seed):
    assert networks.check_interpreted(seed)


@pytest.mark.parametrize("seed", [2, 8])
def test_transformations_keep_the_meaning_of_networks(seed):
    assert networks.check_transformed(seed, limit=1)


@pytest.mark.cc
@pytest.mark.parametrize("seed", range(15, 25))
def test_compiled_networks_are_python(seed):
    networks.check_compiled(seed)


def test_the_seeds_run_and_stop_in_several_ways():
    assert {networks.check_interpreted(seed) for seed in range(4, 12)} >= {"ran", "deadlock", "index"}
