"""Streams and processes, compiled: what Python and the interpreter make of them, whatever the timing."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from tests.support.network_failures import FAILURES, crossed
from tests.support.networks import NETWORKS, agree, name_of, outcome, systolic

pytestmark = pytest.mark.cc


@pytest.mark.parametrize(("function", "arguments"), [*NETWORKS, *FAILURES], ids=name_of)
@pytest.mark.parametrize("options", [{}, {"auto_optimize": True}], ids=["plain", "auto"])
def test_compiled_is_python(function, arguments, options):
    expected = outcome(function, arguments)
    program = dcpy.program(function, **options)
    for _ in range(5):  # timing differs
        agree(outcome(program, arguments), expected)


def test_a_deadlock_says_who_waits():
    x, y = np.arange(8.0), np.zeros(8)
    message = "deadlock: the process 'give' waits for room in 'p', which is full"
    with pytest.raises(RuntimeError, match=message):
        dcpy.program(crossed)(x, y)
    with pytest.raises(RuntimeError, match=message) as caught:
        dcpy.program(crossed).to_sdfg(x, y).interpret(x=x, y=y)
    assert caught.value.__notes__ == [
        "give waits for room in 'p', which is full: 2 of 2",
        "take waits for an element of 'q', which is empty: 0 of 2",
    ]


def test_more_processes_than_cores():
    @dcpy.program
    def chain(x: dcpy.float64[200], y: dcpy.float64[200]):
        s = dcpy.define_streamarray(41, dcpy.float64, 4)
        with dcpy.dataflow():

            @dcpy.process
            def give():
                for i in range(200):
                    s[0].push(x[i])

            @dcpy.process(range(40))
            def add(p):
                for _ in range(200):
                    s[p + 1].push(s[p].pop() + p)

            @dcpy.process
            def take():
                for i in range(200):
                    y[i] = s[40].pop()

    x, y = np.arange(200.0), np.zeros(200)
    chain(x, y)
    assert np.array_equal(y, x + sum(range(40)))


def test_maps_in_processes():
    """The loops of a process are vectorized; it starts no team of its own."""

    @dcpy.program
    def blocks(x: dcpy.float64[64, 1000], y: dcpy.float64[64]):
        rows = dcpy.define_stream(dcpy.int64, 2)
        with dcpy.dataflow():

            @dcpy.process
            def order():
                for i in range(64):
                    rows.push(63 - i)

            @dcpy.process
            def sums():
                for _ in range(64):
                    k = rows.pop()
                    y[k] = np.sum(np.sqrt(x[k]) * 2)

    x, y = np.random.default_rng(0).random((64, 1000)), np.zeros(64)
    blocks(x, y)
    assert np.allclose(y, 2 * np.sqrt(x).sum(axis=1))


def test_programs_run_again_after_a_deadlock():
    program = dcpy.program(crossed)
    for _ in range(20):
        with pytest.raises(RuntimeError, match="deadlock"):
            program(np.arange(8.0), np.zeros(8))
    A, x, y = np.arange(12.0).reshape(3, 4), np.arange(4.0), np.zeros(3)
    dcpy.program(systolic)(A, x, y)
    assert np.array_equal(y, A @ x)
