"""Users see their own frames of a traceback."""

import traceback

import numpy as np
import pytest

import dcpy
from dcpy.base.tracebacks import hide_own_frames


@dcpy.callback
def fails(x) -> None:
    raise LookupError("mine") from OSError("the cause")


def calls(a):
    fails(a)


def index(a, n):
    return a[n]


def huge(n):
    return np.zeros((n, n, n))


def unknown(a):
    return a + nothing  # noqa: F821


ACTIONS = {
    "compile": (lambda: dcpy.program(unknown)(np.zeros(3)), dcpy.DcpyError, []),
    "to_sdfg": (lambda: dcpy.program(unknown).to_sdfg(np.zeros(3)), dcpy.DcpyError, []),
    "interpret": (lambda: dcpy.program(index).to_sdfg(np.zeros(3), 3).interpret(np.zeros(3), 3), IndexError, []),
    "callback": (lambda: dcpy.program(calls).to_sdfg(1.0).interpret(1.0), LookupError, ["fails"]),
    "decorate": (lambda: dcpy.program(3), dcpy.DcpyError, []),
    "parse": (lambda: dcpy.parse("sdfg"), dcpy.DcpyError, []),
    "run": pytest.param(lambda: dcpy.program(index)(np.zeros(3), 3), IndexError, [], marks=pytest.mark.cc),
    "allocate": pytest.param(lambda: dcpy.program(huge)(10**5), MemoryError, [], marks=pytest.mark.cc),
}


@pytest.mark.parametrize(("action", "kind", "inner"), ACTIONS.values(), ids=ACTIONS)
def test_dcpys_frames_are_left_out(action, kind, inner, monkeypatch):
    monkeypatch.delenv("DCPY_FULL_TRACEBACKS")
    with pytest.raises(kind) as caught:
        action()
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names == ["test_dcpys_frames_are_left_out", "<lambda>", *inner]


def test_the_cause_stays(monkeypatch):
    monkeypatch.delenv("DCPY_FULL_TRACEBACKS")
    with pytest.raises(LookupError) as caught:
        dcpy.program(calls).to_sdfg(1.0).interpret(1.0)
    assert str(caught.value.__cause__) == "the cause"


def test_all_frames_on_demand(monkeypatch):
    monkeypatch.setenv("DCPY_FULL_TRACEBACKS", "1")
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(unknown).to_sdfg(np.zeros(3))
    assert len(traceback.extract_tb(caught.value.__traceback__)) > 5


def test_what_nobody_meant_keeps_its_frames(monkeypatch):
    monkeypatch.delenv("DCPY_FULL_TRACEBACKS")
    with pytest.raises(AttributeError) as caught:
        dcpy.SDFG.of(None)
    before = traceback.extract_tb(caught.value.__traceback__)
    hide_own_frames(caught.value)
    assert traceback.extract_tb(caught.value.__traceback__) == before
