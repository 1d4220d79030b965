"""Functions of Python's that no program compiles: each is called by its usual name, and its advice runs."""

import datetime
import io
import os
import sys
import time

import numpy as np
import pytest

import dcpy
from dcpy.frontend.python.unsupported_functions import known_as, refusal_of_python
from tests.support.lowering import refusal


def asks(x):
    return x * float(input())


def opens(x):
    file = open("numbers.txt")  # noqa: SIM115
    return x * len(file.read())


def evaluates(x):
    return eval("x + 1")


def waits(x):
    time.sleep(1)
    return x


def reads_the_clock(x):
    return time.time() + x


def finds(x):
    return x if os.path.exists("numbers.txt") else -x


def ends(x):
    sys.exit(1)


def leaves(x):
    exit()


def dates(x):
    datetime.datetime.now()
    return x


@pytest.mark.parametrize(
    ("function", "name", "reason", "advice"),
    [
        (asks, "input", "it waits for the keyboard", "`program(float(input()))`"),
        (opens, "open", "it reads or writes files", "call it outside of the program, and pass the result"),
        (evaluates, "eval", "it runs or looks at Python code", "write the expression itself"),
        (waits, "time.sleep", "it only waits", "dcpy.callback(time.sleep, returns=None)"),
        (reads_the_clock, "time.time", "it reads a clock", "dcpy.callback(time.perf_counter, returns=float)"),
        (finds, "os.path.exists", "it asks the operating system", "call it outside of the program"),
        (ends, "sys.exit", "it ends Python", "raise an exception"),
        (leaves, "exit", "it ends Python", "raise an exception"),
        (dates, "datetime.now", "compiled programs have no dates", "pass seconds or days as numbers"),
    ],
)
def test_refusals(function, name, reason, advice):
    said = refusal(function, 2.0)
    assert f"{name}() is not supported" in said
    assert reason in said
    assert advice in said
    assert "did you mean" not in said
    assert "returns=..." not in said


@pytest.mark.cc
def test_the_advice_runs(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("3\n"))
    monkeypatch.setattr("builtins.input", lambda: "3")

    @dcpy.program
    def program(x):
        return 2.0 * x

    assert program(float(input())) == 6.0
    clock, wait = dcpy.callback(time.perf_counter, returns=float), dcpy.callback(time.sleep, returns=None)

    @dcpy.program
    def timed(x):
        start = clock()
        wait(0.01)
        return x.sum(), clock() - start

    total, seconds = timed(np.ones(3))
    assert total == 3.0
    assert seconds >= 0.01


def reachable(graph):
    queue, seen = [0], np.zeros(len(graph), bool)
    seen[0], found = True, 0
    while len(queue) > 0:
        u = queue.pop(0)
        found += 1
        for v in range(len(graph)):
            if graph[u, v] > 0 and not seen[v]:
                seen[v] = True
                queue.append(v)
    return found


def distances(weights, start):
    found = np.full(len(weights), np.inf)
    found[start] = 0.0
    keys = found.copy()
    for _ in range(len(weights)):
        u = keys.argmin()
        keys[u] = np.inf
        for v in range(len(weights)):
            if weights[u, v] > 0 and found[u] + weights[u, v] < found[v]:
                found[v] = keys[v] = found[u] + weights[u, v]
    return found


@pytest.mark.cc
def test_lists_and_arrays_stand_for_queues_heaps_and_counters():
    weights = np.array([[0, 1.0, 4, 0], [1, 0, 2, 0], [4, 2, 0, 0], [0, 0, 0, 0]])
    assert dcpy.program(reachable)(weights) == reachable(weights) == 3
    np.testing.assert_array_equal(dcpy.program(distances)(weights, 0), [0.0, 1.0, 3.0, np.inf])
    counted = dcpy.program(lambda x: np.unique(x, return_counts=True)[1])(np.array([1, 2, 1]))
    np.testing.assert_array_equal(counted, [2, 1])


def test_others_have_no_reason_of_their_own():
    assert refusal_of_python(max) is None
    assert refusal_of_python(np.sum) is None
    assert refusal_of_python([]) is None
    assert known_as("numpy.sum") == "numpy.sum"
    assert known_as("posix.getcwd") == "os.getcwd"
