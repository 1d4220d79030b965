"""A warning where messages change their shape while a program runs, and none where they do not."""

from __future__ import annotations

import warnings

import pytest

import dcpy
from dcpy import comm
from dcpy.base.errors import PerformanceWarning
from dcpy.programs.ranks.compilation import expand_messages

N = dcpy.symbol("N")


def growing(A, x):
    for k in range(1, 12):  # a shorter loop would be written out: messages of one shape each
        comm.Send(A[:k, 0], 1)


def halved(A, x):
    n = N
    while n > 1:
        n = n // 2
        comm.Recv(x[:n], 0)


def steady(A, x):
    n = N // 2
    for k in range(1, 4):
        comm.Sendrecv(A[k, :n], 1, x[:n], 0, 3)
    for k in range(1, 4):
        x[:k] = 0.0
    comm.Bcast(x[:n], 0)


def expanded(function):
    function.__annotations__ = {"A": dcpy.float64[N, N], "x": dcpy.float64[N]}
    sdfg = dcpy.program(function).to_sdfg()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        expand_messages(sdfg, alone=False)
    return [str(each.message) for each in found if each.category is PerformanceWarning], found


@pytest.mark.parametrize(
    ("function", "said"), [(growing, "comm.send moves A[0:min(N, k), 0]"), (halved, "comm.recv moves x[0:")]
)
def test_it_names_the_message_and_its_line(function, said):
    (message,), (warning,) = expanded(function)
    assert message.startswith(said)
    assert "whose shape changes while the program runs" in message
    assert warning.filename == __file__
    assert warning.lineno > function.__code__.co_firstlineno


def test_it_is_silent_where_shapes_stay():
    assert expanded(steady)[0] == []


def test_one_rank_alone_makes_no_datatypes():
    growing.__annotations__ = {"A": dcpy.float64[N, N], "x": dcpy.float64[N]}
    sdfg = dcpy.program(growing).to_sdfg()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expand_messages(sdfg, alone=True)
