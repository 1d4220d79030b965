"""Names of exceptions that compiled programs raise."""

import numpy as np

from dcpy.base.program_exceptions import exception_type


def test_names_stand_for_exceptions_of_python_and_numpy():
    assert exception_type("ValueError") is ValueError
    assert exception_type("RuntimeWarning") is RuntimeWarning
    assert exception_type("LinAlgError") is np.linalg.LinAlgError


def test_other_names_stand_for_nothing():
    assert exception_type("print") is None
    assert exception_type("SystemExit") is None
    assert exception_type("Oops") is None
