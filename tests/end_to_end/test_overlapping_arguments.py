"""Legality of transformed loops: two arguments that are one array, overlap by an element, run backwards, or interleave.

Loops get versions, are inspected, become maps, reductions and searches; maps are computed where they are read. Whatever
is done, values, exceptions, and the arrays after an exception are NumPy's.
"""

import numpy as np
import pytest

import dcpy
from dcpy.ir.interp import run
from dcpy.ir.verify import verify

START = np.array([3.0, -1, 4, 1, -5, 9, 2, 6])
VIEWS = {
    "one": lambda a: (a, a),
    "behind": lambda a: (a[1:], a[:-1]),
    "ahead": lambda a: (a[:-1], a[1:]),
    "backwards": lambda a: (a, a[::-1]),
    "interleaved": lambda a: (a[::2], a[1::2]),
    "half": lambda a: (a[:4], a[2:6]),
    "apart": lambda a: (a, a * 2),
}


def shifted(x, y):
    for i in range(1, x.shape[0]):
        x[i] = y[i - 1] + 1


def shifted_back(x, y):
    for i in range(x.shape[0] - 1):
        x[i] = y[i + 1] * 2


def computed_where_read(x, y):
    t = x * 2 + y
    y[:] = t - x
    return np.sum(t), np.max(x + y)


def scattered(x, y, index):
    for i in range(index.shape[0]):
        x[index[i]] = y[i] + 1


def gathered(x, y, index):
    for i in range(index.shape[0]):
        x[i] = y[index[i]] * 2


def running_maximum(x, y):
    most = x[0]
    for i in range(x.shape[0]):
        y[i] = most
        if x[i] > most:
            most = x[i]
    return most


def place_of_maximum(x, y):
    most, place = x[0], 0
    for i in range(x.shape[0]):
        if x[i] > most:
            most, place = x[i], i
    y[place] = most + 1
    return most, place


def at_a_distance(x, y, k):
    for i in range(x.shape[0]):
        x[i] = y[i + k]


def slices(x, y, k):
    for _ in range(3):
        x[k:-1] = x[k:-1] + y[k + 1 :] * 2


def one_pass(x, y):
    a = x + 1
    b = a * y
    x[:] = b[::-1]
    return (a - b).sum()


def until_an_end(x, y, n):
    for i in range(n):
        x[i] = x[i] / y[i]
        y[i] = 1


def recurrence(x, y, d):
    for i in range(d, x.shape[0]):
        x[i] = x[i - d] + y[i]


def prefix(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
        x[i] = total
    return total


INDICES = [(np.array(index),) for index in ([0, 1, 2], [2, 0, 0], [3, 1, 1], [1, 99])]
PROGRAMS = {
    shifted: [()], shifted_back: [()], computed_where_read: [()], scattered: INDICES, gathered: INDICES,
    running_maximum: [()], place_of_maximum: [()], at_a_distance: [(0,), (1,), (2,), (-1,)],
    slices: [(0,), (1,), (2,)], one_pass: [()], until_an_end: [(2,), (4,), (20,)],
    recurrence: [(0,), (1,), (2,), (5,)], prefix: [()],
}  # fmt: skip


def outcome(function, x, y, *more):
    """What a call gives or raises, and leaves in its arrays."""
    try:
        result = function(x, y, *more)
    except (IndexError, ValueError) as error:
        kind = ValueError if isinstance(error, ValueError) else IndexError
        return kind, x.tolist(), y.tolist()
    return np.asarray(0.0 if result is None else result, float).tolist(), x.tolist(), y.tolist()


def check(function, views, called):
    for more in PROGRAMS[function]:
        expected = outcome(function, *VIEWS[views](START.copy()), *more)
        found = outcome(called, *VIEWS[views](START.copy()), *more)
        for mine, theirs in zip(found, expected, strict=True):
            assert mine is theirs or mine == pytest.approx(theirs), (views, more)


def interpreted(function):
    """The function simplified and optimized, in the interpreter; iterations of maps in any order."""

    def call(*values):
        sdfg = dcpy.program(function).to_sdfg(*values).auto_optimize()
        verify(sdfg)
        names = function.__code__.co_varnames[: len(values)]
        return run(sdfg, {n: v for n, v in zip(names, values, strict=True) if n in sdfg.arguments}, strict=True)

    return call


@pytest.mark.parametrize("views", VIEWS)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_optimized_loops_over_arguments_that_overlap(function, views):
    check(function, views, interpreted(function))


@pytest.mark.cc
@pytest.mark.parametrize(
    "function", [computed_where_read, scattered, at_a_distance, until_an_end, running_maximum],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_compiled_loops_over_arguments_that_overlap(function):
    called = dcpy.program(function, auto_optimize=True)
    for views in VIEWS:
        check(function, views, called)
