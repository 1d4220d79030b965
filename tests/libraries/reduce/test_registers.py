"""Few sums side by side stay in registers: what is written, and that it is NumPy's sum."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dcpy
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.expand import expand_library_nodes
from tests.libraries.oracles import assert_expands
from tests.support.oracles import assert_equal

MIDDLE = """sdfg @f(A: {src}[{n}, {a}, {b}, {p}], out: {dst}[{n}, {p}]) symbols({symbols}) {{ state {{
  reduce (x <- A[0:{n}, 0:{a}, 0:{b}, 0:{p}]) -> (out -> out[0:{n}, 0:{p}]) {{op = "{op}", axes = (1, 2)}} }} }}"""


def middle(src="f64", dst="f64", op="add", a="K", b="L", p="P", symbols="N: size, K: size, L: size, P: size", n="N"):
    return MIDDLE.format(src=src, dst=dst, op=op, a=a, b=b, p=p, symbols=symbols, n=n)


def test_a_tile_has_a_number_of_columns():
    sdfg = parse_sdfg(middle(n="1", p="8", symbols="K: size, L: size"))
    expand_library_nodes(sdfg)
    tile = """map i = 0:1, i_1 = 0:8:8 { data acc: f64[8] transient
      map j = i_1:i_1 + 8 @vector { tasklet () -> (out -> acc[j - i_1]) { out = 0.0 } }
      map k = 0:K, k_1 = 0:L @sequential { map j_1 = i_1:i_1 + 8 @vector {
        tasklet (a <- A[i, k, k_1, j_1]) -> (out -> acc[j_1 - i_1] (add)) { out = a } } }
      map j_2 = i_1:i_1 + 8 @vector { tasklet (a <- acc[j_2 - i_1]) -> (out -> out[i, j_2]) { out = a } } }"""
    assert " ".join(tile.split()) in " ".join(print_sdfg(sdfg).split())


def test_rows_share_a_tile():
    sdfg = parse_sdfg(middle(n="2*N", p="8", symbols="N: size, K: size, L: size"))
    expand_library_nodes(sdfg)
    text = " ".join(print_sdfg(sdfg).split())
    assert "map i = 0:2*N:4, i_1 = 0:8:8 {" in text
    assert "if i + 4 <= 2*N {" in text
    terms = "".join(
        f"tasklet (a <- A[{row}, k, k_1, j_4]) -> (out -> {acc}[j_4 - i_1] (add)) {{ out = a }} "
        for row, acc in (("i", "acc"), ("i + 1", "acc_1"), ("i + 2", "acc_2"), ("i + 3", "acc_3"))
    )
    assert f"map j_4 = i_1:i_1 + 8 @vector {{ {terms}}}" in text


def test_as_many_rows_as_registers_hold():
    sdfg = parse_sdfg(middle("f32", "f32", n="24", a="5", b="3", p="8", symbols=""))
    expand_library_nodes(sdfg)
    assert "map i = 0:24:8, i_1 = 0:8:8 {" in print_sdfg(sdfg)


def test_groups_in_short_floats_are_inner_dimensions():
    """At most 128 terms: rows of 3 in as many as fit, or all of 5 by 3."""
    sdfg = parse_sdfg(middle("f32", "f32", a="100", b="3", p="8", symbols="", n="8"))
    expand_library_nodes(sdfg)
    text = print_sdfg(sdfg)
    assert "map g = 0:100:42, g_1 = 0:3:128 @sequential" in text
    assert "map k = g:min(100, g + 42), k_1 = g_1:min(3, g_1 + 128) @sequential" in text


@pytest.mark.parametrize("op", ["add", "mul", "min", "max"])
@pytest.mark.parametrize("shape", [(2, 3, 2, 1), (4, 2, 3, 7), (5, 1, 2, 8), (9, 3, 1, 17), (1, 2, 2, 65)])
def test_every_width(op, shape):
    rng = np.random.default_rng(3)
    values = rng.integers(-3, 4, shape).astype(float)
    assert_expands(middle(op=op), {"A": values, "out": np.zeros((shape[0], shape[3]))})


def test_sums_of_nothing():
    assert_expands(middle(), {"A": np.zeros((2, 0, 3, 9)), "out": np.ones((2, 9))})


def convolution(images, weights):
    out = np.empty((images.shape[0], images.shape[1] - 2, weights.shape[3]), dtype=images.dtype)
    for i in range(out.shape[1]):
        out[:, i, :] = np.sum(images[:, i : i + 3, :, :, np.newaxis] * weights[np.newaxis], axis=(1, 2, 3))
    return out


@pytest.mark.cc
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int32])
def test_convolutions(dtype):
    program = dcpy.program(auto_optimize=True)(convolution)
    for number, columns in ((2, 3), (8, 8), (11, 20), (4, 17), (2, 70)):
        rng = np.random.default_rng(columns)
        images = (rng.random((number, 9, 60, 3)) * 9).astype(dtype)
        weights = (rng.random((3, 60, 3, columns)) * 9).astype(dtype)
        assert_equal(program(images, weights), convolution(images, weights), rtol=1e-5)
    assert program.specializations <= 2


def test_convolutions_keep_no_products():
    """What several rows multiply is computed where it is added."""
    program = dcpy.program(auto_optimize=True)(convolution)
    sdfg = program.to_sdfg(np.ones((8, 9, 60, 3)), np.ones((3, 60, 3, 8)))
    sdfg.auto_optimize()
    declared = re.findall(r"data (\w+):", str(sdfg.lower()))
    assert {name.partition("_")[0] for name in declared if name != "__return"} == {"acc"}
