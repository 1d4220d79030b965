"""What NumPy's functions raise has NumPy's words and numbers."""

import numpy as np
import pytest

import dcpy

A, M = np.arange(4.0), np.arange(12.0).reshape(3, 4)
CASES = [
    (lambda a, i: np.put(a, i, 1.0), A, [7, -7, np.array([1, 5, 2]), np.array([0, -7]), np.array([1.0])]),
    (lambda a, i: np.put(a, i, 1.0), A[:0], [0]),
    (lambda a, i: np.delete(a, i), A, [7, -7, np.array([0, 7]), np.array([True, False])]),
    (lambda a, i: np.delete(a, i, axis=-1), M, [7, np.array([0, -7])]),
    (lambda a, i: np.insert(a, i, 5.0), A, [7, -7, np.array([7]), np.array([0, 7]), np.array([3, 0, -1, 9])]),
    (lambda a, i: np.insert(a, i, 5.0, axis=1), M, [7, np.array([7]), np.array([0, 7])]),
    (lambda a, i: np.add.reduceat(a, i), A, [2, np.array([[1]]), np.array([1, 5, 2]), np.array([0, -7])]),
    (lambda a, i: np.maximum.reduceat(a, i, axis=1), M, [np.array([0, 7]), np.array([1.0])]),
    (lambda a, i: np.pad(a, (1, i), mode="edge"), A[:0], [2]),
    (lambda a, i: np.cross(a, i), A, [A + 0, A[:3] + 0]),
    (lambda a, i: np.linalg.cross(a, i), M, [M + 0, M[:, :3] + 0]),
    (lambda a, i: np.polyadd(a, i), M, [A + 0, np.ones((2, 2))]),
    (lambda a, i: np.polymul(a, i), M, [A + 0]),
    (lambda a, i: np.repeat(a, i), A, [np.array([1, 2])]),
    (lambda a, i: np.unravel_index(i, (2, 3)), A, [7, np.array([1, 7]), np.array([0, -7])]),
]


def raised(run, *arguments):
    with pytest.raises((IndexError, TypeError, ValueError), match=r".") as caught:
        run(*(argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments))
    return caught.type.__mro__, getattr(caught.value, "message", None) or str(caught.value).strip()


@pytest.mark.parametrize(("function", "a", "indices"), CASES)
def test_as_numpy_says_it(function, a, indices):
    for i in indices:
        kinds, expected = raised(function, a, i)
        found, text = raised(lambda *given: dcpy.program(function).to_sdfg(*given).interpret(*given), a, i)
        assert kinds[0] in found
        assert text == expected.strip()


def test_matrices_of_one_length_are_added():
    def both(a, b):
        return np.polyadd(a, b), np.polysub(b, a)

    for given in ((M, M), (np.ones((3, 1)), M), (M, np.ones(3)[:, None])):
        found = dcpy.program(both).to_sdfg(*given).interpret(*given)
        np.testing.assert_array_equal(found, both(*given))


def test_negative_positions_wrap_after_what_comes_before():
    def inserted(a, i):
        return np.insert(a, i, np.arange(2.0))

    i = np.array([0, -7])  # the second is moved by the first
    found = dcpy.program(inserted).to_sdfg(A, i).interpret(A, i)
    np.testing.assert_array_equal(found, np.insert(A, i, np.arange(2.0)))
