"""A library outside of dcpy: its node is parsed, run, expanded both ways, and called from a NumPy program."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import InvalidSdfg
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.text import parse_sdfg
from dcpy.ir.verify import verify
from dcpy.transforms.expand import expand_library_nodes
from examples import user_library
from tests.libraries.oracles import assert_expands

user_library.register()


@dcpy.program
def heat(u, w):
    for _ in range(5):
        u = user_library.diffuse(u, w)
    return u


TEXT = """sdfg @f(u: {t}[2*N], w: {t}, out: {t}[N]) symbols(N: size) {{ state {{
            user.diffuse (u <- u[{u}], w <- w) -> (out -> out[0:N]) }} }}"""


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("u", ["0:N", "0:2*N:2"])
def test_loops_compute_what_the_node_means(dtype, n, u):
    numpy = {"f64": np.float64, "f32": np.float32}[dtype]
    arguments = {"u": np.arange(2 * n, dtype=numpy) ** 2, "w": numpy(0.25), "out": np.zeros(n, numpy)}
    assert_expands(TEXT.format(t=dtype, u=u), arguments)


def expanded_to(dtype, u):
    sdfg = parse_sdfg(TEXT.format(t=dtype, u=u))
    return sdfg, expand_library_nodes(sdfg, "c")[0]


def test_the_c_function_is_called_where_it_fits():
    sdfg, choice = expanded_to("f64", "0:N")
    (call,) = sdfg.body.walk_nodes()
    assert (choice.expansion, type(call), call.function) == ("c", ForeignCall, "user_diffuse")


@pytest.mark.parametrize(("dtype", "u"), [("f32", "0:N"), ("f64", "0:2*N:2")])
def test_loops_are_taken_where_it_does_not(dtype, u):
    assert str(expanded_to(dtype, u)[1]) == "user.diffuse -> maps; not c: takes packed float64 only"


def test_a_wrong_node_is_found_by_verification():
    wrong = """sdfg @f(u: f64[N, N], w: f64) symbols(N: size) { state {
                 user.diffuse (u <- u[0:N, 0:N], w <- w) -> (out -> u[0:N, 0:N]) } }"""
    with pytest.raises(InvalidSdfg, match="takes a vector"):
        verify(parse_sdfg(wrong))


def test_a_numpy_program_becomes_the_node():
    sdfg = heat.to_sdfg(np.zeros(8), 0.25)
    assert [node.kind for node in sdfg.body.walk_nodes()].count("user.diffuse") == 1


@pytest.mark.cc
def test_a_numpy_program_calls_it():
    u = np.random.default_rng(2).random(50)
    np.testing.assert_allclose(heat(u, 0.25), heat.function(u, 0.25), rtol=1e-12)
