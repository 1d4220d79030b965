"""OutlineRepeatedCalls: many calls of one function keep it a function; few, or of a short one, are inlined."""

import numpy as np
import pytest

import dcpy
from dcpy.ir.nodes import Call
from dcpy.transforms.simplify.calls.outline_repeated_calls import OutlineRepeatedCalls
from tests.support.passes import Passed


def shifted(a, b):
    c = np.sin(a) * b + np.cos(b)
    for _ in range(3):
        c = c * 0.5 + a
    return c


def many(a):
    b = a.copy()
    b = shifted(shifted(shifted(shifted(b, a), a), a), a)
    b = shifted(shifted(shifted(shifted(b, a), a), a), a)
    b = shifted(shifted(shifted(shifted(b, a), a), a), a)
    b = shifted(shifted(shifted(shifted(b, a), a), a), a)
    return shifted(shifted(shifted(shifted(b, a), a), a), a)


def few(a):
    return shifted(shifted(a, a), a)


def calls_of(sdfg):
    return [node for node in sdfg.body.walk_nodes() if isinstance(node, Call)]


OPTIONS = [{}, {"auto_optimize": True}, {"overrides": ("outline-repeated-calls=off",)}]
TEXT = """
    sdfg @f(x: f64[N]) symbols(N: size) {
      state {
        call @g (y = x[0:N]) with (N = N)
        call @g (y = x[0:N]) with (N = N)
      }
    }
    sdfg @g(y: f64[N]) symbols(N: size) {
      state { map i = 0:N { tasklet (a <- y[i]) -> (o -> y[i]) { o = a + 1.0 } } }
    }"""


@pytest.mark.parametrize(("calls", "nodes", "stays"), [(2, 4, True), (3, 4, False), (2, 5, False)])
def test_the_number_of_calls_and_the_length_decide(calls, nodes, stays):
    found = Passed(TEXT, OutlineRepeatedCalls(calls, nodes)).after
    assert [call.outlined for call in calls_of(found)] == [stays, stays]


@pytest.mark.parametrize("auto", [False, True])
def test_programs_keep_functions_that_are_called_often(auto):
    a = np.linspace(1, 2, 10)
    program = dcpy.program(many, auto_optimize=auto)
    assert len(program.to_sdfg(a).with_callees()) == 2
    assert program.to_sdfg(a).code().count("shifted(") < 30
    assert len(dcpy.program(few, auto_optimize=auto).to_sdfg(a).with_callees()) == 1


@pytest.mark.cc
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_values_are_those_of_python(options):
    a = np.linspace(1, 2, 10)
    np.testing.assert_allclose(dcpy.program(many, **options)(a), many(a), rtol=1e-13)
