"""Functions that stop behind a statement: their texts, and what they return in Python."""

import ast

import numpy as np
import pytest
from numpy import empty

from dcpy.frontend.introspection.function_source import read_source
from dcpy.programs.checking.cut_functions import ENTERED, Cut, WayStep, loops_on, own_names, statement_at


def summed(x, *, scale=2):
    s = 0
    if scale > 5:
        return s
    for k in range(3):
        y = x[k]
        if y > 1:
            for j in range(k):
                s += y * j
                continue
        s += y
    return s * scale


SOURCE = read_source(summed)
IN_LOOP = (WayStep(2, "body"),)
INNER = (*IN_LOOP, WayStep(1, "body"), WayStep(0, "body"), WayStep(0))


def text(cut, names):
    return ast.unparse(cut.function(names).written_as)


def test_behind_a_statement_of_the_function():
    assert text(Cut(SOURCE, (WayStep(1),)), ("x", "s")) == """\
def summed(x, *, scale=2):
    s = 0
    if scale > 5:
        raise RuntimeError('returned')
    return (x, s)"""


def test_the_last_return_is_a_variable():
    assert text(Cut(SOURCE, (WayStep(3),)), ("dcpy_result",)).endswith("""\
    dcpy_result = s * scale
    return (dcpy_result,)""")


def test_behind_a_statement_of_an_iteration():
    assert text(Cut(SOURCE, (*IN_LOOP, WayStep(0))), ("y",)).endswith("""\
    dcpy_count_0 = 0
    for k in range(3):
        dcpy_count_0 += 1
        if dcpy_count_0 > dcpy_stop_0:
            break
        y = x[k]
        if dcpy_count_0 == dcpy_stop_0:
            break
        if y > 1:
            for j in range(k):
                s += y * j
                continue
        s += y
    return (y,)""")


def test_behind_whole_iterations_of_a_loop_in_a_loop():
    made = text(Cut(SOURCE, INNER, whole=True), ("s",))
    assert made.startswith("def summed(x, *, scale=2, dcpy_stop_0, dcpy_stop_1):")
    assert made.endswith("""\
        y = x[k]
        if y > 1:
            dcpy_count_1 = 0
            for j in range(k):
                dcpy_count_1 += 1
                if dcpy_count_0 == dcpy_stop_0 and dcpy_count_1 > dcpy_stop_1:
                    break
                s += y * j
                continue
            if dcpy_count_0 == dcpy_stop_0:
                break
        s += y
    return (s,)""")


@pytest.mark.parametrize(("way", "stops", "expected"), [
    ((WayStep(0),), {}, {"s": 0}),
    ((*IN_LOOP, WayStep(0)), {"dcpy_stop_0": 2}, {"s": 1, "k": 1, "y": 2}),
    (INNER, {"dcpy_stop_0": 3, "dcpy_stop_1": 2}, {"s": 6, "k": 2, "j": 1, "y": 3}),
    ((WayStep(3),), {}, {"s": 9, "k": 2, "j": 1, "y": 3, "dcpy_result": 18}),
])  # fmt: skip
def test_what_variables_are(way, stops, expected):
    found = own_names(Cut(SOURCE, way).function(None)(x=[1, 2, 3], scale=2, **stops))
    assert found == {"x": [1, 2, 3], "scale": 2, **expected}


def test_whether_a_branch_is_entered():
    way = (*IN_LOOP, WayStep(1, "body"), WayStep(0))
    for stop, entered in ((1, None), (2, (2,)), (3, (3,))):
        found = Cut(SOURCE, way).function(None)(x=[1, 2, 3], dcpy_stop_0=stop)
        assert (found.get(ENTERED) == (stop,)) is (entered == (stop,))


def test_ways():
    assert ast.unparse(statement_at(SOURCE.node, INNER)) == "s += y * j"
    assert [loop.target.id for loop in loops_on(SOURCE.node, INNER)] == ["k", "j"]
    cut = Cut(SOURCE, INNER)
    assert (cut.counts, cut.stops) == (("dcpy_count_0", "dcpy_count_1"), ("dcpy_stop_0", "dcpy_stop_1"))
    assert cut.function(("s",)).written_as.lineno == SOURCE.node.lineno  # places are the user's


def allocating(n):
    a = np.empty(n)
    b = np.empty_like(a, dtype=np.int32)
    c = np.ndarray((n, 2), dtype=np.float32)
    d = empty(n)
    e = np.ndarray(n, buffer=a)
    a[:] = 1
    return a, b, c, d, e


def test_arrays_without_contents_are_zeros():
    cut = Cut(read_source(allocating), (WayStep(4),))
    assert text(cut, ("a",)) == """\
def allocating(n):
    a = dcpy_zeros(n)
    b = dcpy_zeros_like(a, dtype=np.int32)
    c = dcpy_zeros_of_class((n, 2), dtype=np.float32)
    d = dcpy_zeros(n)
    e = np.ndarray(n, buffer=a)
    return (a,)"""
    found = own_names(cut.function(None)(n=3))
    for name, dtype, shape in (("a", "f8", (3,)), ("b", "i4", (3,)), ("c", "f4", (3, 2)), ("d", "f8", (3,))):
        assert (found[name].dtype, found[name].shape, found[name].any()) == (np.dtype(dtype), shape, False)
    assert np.shares_memory(found["e"], found["a"])
