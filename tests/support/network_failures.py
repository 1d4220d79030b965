"""Networks in which a process raises, or all wait: what is raised, and what is in memory then, all oracles agree on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dcpy
from tests.support.networks import F8, network

#: functions with their arguments
FAILURES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


@network(F8, np.zeros(8), table=FAILURES)
def crossed(x, y):
    """Each waits for what the other does next."""
    p = dcpy.define_stream(dcpy.float64, 2)
    q = dcpy.define_stream(dcpy.float64, 2)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            for i in range(len(x)):
                p.push(x[i])
            q.push(x[0])

        @dcpy.process
        def take():
            y[0] = q.pop()
            for i in range(len(x)):
                y[i] = p.pop()


@network(F8, np.zeros(8), table=FAILURES)
def too_few(x, y):
    """One ends too early: what has come stays."""
    s = dcpy.define_stream(dcpy.float64, 2)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            for i in range(len(x) - 3):
                s.push(x[i])

        @dcpy.process
        def take():
            for i in range(len(x)):
                y[i] = s.pop()


@network(F8, np.array([1, 2, 30, 4]), np.zeros(8), table=FAILURES)
def second_fails(x, k, y):
    """An exception in a process; the others go on as far as they can, and wait then."""
    s = dcpy.define_stream(dcpy.float64, 1)
    with dcpy.dataflow():

        @dcpy.process
        def take():
            for i in range(len(k)):
                y[i] = s.pop()

        @dcpy.process
        def give():
            for i in range(len(k)):
                s.push(x[k[i]])


@network(F8, np.array([1, 2, 30, 4]), np.zeros(8), table=FAILURES)
def both_fail(x, k, y):
    """The first process in the program's order counts, whoever fails first."""
    s = dcpy.define_stream(dcpy.float64, 1)
    with dcpy.dataflow():

        @dcpy.process
        def late():
            for i in range(2):
                y[i] = s.pop()
            if y[0] > 0:
                raise ValueError("too late")

        @dcpy.process
        def early():
            s.push(x[k[0]])
            s.push(x[k[1]])
            s.push(x[k[2]])


@network(np.zeros(3), table=FAILURES)
def empty(y):
    s = dcpy.define_stream(dcpy.float64, 2)
    y[0] = 1
    y[1] = s.pop()


@network(np.zeros(3), table=FAILURES)
def full(y):
    s = dcpy.define_stream(dcpy.float64, 2)
    for i in range(3):
        s.push(y[i])
        y[i] = 7


@network(np.int64(-2), table=FAILURES)
def negative_depth(n):
    s = dcpy.define_stream(dcpy.float64, n)
    s.push(1)


@network(np.int64(5), np.zeros(3), table=FAILURES)
def no_such_stream(k, y):
    s = dcpy.define_streamarray(3, dcpy.float64, 2)
    s[k].push(1)
    y[0] = s[k].pop()
