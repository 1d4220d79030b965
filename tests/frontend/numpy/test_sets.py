"""Vectors as sets."""

import numpy as np
import pytest

from tests.support.lowering import refusal, same

X = np.array([3, 1, 3, 2, 1, 9, 9, 0])
Y = np.array([[2, 9, 5], [5, 5, 2]])


@pytest.mark.parametrize("a", [X, X * 0.5, X > 2, X[:0], X[:1], Y, X.astype(np.float32)], ids=lambda a: str(a.dtype))
def test_unique(a):
    def f(a):
        return (
            np.unique(a), np.unique(a, return_counts=True), np.unique(a, return_index=True, return_inverse=True),
            np.unique(a, True, True, True)
        )  # fmt: skip

    same(f, a)


@pytest.mark.parametrize("a", [X, Y, X * 0.5], ids=lambda a: str(a.dtype))
def test_unique_by_name(a):
    def f(a):
        everything = np.unique_all(a)
        return (
            np.sort(np.unique_values(a)), np.unique_counts(a).counts, np.unique_inverse(a), everything.indices,
            everything.inverse_indices
        )  # fmt: skip

    same(f, a)


def test_nan_is_one_element_or_many():
    def f(a):
        return np.unique(a), np.unique(a, equal_nan=False), np.unique(a, return_counts=True)

    same(f, np.array([np.nan, 1.0, np.nan, -np.inf, 1.0, np.nan]))


@pytest.mark.parametrize("function", [np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d])
def test_two_sets(function):
    def f(a, b):
        return function(a, b)

    same(f, X, Y)
    same(f, X, X)
    same(f, X, Y[:0].ravel())
    same(f, X[:0], X[:0])


def test_sets_that_are_known_to_be_such():
    def f(a, b):
        return (
            np.intersect1d(a, b, assume_unique=True), np.setdiff1d(a, b, assume_unique=True),
            np.setxor1d(a, b, assume_unique=True)
        )  # fmt: skip

    same(f, np.array([3, 1, 7]), np.array([9, 7, 2]))


def test_refusals():
    assert "along an axis is not supported" in refusal(lambda a: np.unique(a, axis=0), Y)
    assert "does not return indices" in refusal(lambda a: np.intersect1d(a, a, return_indices=True), X)
