"""Programs with streams and processes, and what the three oracles make of them: Python, the interpreter, compiled code.

Under plain Python a dataflow block runs as a Kahn network, so the function itself is the first oracle.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import dcpy
from dcpy.ir.interp import run as interpret
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify
from tests.support.oracles import assert_equal

I8 = np.arange(8)
F8 = np.arange(8.0)
#: functions with their arguments
NETWORKS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def network(*arguments: Any, table: Any = NETWORKS) -> Callable[[Any], Any]:
    """Above a function: it is in the table with these arguments."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        table.append((function, arguments))
        return function

    return add


def name_of(part: Any) -> str:
    """The name of a function of a table, for the name of a test."""
    return getattr(part, "__name__", "")


def outcome(run: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Exception | None, tuple[Any, ...]]:
    """The result or the exception, and the arguments afterwards."""
    mine = copy.deepcopy(arguments)
    try:
        return run(*mine), None, mine
    except (RuntimeError, IndexError, ValueError, ZeroDivisionError) as error:
        return None, error, mine


def agree(got: Any, expected: Any, rtol: float = 0.0) -> None:
    """The same result, arguments and kind of exception."""
    assert type(got[1]) is type(expected[1]), (got[1], expected[1])
    if expected[1] is None:
        assert_equal(got[0], expected[0], rtol)
    assert_equal(got[2], expected[2], rtol)


def interpreted(function: Callable[..., Any], *, simplify: bool, strict: bool = False) -> Callable[..., Any]:
    """The function through the frontend, its text, and the interpreter."""
    program = dcpy.program(function)

    def run(*arguments: Any) -> Any:
        sdfg = program.to_sdfg(*arguments, simplify=simplify)
        verify(sdfg)
        again = parse_sdfg(print_sdfg(sdfg))
        assert print_sdfg(again) == print_sdfg(sdfg)
        return interpret(sdfg, dict(zip(sdfg.arguments, arguments, strict=True)), strict=strict)

    return run


# -- programs --------------------------------------------------------------------------------------------------------


@network(2.0, F8, np.zeros(8))
def axpy(a, x, y):
    xs = dcpy.define_stream(dcpy.float64, 3)
    ys = dcpy.define_stream(dcpy.float64, 1)
    with dcpy.dataflow():

        @dcpy.process
        def read():
            for i in range(len(x)):
                xs.push(x[i])

        @dcpy.process
        def work():
            for _ in range(len(x)):
                ys.push(a * xs.pop())

        @dcpy.process
        def write():
            for i in range(len(x)):
                y[i] = ys.pop() + y[i]


@network(F8, np.zeros(8))
def backwards(x, y):
    """The order of the processes does not matter, nor a depth that is not given."""
    s = dcpy.define_stream(dcpy.float64)
    with dcpy.dataflow():

        @dcpy.process
        def write():
            for i in range(len(x)):
                y[i] = s.pop() - s.pop()

        @dcpy.process
        def read():
            for i in range(len(x)):
                s << x[i]
                s << 2 * x[i]


@network(I8, np.zeros(8, np.int64))
def fork_and_join(x, y):
    """A process may look at numbers, branch, and stop early."""
    odd = dcpy.define_stream(dcpy.int64, 8)
    even = dcpy.define_stream(dcpy.int64, 2)
    with dcpy.dataflow():

        @dcpy.process
        def split():
            for i in range(len(x)):
                if x[i] % 2 == 0:
                    even.push(x[i])
                else:
                    odd.push(x[i])
            even.push(-1)
            odd.push(-1)

        @dcpy.process
        def join():
            count = 0
            while True:
                first = even.pop()
                if first < 0:
                    break
                y[count] = 10 * first
                count += 1
            while True:
                first = odd.pop()
                if first < 0:
                    break
                y[count] = first
                count += 1


