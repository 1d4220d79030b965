"""Streams and processes in programs: as Python runs them, so does the interpreter; what is refused, with the reason."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError, ProgramError
from dcpy.ir.text import print_sdfg
from tests.support.network_failures import FAILURES
from tests.support.networks import NETWORKS, agree, axpy, interpreted, name_of, outcome

X = np.arange(4.0)


@pytest.mark.parametrize(("function", "arguments"), [*NETWORKS, *FAILURES], ids=name_of)
def test_the_interpreter_is_python(function, arguments):
    expected = outcome(function, arguments)
    for simplify in (False, True):
        agree(outcome(interpreted(function, simplify=simplify), arguments), expected)
    agree(outcome(interpreted(function, simplify=True, strict=True), arguments), expected)


def test_every_failure_fails_and_every_network_does_not():
    assert all(outcome(function, arguments)[1] is None for function, arguments in NETWORKS)
    assert all(outcome(function, arguments)[1] is not None for function, arguments in FAILURES)


def test_text():
    sdfg = dcpy.program(axpy).to_sdfg(2.0, X, X.copy())
    text = print_sdfg(sdfg)
    assert "stream xs: f64 capacity 3 transient" in text
    assert [line.strip() for line in text.splitlines() if "process" in line or "dataflow" in line] == [
        "dataflow {", "process read {", "process work {", "process write {",
    ]  # fmt: skip
    assert "copy xs -> xs_item_1" in text


def test_a_worklist_is_an_endless_process():
    def drain(y):
        s = dcpy.define_stream(dcpy.float64)
        s.push(3.0)

        @dcpy.consume(s)
        def work(value, worker):
            y[0] += value

    text = print_sdfg(dcpy.program(drain).to_sdfg(X))
    assert "process work endless {" in text
    assert "while true {" in text


def test_streams_of_python_say_what_they_are():
    stream = dcpy.define_stream(dcpy.int8, 2)
    stream << 5
    value = stream.pop()
    assert value == 5
    assert value.dtype == np.int8
    assert repr(stream) == "a stream of int8"
    with pytest.raises(TypeError, match="cannot be asked whether it is empty"):
        bool(stream)
    with pytest.raises(RuntimeError, match="deadlock: the program waits for an element of a stream of int8"):
        stream.pop()
    with pytest.raises(TypeError, match="give an index for each"):
        dcpy.define_streamarray((2, 3))[0]
    with pytest.raises(ProgramError, match="'f' is in no dataflow block"):
        dcpy.process(f)


def f():
    """Never runs."""


# -- refusals --------------------------------------------------------------------------------------------------------


def two_writers(x):
    with dcpy.dataflow():

        @dcpy.process
        def a():
            x[0] = 1

        @dcpy.process
        def b():
            x[0] = 2


def reader_and_writer(x):
    with dcpy.dataflow():

        @dcpy.process
        def a():
            x[0] = 1

        @dcpy.process
        def b():
            x[1] = x[0]


def two_ends(x):
    s = dcpy.define_stream(dcpy.float64)
    with dcpy.dataflow():

        @dcpy.process
        def a():
            s.push(x[0])

        @dcpy.process
        def b():
            s.push(x[1])


def copies_meet(x):
    s = dcpy.define_streamarray(4, dcpy.float64)
    with dcpy.dataflow():

        @dcpy.process(range(3))
        def pe(p):
            s[p // 2].push(x[p])


def statement(x):
    with dcpy.dataflow():
        y = x + 1
    return y


def outside(x):
    @dcpy.process
    def a():
        x[0] = 1


def parameters(x):
    with dcpy.dataflow():

        @dcpy.process
        def a(i):
            x[i] = 1


def no_range(x):
    with dcpy.dataflow():

        @dcpy.process(x)
        def a(i):
            x[i] = 1


def assigns_outside(x):
    n = 0
    with dcpy.dataflow():

        @dcpy.process
        def a():
            nonlocal n
            n = 1

    return n


def grows_a_list(x):
    found = []
    with dcpy.dataflow():

        @dcpy.process
        def a():
            found.append(x[0])

    return found[0]


def in_a_map(x):
    s = dcpy.define_stream(dcpy.float64)
    for i in dcpy.map[0:4]:
        s.push(x[i])


def network_in_a_map(x):
    for i in dcpy.map[0:4]:
        with dcpy.dataflow():

            @dcpy.process
            def a():
                x[i] = 1


def looks(x):
    s = dcpy.define_stream(dcpy.float64)
    if s.empty():
        x[0] = 1


def whole_array(x):
    s = dcpy.define_streamarray(3, dcpy.float64)
    s.push(x[0])


def pushes_an_array(x):
    s = dcpy.define_stream(dcpy.float64)
    s.push(x)


def too_many_indices(x):
    s = dcpy.define_streamarray(3, dcpy.float64)
    s[0, 1].push(x[0])


def returns_from_a_worklist(x):
    s = dcpy.define_stream(dcpy.float64)

    @dcpy.consume(s, 2)
    def work(value, worker):
        if value > 1:
            return
        x[0] = value


def other_option(x):
    with dcpy.dataflow():

        @dcpy.process(speed=3)
        def a():
            x[0] = 1


REFUSALS = [
    (two_writers, "the process 'a' writes 'x', and the process 'b' writes it, too"),
    (reader_and_writer, "the process 'a' writes 'x', and the process 'b' "),
    (two_ends, "the process 'a' pushes to 's', and the process 'b' pushes to it, too"),
    (copies_meet, "the process 'pe' pushes to 's', and another copy of it pushes to it, too"),
    (statement, "a dataflow block holds processes only"),
    (outside, "the process 'a' is in no dataflow block"),
    (parameters, "the process 'a' has 1 parameters for 0 ranges"),
    (no_range, "a process has a copy for each point of a range, not of an array"),
    (assigns_outside, "the process 'a' assigns names that are not its own: n"),
    (grows_a_list, "the process 'a' changes a list or an object that is not its own"),
    (in_a_map, "a stream in a parallel map"),
    (network_in_a_map, "a dataflow block in a parallel map"),
    (looks, "a stream has no .empty() that takes this"),
    (whole_array, "this is an array of streams"),
    (pushes_an_array, "is pushed to a stream"),
    (too_many_indices, "2 indices for an array of streams with 1 dimensions"),
    (returns_from_a_worklist, "return in a consume scope"),
    (other_option, "a process takes no speed= like this"),
]


@pytest.mark.parametrize(("function", "message"), REFUSALS, ids=name_of)
def test_refused(function, message):
    with pytest.raises(FrontendError) as caught:
        dcpy.program(function).to_sdfg(X.copy())
    assert message in str(caught.value)
    assert caught.value.span is not None
    assert caught.value.help
