"""Comparison of values: the first element that differs, kinds, shapes, rounding."""

import numpy as np
import pytest

from dcpy.programs.checking.value_comparison import difference

X = np.array([[1.0, 2.0], [3.0, np.nan]])


@pytest.mark.parametrize(("python", "compiled"), [
    (1, 1), (1, np.int64(1)), (2.5, np.float64(2.5)), (X, X.copy()), (X, X * (1 + 1e-12)), (np.inf, np.inf),
    (None, None),
    (np.float32(1.0), np.float32(1.00001)), ((1, X), (1, X)), ([], []), (np.array([0.0, 1e9]), np.array([1e-3, 1e9])),
    (True, np.bool_(True)), (10**30, 10**30), (np.zeros((0, 2)), np.zeros((0, 2))), (1j, np.complex128(1j)), ("a", "a"),
])  # fmt: skip
def test_equal(python, compiled):
    assert difference("x", python, compiled) is None


@pytest.mark.parametrize(("python", "compiled", "text"), [
    (1, 2, "x is 1 in Python, and 2 in the program"),
    (2**64, 0, "x is 18446744073709551616 in Python, and 0 in the program"),
    (2**64, np.int64(0), "x is 18446744073709551616 in Python, and 0 in the program"),
    (X, X + np.array([[0.0, 0.0], [0.5, 0.0]]), "x[1, 0] is 3.0 in Python, and 3.5 in the program"),
    (X, np.nan_to_num(X), "x[1, 1] is nan in Python, and 0.0 in the program"),
    (np.inf, -np.inf, "x is inf in Python, and -inf in the program"),
    (X, X[0], "x is an array float64[2, 2] in Python, and an array float64[2] in the program"),
    (np.ones(2), np.ones(2, np.float32), "x is an array float64[2] in Python, and an array float32[2] in the program"),
    ((1, 2), (1, 3), "x[1] is 2 in Python, and 3 in the program"),
    ((1, 2), (1, 2, 3), "x is a tuple of 2 items in Python, and a tuple of 3 items in the program"),
    (None, 1, "x is None in Python, and 1 in the program"),
    (np.array([1, 2]), np.array([1, 3]), "x[1] is 2 in Python, and 3 in the program"),
    (np.array([1 + 1j]), np.array([1 - 1j]), "x[0] is (1+1j) in Python, and (1-1j) in the program"),
])  # fmt: skip
def test_different(python, compiled, text):
    assert str(difference("x", python, compiled)) == text


def test_how_much_differs():
    found = difference("x", np.arange(4.0), np.array([0.0, 1.5, 2.0, 5.0]))
    assert (found.element, found.extent) == ((1,), "2 of 4 elements differ, by 2 at most")
    assert difference("x", 1.0, 2.0).extent == ""


def test_the_tolerance_can_be_chosen():
    assert difference("x", 1.0, 1.001) is not None
    assert difference("x", 1.0, 1.001, rtol=1e-2) is None
    assert difference("x", 1.0, 1.0 + 1e-12, rtol=0.0) is not None
