"""Random programs differentiated. `python -m tests.fuzz.gradients N` runs many more."""

import pytest

from tests.fuzz import gradients

COUNT = 50


@pytest.mark.parametrize("first", range(0, 300, COUNT))
def test_gradients_by_the_interpreter(first):
    found = gradients.check_all(range(first, first + COUNT))
    assert not found.wrong
    assert found.checked["interpreted"] > 0.8 * COUNT


@pytest.mark.cc
def test_gradients_by_machine_code():
    found = gradients.check_all(range(300, 312), compiled_every=1)
    assert not found.wrong
    assert found.checked["compiled"] > 8


def test_a_program_as_it_is_written():
    assert "return np.sum" in gradients.Source(3).text()
