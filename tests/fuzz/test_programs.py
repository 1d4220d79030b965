"""Random NumPy programs under all oracles, the same in every run. `make fuzz N=20000`, `make fuzz-gpu` run more."""

import warnings

import hypothesis
import numpy as np
import pytest

from dcpy.base.errors import FrontendError
from tests.fuzz import oracles
from tests.fuzz.programs import programs


def check(oracle, program):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            oracle(program)
        except (FrontendError, oracles.NotComparable) as reason:  # code that dcpy, or NumPy, does not take
            hypothesis.event(str(reason).split("\n")[0])
            hypothesis.reject()


@hypothesis.given(programs())
@hypothesis.settings(max_examples=hypothesis.settings().max_examples * 2)
def test_interpreted_programs_equal_numpy(program):
    check(oracles.check_interpreted, program)


@hypothesis.given(programs(statements=4))
@hypothesis.settings(max_examples=hypothesis.settings().max_examples // 2)
def test_transformations_keep_the_meaning_of_programs(program):
    check(oracles.check_transformations, program)


@pytest.mark.cc
@hypothesis.given(programs())
@hypothesis.settings(max_examples=max(hypothesis.settings().max_examples // 10, 10))
def test_compiled_programs_equal_numpy(program):
    check(oracles.check_compiled, program)


@pytest.mark.cc
@hypothesis.given(programs(statements=4))
@hypothesis.settings(max_examples=max(hypothesis.settings().max_examples // 20, 5))
def test_programs_on_a_device_equal_numpy(program):
    check(oracles.check_on_device, program)
