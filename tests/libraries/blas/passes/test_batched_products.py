"""Products of stacks of matrices become one node, and that one call: shape, value, refusal."""

import numpy as np
import pytest

from dcpy import plugins
from dcpy.ir.interp import interpret
from dcpy.ir.text import print_sdfg
from dcpy.libraries.blas.passes.batched_products import BatchProducts
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.expand import expand_library_nodes
from tests.support.expect import assert_same_values, expect, parse

PRODUCT = "blas.gemm (a <- A[i, 0:M, 0:K], b <- B[i, 0:K, 0:L]) -> (c -> C[i, 0:M, 0:L])"
STACK = f"map i = 0:N {{ {PRODUCT} }}"
BATCH = "blas.batched_gemm (a <- A[0:N, 0:M, 0:K], b <- B[0:N, 0:K, 0:L]) -> (c -> C[0:N, 0:M, 0:L])"
SHARED = "map i = 0:N { blas.gemm (a <- A[i, 0:M, 0:K], b <- D[0:K, 0:L], alpha <- s) -> (c -> C[i, 0:M, 0:L]) }"
UPDATE = (
    "map i = 0:N { blas.gemm (a <- B[i, 0:K, 0:L], b <- A[i, 0:M, 0:K], c <- E[i, 0:L, 0:M]) -> (c -> E[i, 0:L, 0:M]) "
    "{beta = 2.0, trans_a = true, trans_b = true} }"
)
GRID = "map i = 0:N, j = 0:P { blas.gemm (a <- F[i, j, 0:M, 0:K], b <- D[0:K, 0:L]) -> (c -> G[i, j, 0:M, 0:L]) }"
SIZES = {"N": [1, 3], "M": [2], "K": [1, 4], "L": [3], "P": [2]}


def program(node):
    plugins.load()
    return parse(
        "sdfg @f(A: f64[N, M, K], B: f64[N, K, L], C: f64[N, M, L], D: f64[K, L], E: f64[N, L, M], F: f64[N, P, M, K], "
        "G: f64[N, P, M, L], H: f64[M, N, K], s: f64) "
        f"symbols(N: size, M: size, K: size, L: size, P: size) {{ state {{ {node} }} }}"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (STACK, BATCH),
        (SHARED, BATCH.replace("B[0:N, ", "D[").replace("])", "], alpha <- s)", 1)),
        (
            UPDATE,
            "blas.batched_gemm (a <- B[0:N, 0:K, 0:L], b <- A[0:N, 0:M, 0:K], c <- E[0:N, 0:L, 0:M]) "
            "-> (c -> E[0:N, 0:L, 0:M]) {beta = 2.0, trans_a = true, trans_b = true}",
        ),
    ],
    ids=["two stacks", "a factor for all", "sums of transposed products"],
)
def test_a_stack_of_products_is_one_node(before, after):
    expect(BatchProducts(), on=program(before)).becomes(print_sdfg(program(after))).same_values(**SIZES)


def test_stacks_of_stacks_are_stacks():
    """Two dimensions of a packed array are one, seen through a view; matrices that lie between others are a stack."""
    for node in (GRID, STACK.replace("A[i, 0:M, 0:K]", "H[0:M, i, 0:K]")):
        before, after = program(node), program(node)
        assert apply_repeated(after, BatchProducts(), check=True) == 1
        assert "blas.batched_gemm" in print_sdfg(after)
        assert_same_values(before, after, SIZES)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (STACK.replace("{ blas", "{ copy D[0, 0] -> s blas"), "the map does more than one product of matrices"),
        (STACK.replace("0:N {", "0:N @sequential {"), "the map has a schedule, or containers of its own"),
        (PRODUCT.replace("[i, ", "[0, "), "it is inside of no map"),
        (f"map j = 0:1 {{ {STACK} }}", "the map is inside of another one, whose threads cannot call a library"),
        (STACK.replace("]) ->", "], alpha <- D[i, 0]) ->"), "D[i, 0] is another one in each iteration"),
        (STACK.replace("A[i, 0:M", "A[i*i, 0:M"), "do not follow each other at one distance"),
        (GRID.replace("F[i, j, 0:M, 0:K]", "A[i, 0:M, 0:K]"), "do not follow each other at one distance"),
    ],
)
def test_refusals(node, reason):
    expect(BatchProducts(), on=program(node)).is_refused(reason)


def test_the_call_has_distances():
    """By rows: operands are exchanged, and each comes with how far its matrices are apart."""
    sdfg = program(BATCH.replace("B[0:N, ", "D["))
    (choice,) = expand_library_nodes(sdfg, ["cublas"], target="gpu")
    assert choice.expansion == "cublas"
    text = print_sdfg(sdfg)
    factors = "1.0, 0.0, &b, max(1, L), index(0), &a, max(1, K), K*M, 0.0, 0.0, &c, max(1, L), L*M, N"
    assert f"dcpy_gemm_batched(100, 0, 0, L, M, K, {factors})" in text


@pytest.mark.parametrize("node", [BATCH, BATCH.replace("B[0:N, ", "D[")])
def test_without_a_library_there_are_products(node):
    before, after = program(node), program(node)
    choices = expand_library_nodes(after, target="gpu")
    assert [choice.expansion for choice in choices] == ["maps", "maps"]
    assert_same_values(before, after, SIZES)


def test_the_node_is_numpys_product_of_stacks():
    rng = np.random.default_rng(3)
    sizes = {"N": 2, "M": 3, "K": 4, "L": 5, "P": 1}
    shapes = {"A": "NMK", "B": "NKL", "C": "NML", "D": "KL", "E": "NLM", "F": "NPMK", "G": "NPML", "H": "MNK"}
    arrays = {name: rng.random([sizes[one] for one in shape]) for name, shape in shapes.items()}
    interpret(program(BATCH), {**arrays, "s": 1.0}, sizes)
    np.testing.assert_allclose(arrays["C"], arrays["A"] @ arrays["B"])