@network(5.0, np.zeros(6))
def feedback(start, y):
    """A cycle that holds one element."""
    there = dcpy.define_stream(dcpy.float64, 1)
    back = dcpy.define_stream(dcpy.float64, 1)
    there.push(start)
    with dcpy.dataflow():

        @dcpy.process
        def halve():
            for _ in range(len(y)):
                back.push(there.pop() / 2)

        @dcpy.process
        def note():
            for i in range(len(y)):
                value = back.pop()
                y[i] = value
                if i < len(y) - 1:
                    there.push(value + 1)


@network(np.arange(12.0).reshape(3, 4), np.arange(4.0), np.zeros(3))
def systolic(A, x, y):
    """A process for each row: x goes from one to the next."""
    xs = dcpy.define_streamarray(4, dcpy.float64, 2)
    with dcpy.dataflow():

        @dcpy.process
        def feed():
            for j in range(4):
                xs[0].push(x[j])

        @dcpy.process(range(3))
        def pe(p):
            total = 0.0
            for j in range(4):
                value = xs[p].pop()
                total += A[p, j] * value
                xs[p + 1].push(value)
            y[p] = total

        @dcpy.process
        def drain():
            for _ in range(4):
                xs[3].pop()


@network(np.arange(6.0).reshape(2, 3), np.zeros((2, 3)))
def grid(a, b):
    """Arrays of streams in two dimensions; negative indices count from the end."""
    s = dcpy.define_streamarray((2, 3), dcpy.float64, 1)
    with dcpy.dataflow():

        @dcpy.process(range(2), range(3))
        def give(i, j):
            s[i, j].push(a[i, j])

        @dcpy.process
        def take():
            for i in range(2):
                for j in range(3):
                    b[i, j] = s[i - 2, j].pop() * 2


@network(np.int64(10), np.zeros(4, np.int64))
def fibonacci(n, out):
    """A worklist: what is popped pushes more."""
    s = dcpy.define_stream(dcpy.int64)
    s.push(n)

    @dcpy.consume(s, 3)
    def work(value, worker):
        if value < 2:
            out[worker] += value
        else:
            s.push(value - 1)
            s.push(value - 2)


@network(F8, np.zeros(8))
def served(x, y):
    """An endless process answers as long as somebody asks."""
    ask = dcpy.define_stream(dcpy.float64, 1)
    answer = dcpy.define_stream(dcpy.float64, 1)
    with dcpy.dataflow():

        @dcpy.process(endless=True)
        def square():
            while True:
                value = ask.pop()
                answer.push(value * value)

        @dcpy.process
        def asks():
            for i in range(len(x)):
                ask.push(x[i])
                y[i] = answer.pop()


@network(I8, np.zeros(8, np.float32))
def alone(x, y):
    """Without processes a stream is a queue; what is pushed is converted as a store converts it."""
    s = dcpy.define_stream(dcpy.float32, 4)
    for i in range(2):
        t = dcpy.define_stream(dcpy.int8)
        t.push(x[i])
        for k in range(4):
            s.push(x[4 * i + k] / 3)
        for k in range(4):
            y[4 * i + k] = s.pop() + t.pop()
            t.push(k)


@network(F8, np.zeros(8))
def twice(x, y):
    """Two networks over one stream, which keeps what is left."""
    s = dcpy.define_stream(dcpy.float64)
    with dcpy.dataflow():

        @dcpy.process
        def fill():
            for i in range(len(x)):
                s.push(x[i])

        @dcpy.process
        def half():
            for i in range(4):
                y[i] = s.pop()

    with dcpy.dataflow():

        @dcpy.process
        def rest():
            for i in range(4):
                y[4 + i] = -s.pop()


@network(np.zeros(4, np.complex128), np.array([True, False, True, True]))
def other_dtypes(z, m):
    zs = dcpy.define_stream(dcpy.complex128, 2)
    ms = dcpy.define_stream(dcpy.bool_, 2)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            for i in range(len(m)):
                ms.push(m[i])
                zs.push(1j * i)

        @dcpy.process
        def take():
            for i in range(len(z)):
                if ms.pop():
                    z[i] = zs.pop()
                else:
                    z[i] = -zs.pop()


