"""Arrays in lists of run-time length: a name keeps the array that it was given when the list gets another one."""

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from tests.support.oracles import check_same


def by_branches(y, n):
    hist = [y.copy()]
    t = 0.0
    while t < n:
        if t > 2:
            y = y + 1.5
            y = y * 1.0
        else:
            y = y * 2.0
        t += 1
        hist.append(y)
    return np.array(hist)


def by_one_branch(y, n):
    hist = []
    for t in range(n):
        if t > 2:
            y = y + 1.5
        hist.append(y)
    return np.array(hist)


def kept_or_new(y, n):
    hist = [y]
    for t in range(n):
        new = y + 1.5
        if new.sum() > 5:
            y = new
        hist.append(y)
    return np.array(hist), y


def replaced_in_a_growing_list(y, n):
    hist = [y]
    for t in range(n):
        y = y + 1.5
        hist.append(y)
    a = hist[n // 2]
    hist[n // 2] = y * 100
    hist.append(y)
    return a, np.array(hist)


def replaced_in_a_comprehension(y, n):
    hist = [y + k for k in range(n)]
    a = hist[2]
    b = hist[n - 1]
    hist[2] = y * 7
    hist.pop()
    hist.insert(0, y)
    return a, b, np.array(hist)


def last_ones(y, n):
    hist = []
    for t in range(n):
        if t % 2:
            y = y + 1
            y = y * 1.0
        else:
            y = y * 2
        hist.append(y)
        if len(hist) > 3:
            hist.pop(0)
    last = hist[-1]
    hist[-1] = y * 0
    return last, y, np.array(hist)


def doubled_in_place(y, n):
    hist = [y]
    for t in range(n):
        if t > 2:
            y = y + 1.5
            y = y * 1.0
        else:
            y = y * 2.0
        hist.append(y)
        hist[t] = hist[t] * 2
    return np.array(hist), y


def best_of_a_population(pop, n):
    best = pop[0]
    P = [pop[k] * 1.0 for k in range(len(pop))]
    best = P[0]
    for t in range(n):
        if P[t % len(P)].sum() < best.sum():
            best = P[t % len(P)]
        P[t % len(P)] = P[t % len(P)] * 0.5 + t
    return best, np.array(P)


def reversed_list(pop, n):
    P = [row.copy() for row in pop]
    a = P[1]
    P.reverse()
    b = P[1]
    P.pop()
    P.append(a * 9)
    return a, b, np.array(P)


def written_beside(pop, n):
    P = [row.copy() for row in pop]
    a = P[1]
    P[0] = a * 2
    a[0] = 77.0
    return a, np.array(P)


def exchanged(pop, n):
    P = [row.copy() for row in pop]
    P[0], P[n - 1] = P[n - 1], P[0]
    return np.array(P)


def sorted_by_hand(pop, n):
    P = list(pop)
    for i in range(n - 1):
        for j in range(n - 1 - i):
            if P[j][0] > P[j + 1][0]:
                P[j], P[j + 1] = P[j + 1], P[j]
    return np.array(P)


def shuffled(pop, n):
    P = [row * 2 for row in pop]
    rng = np.random.default_rng(3)
    for i in range(n - 1, 0, -1):
        j = rng.integers(0, i + 1)
        P[i], P[j] = P[j], P[i]
    return P


def by_path(x, labels, k):
    centers = x[:k].copy()
    for _ in range(3):
        found = [x[labels == j].mean(axis=0) if np.any(labels == j) else centers[j] for j in range(k)]
        centers = np.array(found)
    return centers


def written_afterwards(y, n):
    hist = [y]
    for t in range(n):
        y = y + 1.5 if t > 2 else y * 2.0
        hist.append(y)
    y[0] = 5
    return np.array(hist), y


ROWS = np.random.default_rng(1).random((5, 3))


@pytest.mark.parametrize("program", [by_branches, by_one_branch, kept_or_new, replaced_in_a_growing_list,
                                     replaced_in_a_comprehension, last_ones, doubled_in_place])  # fmt: skip
def test_a_history_of_arrays(program):
    check_same(program, np.array([1.0, 2.0, 3.0]), 6, paths_meet=program is last_ones)


@pytest.mark.parametrize("program", [best_of_a_population, reversed_list, written_beside, exchanged, sorted_by_hand,
                                     shuffled])  # fmt: skip
def test_rows_of_a_list(program):
    check_same(program, ROWS, 5)


@pytest.mark.parametrize("k", [2, 4])
def test_an_item_is_another_array_on_each_path(k):
    check_same(by_path, ROWS, np.array([0, 1, 1, 0, 3]), k)


def test_a_write_that_the_list_would_not_see_is_refused():
    with pytest.raises(FrontendError, match="in a list, which has a copy of it") as caught:
        dcpy.program(written_afterwards)(np.ones(3), 6)
    assert "x.append(a.copy())" in str(caught.value)
