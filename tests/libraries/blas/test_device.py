"""Expansions for devices: maps without schedules, one accumulator for each result."""

import pytest

from dcpy import plugins
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import UNDECIDED
from dcpy.transforms.expand import expand_library_nodes
from tests.support.expect import assert_same_values, parse

NODES = {
    "blas.gemm": "blas.gemm (a <- A[0:N, 0:M], b <- B[0:M, 0:N]) -> (c -> C[0:N, 0:N])",
    "blas.gemm in place": "blas.gemm (a <- A[0:N, 0:M], b <- B[0:M, 0:N], c <- C[0:N, 0:N]) -> (c -> C[0:N, 0:N]) "
    "{alpha = 2.0, beta = 0.5}",
    "blas.gemm transposed": "blas.gemm (a <- A[0:N, 0:M], b <- A[0:N, 0:M]) -> (c -> C[0:N, 0:N]) {trans_b = true}",
    "blas.gemm that overlaps": "blas.gemm (a <- C[0:N, 0:N], b <- C[0:N, 0:N]) -> (c -> C[0:N, 0:N])",
    "blas.gemv": "blas.gemv (a <- A[0:N, 0:M], x <- B[0:M, 0]) -> (y -> C[0:N, 0])",
    "blas.dot": "blas.dot (x <- A[0, 0:M], y <- B[0:M, 0]) -> (result -> C[0, 0])",
    "blas.ger": "blas.ger (x <- A[0:N, 0], y <- B[0, 0:N]) -> (a -> C[0:N, 0:N])",
    "reduce": 'reduce (x <- A[0:N, 0:M]) -> (out -> C[0, 0]) {op = "add", axes = (0, 1)}',
    "reduce of rows": 'reduce (x <- A[0:N, 0:M]) -> (out -> C[0:N, 0]) {op = "max", axes = (1,)}',
    "reduce of columns": 'reduce (x <- A[0:N, 0:M]) -> (out -> B[0:M, 0]) {op = "mul", axes = (0,)}',
}


@pytest.mark.parametrize("name", NODES)
def test_it_means_the_same(name):
    plugins.load()
    before = parse(
        "sdfg @f(A: f64[N, M], B: f64[M, N], C: f64[N, N]) symbols(N: size {least = 1}, M: size {least = 1}) "
        f"{{ state {{ {NODES[name]} }} }}"
    )
    after = copy_sdfg(before)
    (choice,) = expand_library_nodes(after, target="gpu")
    assert choice.expansion == ("device" if name.startswith("reduce") else "maps")
    assert all(node.schedule == UNDECIDED for node in after.body.walk_nodes() if isinstance(node, Map))
    assert_same_values(before, after, {"N": [1, 3], "M": [1, 4]})


def test_cpus_have_other_ones():
    plugins.load()
    total = NODES["reduce"].replace("N", "8").replace("M", "8")
    sdfg = parse(f"sdfg @f(A: f64[8, 8], B: f64[8, 8], C: f64[8, 8]) {{ state {{ {total} }} }}")
    (choice,) = expand_library_nodes(sdfg, "device")
    assert choice.expansion != "device"
    assert "device: is for gpu" in choice.refused
