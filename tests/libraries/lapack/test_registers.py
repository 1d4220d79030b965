"""Small linear systems in registers: NumPy's values, its errors, and where the expansion declines."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.expand import expand_library_nodes

SOLVE = """sdfg @f(A: {dtype}[{n}, {n}], B: {dtype}[{n}, {k}], X: {dtype}[{n}, {k}], info: i32[]) symbols(N: size) {{
  state {{ lapack.solve (a <- A[0:{n}, 0:{n}], b <- B[0:{n}, 0:{k}]) -> (x -> X[0:{n}, 0:{k}], info -> info[]) }} }}"""


def solutions(a, b):
    return np.linalg.solve(a, b), np.linalg.inv(a)


@pytest.mark.cc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5])
def test_as_numpy(rows, dtype):
    program = dcpy.program(solutions)
    rng = np.random.default_rng(rows)
    tolerance = 1e-9 if dtype == "float64" else 5e-3
    for shape, right in (((rows, rows), (rows,)), ((rows, rows), (rows, 2)), ((6, rows, rows), (6, rows, 3))):
        a, b = rng.standard_normal(shape).astype(dtype), rng.standard_normal(right).astype(dtype)
        for got, expected in zip(program(a, b), solutions(a, b), strict=True):
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.cc
def test_the_largest_element_is_the_pivot():
    program = dcpy.program(lambda a: np.linalg.inv(a))
    turned = np.array([[0, 0, 2.0], [4, 0, 0], [0, 8, 0]])
    np.testing.assert_array_equal(program(turned), np.linalg.inv(turned))
    near = np.array([[1e-20, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(program(near), np.linalg.inv(near), rtol=1e-15)


@pytest.mark.cc
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_singular_matrices(rows):
    program = dcpy.program(lambda a: np.linalg.inv(a))
    stack = np.stack([np.eye(rows), np.zeros((rows, rows))])
    with pytest.raises(np.linalg.LinAlgError):
        program(stack[1])
    with pytest.raises(np.linalg.LinAlgError):
        program(stack)


@pytest.mark.parametrize(
    ("n", "k", "dtype", "registers"),
    [(3, 1, "f64", True), (4, 4, "f32", True), (5, 1, "f64", False), (3, 5, "f64", False), ("N", 1, "f64", False)],
)
def test_where_sizes_are_few_and_known(n, k, dtype, registers):
    sdfg = parse_sdfg(SOLVE.format(n=n, k=k, dtype=dtype))
    expand_library_nodes(sdfg, target="cpu")
    assert ("t0 = " in print_sdfg(sdfg)) == registers
