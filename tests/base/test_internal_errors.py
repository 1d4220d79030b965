"""Exceptions that nobody meant to raise: the place in the user's program that they get, and what is no fault."""

import ast
import operator
import traceback

import numpy as np
import pytest

import dcpy
from dcpy.base.internal_errors import faults_reported
from dcpy.frontend.lower import expressions
from dcpy.transforms.simplify import pipeline


def scaled(x):
    y = x + 1
    return np.cumsum(y) ** 2


def fault_of():
    with pytest.raises(dcpy.CompilerFault) as caught:
        dcpy.program(scaled)(np.ones(3))
    return caught.value


def test_a_fault_of_the_frontend_is_at_an_expression(monkeypatch):
    monkeypatch.setitem(expressions._HANDLERS, ast.BinOp, operator.not_)  # which takes one argument
    fault = fault_of()
    assert "this is a fault of dcpy, please report it: TypeError" in str(fault)
    assert "test_internal_errors.py:17" in str(fault)
    assert "y = x + 1" in str(fault)
    assert "raised in dcpy.frontend.lower.expressions, line " in str(fault)
    assert isinstance(fault.__cause__, TypeError)
    assert any("expressions.py" in frame.filename for frame in traceback.extract_tb(fault.__cause__.__traceback__))


def test_a_fault_of_a_call_in_numpy_written_in_python_is_at_the_call(monkeypatch):
    monkeypatch.setitem(expressions._HANDLERS, ast.Call, operator.not_)
    assert "return np.cumsum(y) ** 2" in str(fault_of())


def test_a_fault_of_a_pass_is_at_the_function_at_least(monkeypatch):
    monkeypatch.setattr(pipeline, "SIMPLIFY", None)
    assert "test_internal_errors.py:1" in str(fault_of())


def test_what_the_user_or_the_machine_raises_is_no_fault():
    def own():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        faults_reported(own)()
    with pytest.raises(FileNotFoundError):
        faults_reported(open)("there is no such file")


def test_dictionary_comprehensions_of_run_time_length():
    def squares(n):
        d = {i: i * i for i in range(n)}
        return len(d)

    def pick(x, k):
        d = {i: i * x for i in range(3) if i != k}
        return len(d)

    def pick_known(x):
        d = {i: i * x for i in range(30) if i != 2}
        return d[29] + len(d)

    for function, arguments in ((squares, (4,)), (pick, (4.0, 2))):
        assert dcpy.program(function).to_sdfg(*arguments).interpret(*arguments) == function(*arguments)
    assert dcpy.program(pick_known).to_sdfg(2.0).interpret(2.0) == 58.0 + 29
