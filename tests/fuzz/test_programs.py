"""Random NumPy programs under all oracles. `make fuzz` runs many more."""

import warnings

import hypothesis
import numpy as np
import pytest

from dcpy.base.errors import FrontendError
from tests.fuzz.programs import Program, programs
from tests.support.oracles import check_same


def runs_in_numpy(program: Program) -> bool:
    """Whether NumPy itself takes the program (boolean subtraction, for one, it does not)."""
    try:
        with np.errstate(all="ignore"):
            program.function()(*program.arguments())
    except (TypeError, ValueError, IndexError, OverflowError):
        return False
    return True


def check(program: Program, *, compiled: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        hypothesis.assume(runs_in_numpy(program))
        try:
            check_same(program.function(), *program.arguments(), rtol=1e-6, compiled=compiled)
        except FrontendError as refusal:  # of code that this run did not reach, or that dcpy does not take
            hypothesis.event(refusal.message)
            hypothesis.reject()


@hypothesis.given(programs())
def test_interpreted_programs_equal_numpy(program):
    check(program, compiled=False)


@pytest.mark.cc
@hypothesis.settings(max_examples=15)
@hypothesis.given(programs())
def test_compiled_programs_equal_numpy(program):
    check(program, compiled=True)