@network(np.arange(1000.0))
def long(x):
    """More than one piece of a queue's memory, and a result."""
    s = dcpy.define_stream(dcpy.float64)
    total = np.zeros(1)
    with dcpy.dataflow():

        @dcpy.process
        def give():
            for i in range(len(x)):
                s.push(x[i])

        @dcpy.process
        def take():
            for _ in range(len(x)):
                total[0] += s.pop()

    return total[0]


def clip(v):
    if v > 5:
        return 5.0
    return v


def inner(x, y):
    s = dcpy.define_stream(dcpy.float64, 2)
    with dcpy.dataflow():

        @dcpy.process
        def a():
            for i in range(4):
                s.push(x[i])

        @dcpy.process
        def b():
            for i in range(4):
                y[i] = s.pop() * 2


def send(s, v):
    s.push(v)
    s.push(-v)


@network(F8, np.zeros(8))
def helper_calls(x, y):
    s = dcpy.define_stream(dcpy.float64, 2)
    with dcpy.dataflow():

        @dcpy.process
        def a():
            for i in range(8):
                send(s, clip(x[i]))

        @dcpy.process
        def b():
            for i in range(8):
                y[i] = s.pop() * 3 + s.pop()


@network(F8, np.zeros(8), np.zeros(8))
def nested(x, y, z):
    done = dcpy.define_stream(dcpy.int64, 1)
    with dcpy.dataflow():

        @dcpy.process
        def a():
            inner(x, y)
            done.push(1)

        @dcpy.process
        def b():
            z[done.pop()] = 7


@network(F8, np.zeros(8))
def conditions(x, y):
    s = dcpy.define_stream(dcpy.float64, 3)
    with dcpy.dataflow():

        @dcpy.process
        def a():
            for i in range(8):
                s.push(7 - x[i])

        @dcpy.process
        def b():
            n = 0
            while s.pop() > 0:
                n += 1
            y[n] = n


@network(F8, np.zeros(8))
def tuples(x, y):
    ss = (dcpy.define_stream(dcpy.float64, 3), dcpy.define_stream(dcpy.float64, 3))
    with dcpy.dataflow():

        @dcpy.process
        def a():
            for i in range(8):
                if i % 2 == 0:
                    ss[0].push(x[i])
                else:
                    ss[1].push(x[i])

        @dcpy.process
        def b():
            for i in range(4):
                y[i] = ss[0].pop() - ss[1].pop()


@network(np.int64(3), F8, np.zeros(8))
def in_loop(t, x, y):
    for k in range(t):
        s = dcpy.define_stream(dcpy.float64, 3)
        with dcpy.dataflow():

            @dcpy.process
            def a():
                for i in range(8):
                    s.push(x[i] + k)

            @dcpy.process
            def b():
                for i in range(8):
                    y[i] += s.pop()


@network(F8, np.zeros(8))
def early(x, y):
    s = dcpy.define_stream(dcpy.float64, 3)
    with dcpy.dataflow():

        @dcpy.process
        def a():
            for i in range(8):
                if x[i] > 4:
                    s.push(-1)
                    return
                s.push(x[i])

        @dcpy.process
        def b():
            for i in range(8):
                v = s.pop()
                if v < 0:
                    break
                y[i] = v


@network(F8, np.zeros((4, 8)))
def views(x, y):
    s = dcpy.define_streamarray(4, dcpy.float64, 3)
    with dcpy.dataflow():

        @dcpy.process
        def a():
            for i in range(8):
                for p in range(4):
                    s[p].push(x[i])

        @dcpy.process(range(4))
        def b(p):
            row = y[p]
            local = np.zeros(8)
            for i in range(8):
                local[i] = s[p].pop()
            row[:] = local[::-1] * p


@network(np.float64(3), F8, np.zeros(8))
def branches(a, x, y):
    if a > 2:
        s = dcpy.define_stream(dcpy.float64, 3)
        with dcpy.dataflow():

            @dcpy.process
            def give():
                for i in range(8):
                    s.push(x[i])

            @dcpy.process
            def take():
                total = 0.0
                for i in range(8):
                    total = total + s.pop()
                y[0] = total
    else:
        y[1] = 1
