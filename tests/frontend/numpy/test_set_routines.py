"""Vectors as sets."""

import numpy as np
import pytest

from tests.support.lowering import same

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


@pytest.mark.parametrize("axis", [0, 1])
def test_unique_rows(axis):
    def f(a):
        return np.unique(a, axis=axis), np.unique(a > 2, True, True, True, axis=axis)

    same(f, Y)
    same(f, np.array([[1, 0, 1], [2, 3, 2], [1, 0, 1]]))
    same(f, np.array([[[1.5, 2], [0, 1]], [[0, 1], [1.5, 2]], [[0, 1], [1.5, 2]]]))


def test_intersection_with_places():
    def f(a, b):
        return np.intersect1d(a, b, return_indices=True), np.intersect1d([1, 3, 2], [2, 5, 1], True, True)

    same(f, X, Y)


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


@pytest.mark.parametrize("function", [np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d])
def test_a_number_is_a_set(function):
    def f(a):
        return function(a, 2), function(True, a), function(a, 2.5)

    same(f, np.array([1, 2, 3], np.float32))
    same(f, np.array([1, 2, 3], np.uint8))


def test_sets_that_are_known_to_be_such():
    def f(a, b):
        return (
            np.intersect1d(a, b, assume_unique=True), np.setdiff1d(a, b, assume_unique=True),
            np.setxor1d(a, b, assume_unique=True)
        )  # fmt: skip

    same(f, np.array([3, 1, 7]), np.array([9, 7, 2]))
